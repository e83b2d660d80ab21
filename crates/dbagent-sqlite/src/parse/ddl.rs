//! Reads the definitions that SQLite keeps of its objects.
//!
//! The engine describes columns and keys by pragmas; what it does not tell stands only in the text:
//! comments, checks, what a generated column is computed from, the module of a virtual table, the query of
//! a view. A definition that cannot be read gives less, never a guess.

use std::collections::HashMap;

use dbagent_core::Effects;
use dbagent_core::guard::{FunctionUse, Parsed, Span, StatementClass};
use sqlite3_parser::ast::{
    Cmd, ColFlags, ColumnConstraint, ColumnDefinition, CreateTableBody, Expr, Literal, Operator, Stmt,
    TabFlags, TableConstraint,
};
use sqlite3_parser::dialect::TokenType;

use super::command::with_command;
use super::lex::{Tokens, unquote};
use super::marked::{Marks, Spelling};
use super::scope::Env;
use super::walk::Walk;

/// How large a stored definition may be: it is no statement of a model, but a file may be hostile.
const MAX_TOKENS: usize = 100_000;

/// What a definition says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Definition {
    /// A table.
    Table(TableDefinition),
    /// A view, by what its query does.
    View(Box<Parsed>),
    /// A virtual table.
    Virtual {
        /// The module, as written.
        module: String,
        /// The arguments, as written.
        arguments: Vec<String>,
    },
    /// An index.
    Index {
        /// Each column or expression, as written.
        columns: Vec<String>,
        /// The condition of a partial index, as written.
        condition: Option<String>,
    },
}

/// What the definition of a table says beyond its columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TableDefinition {
    pub(crate) without_rowid: bool,
    pub(crate) strict: bool,
    pub(crate) autoincrement: bool,
    pub(crate) comment: Option<String>,
    pub(crate) columns: Vec<ColumnText>,
    /// The functions that generated columns call whenever they are read.
    pub(crate) functions: Vec<FunctionUse>,
}

/// What the definition says of one column.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ColumnText {
    pub(crate) name: String,
    pub(crate) comment: Option<String>,
    /// What a generated column is computed from, as written.
    pub(crate) generated: Option<String>,
    /// The columns that it is computed from.
    pub(crate) computed_from: Vec<String>,
    /// The values that a check lists.
    pub(crate) allowed_values: Vec<String>,
}

/// Reads a definition; `None` for what is none.
pub(crate) fn definition(text: &str) -> Option<Definition> {
    // A file may be made to break a parser; whoever asks for another table must not feel it.
    let read = || {
        let tokens = Tokens::read(text, MAX_TOKENS).ok()?;
        with_command(&tokens, Spelling::Numbered, read).ok()?
    };
    std::panic::catch_unwind(read).ok()?
}

