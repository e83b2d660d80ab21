//! The walk over the engine's tree. What it does not know is a finding, never nothing.

use dbagent_core::guard::{ColumnUse, Finding, FunctionUse, ObjectUse, Parsed, Rule, Span, StatementClass};
use dbagent_core::{Effects, ObjectName};
use serde_json::Value;

use super::Names;
use super::command::Rewritten;
use super::engine::Node;
use super::scope::Scopes;

/// What is filled while walking one statement.
pub(super) struct Walk<'a> {
    pub(super) parsed: Parsed,
    pub(super) scopes: Scopes,
    pub(super) names: &'a Names,
    rewritten: Option<&'a Rewritten>,
}

/// Keys that every node of a query may have.
const QUERY: &[&str] = &["type", "modifiers", "cte_map"];

/// The member of that name, when it is an object.
pub(super) fn member<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).and_then(Value::as_object)
}

/// The members of a list; nothing when it is absent.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Value] {
    node.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The text of a member; empty when it is absent.
pub(super) fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl<'a> Walk<'a> {
    pub(super) fn new(class: StatementClass, names: &'a Names, rewritten: Option<&'a Rewritten>) -> Self {
        Self { parsed: Parsed::new(class, Effects::READ), scopes: Scopes::default(), names, rewritten }
    }

    /// The statement as the engine serialized it.
    pub(super) fn statement(&mut self, statement: &Node) {
        self.known(statement, &["node", "named_param_map"], "a statement");
        match self.part(statement, "node") {
            Some(node) => self.query(node),
            None => self.unknown("a statement without a query", None),
        }
    }

    /// The member of that name. One of a shape that the walk does not expect is objected to: it would be
    /// passed over.
    pub(super) fn part<'n>(&mut self, node: &'n Node, key: &str) -> Option<&'n Node> {
        let member = node.get(key)?;
        if !member.is_object() {
            self.shape(node, key);
        }
        member.as_object()
    }

    /// The members of a list, each of the shape that the walk expects.
    pub(super) fn parts<'n>(&mut self, node: &'n Node, key: &str) -> Vec<&'n Node> {
        self.list(node, key, Value::as_object)
    }

    /// The texts of a list.
    pub(super) fn texts<'n>(&mut self, node: &'n Node, key: &str) -> Vec<&'n str> {
        self.list(node, key, Value::as_str)
    }

    /// The rows of a list of lists.
    pub(super) fn rows<'n>(&mut self, node: &'n Node, key: &str) -> Vec<&'n Vec<Value>> {
        self.list(node, key, Value::as_array)
    }

    fn list<'n, T>(&mut self, node: &'n Node, key: &str, read: impl FnMut(&'n Value) -> Option<T>) -> Vec<T> {
        let Some(list) = node.get(key) else { return Vec::new() };
        let list = list.as_array();
        let read: Vec<T> = list.into_iter().flatten().filter_map(read).collect();
        if list.is_none_or(|list| list.len() > read.len()) {
            self.shape(node, key);
        }
        read
    }

    /// Objects to a member that is not of the shape that the walk expects.
    pub(super) fn shape(&mut self, node: &Node, key: &str) {
        let message = format!("{key:?} of such a shape");
        let span = self.span(node);
        self.unknown(&message, span);
    }

    /// The parts of the qualified name of a node.
    pub(super) fn path<'n>(&mut self, node: &'n Node) -> Vec<&'n str> {
        let Some(name) = self.part(node, "qualified_name") else { return Vec::new() };
        self.known(name, &["path"], "a name");
        self.texts(name, "path")
    }

    /// Where a node stands in the text.
    pub(super) fn span(&self, node: &Node) -> Option<Span> {
        let number = |key: &str| node.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let start = number("query_location")?;
        let end = start + number("query_location_length").unwrap_or(0);
        Some(match self.rewritten {
            Some(rewritten) => Span::new(rewritten.original(start), rewritten.original(end)),
            None => Span::new(start, end),
        })
    }

    /// Objects to what nobody has judged.
    pub(super) fn unknown(&mut self, what: &str, span: Option<Span>) {
        // One is enough to refuse; a thousand of them would only be slow.
        if self.parsed.findings.len() < 10 {
            self.find(Finding::new(Rule::UnknownSyntax, format!("nobody has judged {what}"), span));
        }
    }

    pub(super) fn find(&mut self, finding: Finding) {
        self.parsed.findings.push(finding);
    }

    /// Objects to members of a node that are not on a list.
    pub(super) fn known(&mut self, node: &Node, keys: &[&str], what: &str) {
        if let Some(key) = node.keys().find(|k| !keys.contains(&k.as_str())) {
            let message = format!("{key:?} of {what}");
            let span = self.span(node);
            self.unknown(&message, span);
        }
    }

    /// Objects to a node whose type is not on a list. One that is left out is the first of them.
    pub(super) fn kind(&mut self, node: &Node, kinds: &[&str], what: &str) {
        if node.get("type").is_some_and(|kind| kind.as_str().is_none_or(|kind| !kinds.contains(&kind))) {
            let message = format!("{what} of the kind {}", node.get("type").unwrap_or(&Value::Null));
            let span = self.span(node);
            self.unknown(&message, span);
        }
    }

    /// An object that is used, and its index.
    pub(super) fn object(&mut self, name: ObjectName, span: Option<Span>, written: bool) -> usize {
        self.parsed.objects.push(ObjectUse { name, written, span });
        self.parsed.objects.len() - 1
    }

    /// A column that is used; `None` is every column.
    pub(super) fn column(&mut self, candidates: Vec<usize>, column: Option<&str>, span: Option<Span>) {
        self.parsed.columns.push(ColumnUse { candidates, column: column.map(str::to_owned), span });
    }

    /// A function that is used.
    pub(super) fn function(
        &mut self,
        name: &str,
        arguments: Option<usize>,
        effects: Effects,
        span: Option<Span>,
    ) {
        self.parsed.functions.push(FunctionUse { name: name.to_owned(), arguments, effects, span });
    }

    /// A query of any kind.
    pub(super) fn query(&mut self, node: &Node) {
        self.scopes.open_expressions();
        self.expressions(node);
        match text(node, "type") {
            "SELECT_NODE" => self.select(node),
            "SET_OPERATION_NODE" => self.set_operation(node),
            "RECURSIVE_CTE_NODE" => self.recursive(node),
            "CTE_NODE" => self.cte_node(node),
            "INSERT_QUERY_NODE" => self.write(node, StatementClass::Insert),
            "UPDATE_QUERY_NODE" => self.write(node, StatementClass::Update),
            "DELETE_QUERY_NODE" => self.write(node, StatementClass::Delete),
            "MERGE_QUERY_NODE" => self.write(node, StatementClass::Merge),
            "COPY_QUERY_NODE" => {
                self.parsed.effects |= Effects::SERVER_IO;
                self.parsed.class = StatementClass::ServerIo;
            }
            other => {
                let what = format!("a query of the kind {other:?}");
                self.unknown(&what, None);
            }
        }
        self.scopes.close_expressions();
    }

    /// The common table expressions of a query. Each sees those before it; only a recursive one sees
    /// itself, and only from its second part on.
    fn expressions(&mut self, node: &Node) {
        let Some(map) = self.part(node, "cte_map") else { return };
        self.known(map, &["map"], "the common table expressions");
        for entry in self.parts(map, "map") {
            self.known(entry, &["key", "value"], "a common table expression");
            if let Some(value) = self.part(entry, "value") {
                const KEYS: &[&str] =
                    &["aliases", "materialized", "key_targets", "query_node", "payload_aggregates"];
                self.known(value, KEYS, "a common table expression");
                match self.part(value, "query_node") {
                    Some(query) => self.query(query),
                    None => self.unknown("a common table expression without a query", None),
                }
                self.scopes.open();
                self.exprs(value, "key_targets");
                self.exprs(value, "payload_aggregates");
                self.scopes.close();
            } else {
                self.unknown("a common table expression that is none", None);
            }
            let name = text(entry, "key").to_owned();
            self.scopes.add_expression(&name);
        }
    }

    fn select(&mut self, node: &Node) {
        const KEYS: &[&str] = &[
            "select_list",
            "from_table",
            "where_clause",
            "group_expressions",
            "group_sets",
            "aggregate_handling",
            "having",
            "sample",
            "qualify",
        ];
        self.known(node, &[QUERY, KEYS].concat(), "SELECT");
        self.scopes.open();
        if let Some(from) = self.part(node, "from_table") {
            self.table(from);
        }
        self.exprs(node, "select_list");
        for key in ["where_clause", "having", "qualify"] {
            self.optional(node, key);
        }
        self.exprs(node, "group_expressions");
        self.sample(node);
        self.modifiers(node);
        self.scopes.close();
    }

    fn set_operation(&mut self, node: &Node) {
        self.known(
            node,
            &[QUERY, &["setop_type", "setop_all", "left", "right", "children"]].concat(),
            "UNION",
        );
        for child in self.parts(node, "children") {
            self.query(child);
        }
        for key in ["left", "right"] {
            if let Some(child) = self.part(node, key) {
                self.query(child);
            }
        }
        // What is ordered by are columns of the result, which were counted where they are made.
        self.scopes.open();
        self.modifiers(node);
        self.scopes.close();
    }

    fn recursive(&mut self, node: &Node) {
        const KEYS: &[&str] =
            &["cte_name", "union_all", "left", "right", "aliases", "key_targets", "payload_aggregates"];
        self.known(node, &[QUERY, KEYS].concat(), "WITH RECURSIVE");
        if let Some(left) = self.part(node, "left") {
            self.query(left);
        }
        let name = text(node, "cte_name").to_owned();
        self.scopes.add_expression(&name);
        if let Some(right) = self.part(node, "right") {
            self.query(right);
        }
        self.scopes.open();
        self.exprs(node, "key_targets");
        self.exprs(node, "payload_aggregates");
        self.modifiers(node);
        self.scopes.close();
    }

    fn cte_node(&mut self, node: &Node) {
        const KEYS: &[&str] = &["cte_name", "query", "child", "aliases", "materialized"];
        self.known(node, &[QUERY, KEYS].concat(), "WITH");
        if let Some(query) = self.part(node, "query") {
            self.query(query);
        }
        let name = text(node, "cte_name").to_owned();
        self.scopes.add_expression(&name);
        if let Some(child) = self.part(node, "child") {
            self.query(child);
        }
        self.scopes.open();
        self.modifiers(node);
        self.scopes.close();
    }

    /// A query that writes, as a common table expression can be one. Its parts are not walked: it is refused.
    fn write(&mut self, node: &Node, class: StatementClass) {
        self.parsed.effects |= Effects::WRITE;
        self.parsed.class = class;
        let target = ["table", "target", "table_ref"].iter().find_map(|key| member(node, key));
        let mut path = target.map(|target| self.path(target)).unwrap_or_default();
        if path.is_empty() {
            path = self.path(node);
        }
        let span = target.and_then(|t| self.span(t));
        if let Some(name) = self.names.object(&path) {
            self.object(name, span, true);
        }
        let message = "a common table expression changes data, and DuckDB is only read here";
        self.find(Finding::new(Rule::Write, message, span));
    }

    /// ORDER BY, LIMIT, DISTINCT.
    fn modifiers(&mut self, node: &Node) {
        for modifier in self.parts(node, "modifiers") {
            match text(modifier, "type") {
                "ORDER_MODIFIER" => self.order(modifier),
                "LIMIT_MODIFIER" | "LEGACY_LIMIT_PERCENT_MODIFIER" => {
                    self.known(modifier, &["type", "limit", "offset", "limit_type"], "LIMIT");
                    self.optional(modifier, "limit");
                    self.optional(modifier, "offset");
                }
                "DISTINCT_MODIFIER" => {
                    self.known(modifier, &["type", "distinct_on_targets"], "DISTINCT");
                    self.exprs(modifier, "distinct_on_targets");
                }
                other => {
                    let what = format!("a clause of the kind {other:?}");
                    self.unknown(&what, None);
                }
            }
        }
    }

    /// ORDER BY.
    pub(super) fn order(&mut self, modifier: &Node) {
        self.known(modifier, &["type", "orders"], "ORDER BY");
        self.kind(modifier, &["ORDER_MODIFIER"], "a clause");
        self.orders(modifier, "orders");
    }

    /// The items of an ORDER BY.
    pub(super) fn orders(&mut self, node: &Node, key: &str) {
        for order in self.parts(node, key) {
            self.known(order, &["type", "null_order", "expression"], "ORDER BY");
            self.kind(order, &["ORDER_DEFAULT", "ASCENDING", "DESCENDING"], "an order");
            let Some(expression) = self.part(order, "expression") else { continue };
            // ORDER BY ALL has no place of its own: it means the columns that the query shows.
            if text(expression, "class") == "STAR" && !expression.contains_key("query_location") {
                self.known(expression, &["class", "type", "columns"], "ORDER BY ALL");
                self.kind(expression, &["STAR"], "ORDER BY ALL");
            } else {
                self.expr(expression);
            }
        }
    }

    /// TABLESAMPLE: constants only.
    pub(super) fn sample(&mut self, node: &Node) {
        if let Some(sample) = self.part(node, "sample") {
            const KEYS: &[&str] = &["sample_size", "is_percentage", "method", "seed", "repeatable"];
            self.known(sample, KEYS, "TABLESAMPLE");
        }
    }
}