fn read(command: &Cmd<'_>, marks: &Marks<'_>) -> Option<Definition> {
    let Cmd::Stmt(statement) = command else { return None };
    let tokens = marks.tokens();
    match statement {
        Stmt::CreateTable {
            body: CreateTableBody::ColumnsAndConstraints { columns, constraints, flags },
            ..
        } => {
            let places = Places::of(tokens)?;
            let mut table = TableDefinition {
                without_rowid: flags.contains(TabFlags::WithoutRowid),
                strict: flags.contains(TabFlags::Strict),
                autoincrement: false,
                comment: None,
                columns: Vec::with_capacity(columns.len()),
                functions: Vec::new(),
            };
            for definition in columns {
                let text = column(definition, marks, &mut table.functions);
                table.columns.push(text);
            }
            for (text, place) in table.columns.iter_mut().zip(&places.parts) {
                text.generated = text.generated.take().and_then(|_| generated(tokens, *place));
            }
            comments(&mut table, tokens, &places);
            table.autoincrement = columns
                .iter()
                .flat_map(|c| c.constraints)
                .any(|c| matches!(c.constraint, ColumnConstraint::PrimaryKey { auto_increment: true, .. }));
            for constraint in constraints.iter().copied().flatten() {
                if let TableConstraint::Check(expr, _) = &constraint.constraint {
                    allow(&mut table.columns, expr, marks);
                }
            }
            let checks = columns.iter().flat_map(|c| c.constraints);
            for constraint in checks {
                if let ColumnConstraint::Check(expr) = &constraint.constraint {
                    allow(&mut table.columns, expr, marks);
                }
            }
            Some(Definition::Table(table))
        }
        Stmt::CreateView { select, .. } => {
            let mut walk = Walk::new(marks, Parsed::new(StatementClass::Read, Effects::READ));
            walk.select(select, Env::default());
            Some(Definition::View(Box::new(walk.finish())))
        }
        Stmt::CreateVirtualTable { module_name, args, .. } => Some(Definition::Virtual {
            module: marks.word(module_name.0).text,
            arguments: arguments(tokens, args.is_some()),
        }),
        Stmt::CreateIndex { where_clause, .. } => {
            let places = Places::of(tokens)?;
            let columns = places.parts.iter().map(|p| tokens.slice(*p).to_owned()).collect();
            let condition = where_clause.as_ref().and_then(|_| {
                let after = tokens.list().iter().position(|t| t.span.start >= places.close)?;
                let word = tokens.list().iter().skip(after).find(|t| t.kind == TokenType::TK_WHERE)?;
                let end = tokens.list().last()?.span.end;
                Some(tokens.slice(Span::new(word.span.end, end)).trim().trim_end_matches(';').to_owned())
            });
            Some(Definition::Index { columns, condition })
        }
        _ => None,
    }
}

fn column(
    definition: &ColumnDefinition<'_>,
    marks: &Marks<'_>,
    functions: &mut Vec<FunctionUse>,
) -> ColumnText {
    let mut text = ColumnText { name: marks.word(definition.col_name.0).text, ..ColumnText::default() };
    if definition.flags.intersects(ColFlags::GENERATED) {
        // The place is filled in by whoever knows where the column stands.
        text.generated = Some(String::new());
        for constraint in definition.constraints {
            if let ColumnConstraint::Generated { expr, .. } = &constraint.constraint {
                let mut walk = Walk::new(marks, Parsed::new(StatementClass::Read, Effects::READ));
                walk.expr(expr, Env::default());
                let parsed = walk.finish();
                text.computed_from.extend(parsed.columns.into_iter().filter_map(|c| c.column));
                // Their places are those of the definition, which no request has in sight.
                functions.extend(parsed.functions.into_iter().map(|f| FunctionUse { span: None, ..f }));
            }
        }
    }
    text
}

/// Where the parenthesised list of a definition is, and its parts.
struct Places {
    /// Byte behind the opening parenthesis.
    open: usize,
    /// First byte of the closing one.
    close: usize,
    /// The parts between commas, without the white space around them.
    parts: Vec<Span>,
}

impl Places {
    /// The first list of parentheses that is not nested.
    fn of(tokens: &Tokens<'_>) -> Option<Self> {
        let mut depth = 0_usize;
        let mut open = None;
        let mut part: Option<Span> = None;
        let mut parts = Vec::new();
        for token in tokens.list() {
            match token.kind {
                TokenType::TK_LP => {
                    depth += 1;
                    if depth == 1 {
                        open = Some(token.span.end);
                        continue;
                    }
                }
                TokenType::TK_RP => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        parts.extend(part);
                        return Some(Self { open: open?, close: token.span.start, parts });
                    }
                }
                TokenType::TK_COMMA if depth == 1 => {
                    parts.extend(part.take());
                    continue;
                }
                _ => {}
            }
            if depth > 0 {
                part = Some(match part {
                    None => token.span,
                    Some(before) => Span::new(before.start, token.span.end),
                });
            }
        }
        None
    }
}

/// The expression of a generated column: what stands in parentheses behind `AS`.
fn generated(tokens: &Tokens<'_>, place: Span) -> Option<String> {
    let inside = |t: &&super::lex::Token| t.span.start >= place.start && t.span.end <= place.end;
    let list: Vec<_> = tokens.list().iter().filter(inside).collect();
    let word = list.windows(2).position(
        |pair| matches!(pair, [a, b] if a.kind == TokenType::TK_AS && b.kind == TokenType::TK_LP),
    )?;
    let open = list.get(word + 1)?.span.end;
    let mut depth = 0_usize;
    for token in list.iter().skip(word + 1) {
        match token.kind {
            TokenType::TK_LP => depth += 1,
            TokenType::TK_RP => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(tokens.slice(Span::new(open, token.span.start)).trim().to_owned());
                }
            }
            _ => {}
        }
    }
    None
}

/// The arguments of a virtual table, as written.
fn arguments(tokens: &Tokens<'_>, any: bool) -> Vec<String> {
    match Places::of(tokens) {
        Some(places) if any => places.parts.iter().map(|p| tokens.slice(*p).to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Gives each comment to the column on whose line it ends, else to the column that follows; a comment on
/// the line of the opening parenthesis is about the table.
fn comments(table: &mut TableDefinition, tokens: &Tokens<'_>, places: &Places) {
    let mut texts: HashMap<usize, Vec<&str>> = HashMap::new();
    let mut about_table = Vec::new();
    for comment in tokens.comments() {
        let text = strip(tokens.slice(comment.span));
        if text.is_empty() || comment.span.start >= places.close {
            continue;
        }
        let same_line = |from: usize| !tokens.slice(Span::new(from, comment.span.start)).contains('\n');
        let before = places.parts.iter().rposition(|p| p.start < comment.span.start);
        let after = places.parts.iter().position(|p| p.start >= comment.span.end);
        if comment.span.start < places.open {
            about_table.push(text);
            continue;
        }
        let owner = match before {
            None if same_line(places.open) => {
                about_table.push(text);
                continue;
            }
            Some(part)
                if places.parts.get(part).is_some_and(|p| p.end > comment.span.start || same_line(p.end)) =>
            {
                Some(part)
            }
            before => after.or(before),
        };
        if let Some(owner) = owner {
            texts.entry(owner).or_default().push(text);
        }
    }
    table.comment = joined(&about_table);
    for (index, column) in table.columns.iter_mut().enumerate() {
        column.comment = texts.get(&index).and_then(|t| joined(t));
    }
}

fn joined(parts: &[&str]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn strip(comment: &str) -> &str {
    let inner = match comment.strip_prefix("--") {
        Some(line) => line.trim_start_matches('-'),
        None => comment.trim_start_matches("/*").trim_end_matches("*/").trim_matches('*'),
    };
    inner.trim()
}

/// Finds `column IN ('a', 'b')` in a check and notes the values.
fn allow(columns: &mut [ColumnText], check: &Expr<'_>, marks: &Marks<'_>) {
    let mut open = vec![check];
    while let Some(expr) = open.pop() {
        if let Expr::Parenthesized(items) = expr {
            open.extend(items.iter());
        } else if let Expr::Binary(left, Operator::And, right) = expr {
            open.extend([*left, *right]);
        } else if let Expr::InList { lhs, not: false, rhs: Some(values) } = expr
            && let Expr::Id(id) = lhs
        {
            let name = marks.word(id.0).text;
            let listed: Option<Vec<String>> = values.iter().map(literal).collect();
            if let Some(column) = columns.iter_mut().find(|c| c.name.eq_ignore_ascii_case(&name)) {
                column.allowed_values.extend(listed.unwrap_or_default());
            }
        }
    }
}

fn literal(expr: &Expr<'_>) -> Option<String> {
    if let Expr::Literal(Literal::String(raw)) = expr {
        return Some(unquote(raw));
    }
    if let Expr::Literal(Literal::Numeric(text)) = expr {
        return Some((*text).to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> TableDefinition {
        match definition(text) {
            Some(Definition::Table(table)) => table,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn comments_go_to_their_columns() {
        let t = table(
            "CREATE TABLE people ( -- everyone we know\n  id INTEGER PRIMARY KEY, -- the number\n\
               -- as in the passport\n  name TEXT, /* never\n null */ email TEXT -- lower case\n)",
        );
        assert_eq!(t.comment.as_deref(), Some("everyone we know"));
        let texts: Vec<_> = t.columns.iter().map(|c| c.comment.as_deref()).collect();
        assert_eq!(texts, [Some("the number"), Some("as in the passport never\n null"), Some("lower case")]);
    }

    #[test]
    fn checks_list_values() {
        let t = table(
            "CREATE TABLE o (status TEXT CHECK (status IN ('new','paid')), n INT, size TEXT, \
             CHECK (n > 0 AND size IN ('S', 'it''s')), CHECK (n NOT IN (1)))",
        );
        assert_eq!(t.columns[0].allowed_values, ["new", "paid"]);
        assert!(t.columns[1].allowed_values.is_empty());
        assert_eq!(t.columns[2].allowed_values, ["S", "it's"]);
    }

    #[test]
    fn generated_columns_say_from_what() {
        let t = table(
            "CREATE TABLE g (a INT, b INT, c INT GENERATED ALWAYS AS (a + (b * 2)) STORED, \
             d TEXT AS (lower(\"x y\")), \"x y\" TEXT) STRICT, WITHOUT ROWID",
        );
        assert_eq!(t.columns[2].generated.as_deref(), Some("a + (b * 2)"));
        assert_eq!(t.columns[2].computed_from, ["a", "b"]);
        assert_eq!(t.columns[3].computed_from, ["x y"]);
        assert_eq!(t.columns[0].generated, None);
        assert_eq!(t.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["lower"]);
        assert!(t.strict && t.without_rowid);
    }

    #[test]
    fn virtual_tables_and_indexes_keep_their_words() {
        assert_eq!(
            definition("CREATE VIRTUAL TABLE d USING fts5(title, body, content='docs')"),
            Some(Definition::Virtual {
                module: "fts5".into(),
                arguments: vec!["title".into(), "body".into(), "content='docs'".into()],
            })
        );
        assert_eq!(
            definition("CREATE UNIQUE INDEX i ON t (lower(a), b DESC) WHERE b > 0 AND c IN (1, 2)"),
            Some(Definition::Index {
                columns: vec!["lower(a)".into(), "b DESC".into()],
                condition: Some("b > 0 AND c IN (1, 2)".into()),
            })
        );
    }

    #[test]
    fn deep_definitions_fit_an_ordinary_stack() {
        let around = |open: &str, middle: &str, close: &str, times: usize| {
            format!("CREATE VIEW v AS SELECT {}{middle}{}", open.repeat(times), close.repeat(times))
        };
        let texts = [
            around("(", "1", ")", 299),
            around("(SELECT ", "1", ")", 90),
            around("(SELECT ", "1", ")", 290),
            around("1 IN (SELECT 1 UNION SELECT ", "1", ")", 290),
            around("* FROM (SELECT ", "* FROM t", ")", 290),
            format!("CREATE VIEW v AS SELECT * FROM {}t{}", "(".repeat(299), " JOIN u)".repeat(299)),
            format!("CREATE VIEW v AS SELECT 1{}", " + 1".repeat(40_000)),
            format!("CREATE VIEW v AS SELECT {}1", "NOT ".repeat(40_000)),
            format!("CREATE VIEW v AS SELECT {}1 (", "(".repeat(200)),
        ];
        let reader = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
            for text in &texts {
                definition(text);
            }
        });
        reader.unwrap().join().unwrap();
    }

    #[test]
    fn what_is_no_definition_is_none() {
        for text in ["", "SELECT 1", "CREATE TABLE", "garbage (", "CREATE TABLE t AS SELECT 1"] {
            assert_eq!(definition(text), None, "{text}");
        }
    }
}
