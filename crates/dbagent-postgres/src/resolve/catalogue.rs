//! The four statements that ask the catalogue. Their texts are fixed; names and numbers are bound.

use dbagent_core::ObjectName;
use sqlx::postgres::types::Oid;
use sqlx::{PgConnection, Row as _};

use crate::functions::Qualified;

type Result<T> = std::result::Result<T, sqlx::Error>;

/// A relation as the catalogue has it.
#[derive(Debug)]
pub(super) struct RelationRow {
    /// Which of the names asked it is.
    pub(super) place: usize,
    pub(super) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) row_type: u32,
    pub(super) columns: Vec<String>,
    /// Generated columns and what each is computed from, as text.
    pub(super) generated: Vec<(String, String)>,
    pub(super) definition: Option<String>,
    pub(super) policies: Vec<String>,
    pub(super) server: Option<String>,
    /// What shares rows with it: partitions, children, and what it belongs to.
    pub(super) kin: Vec<ObjectName>,
}

impl RelationRow {
    /// Whether it has anything that is text of the language.
    pub(super) fn has_text(&self) -> bool {
        self.definition.is_some() || !self.policies.is_empty() || !self.generated.is_empty()
    }
}

/// A type that values of the statement may have.
#[derive(Debug)]
pub(super) struct TypeRow {
    /// Which of the names asked it is.
    pub(super) places: Vec<usize>,
    pub(super) oid: u32,
    pub(super) name: Qualified,
    pub(super) named: bool,
    /// Whether a value of it comes from somewhere else than a constant that is given to a function.
    pub(super) value: bool,
    /// Functions of users that read and write its values.
    pub(super) routines: Vec<u32>,
    /// The conditions of a domain.
    pub(super) checks: Vec<String>,
}

/// How a function comes to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Function(usize),
    Operator(usize),
    Dotted(usize),
    Cast,
}

/// A function as the catalogue has it.
#[derive(Debug)]
pub(super) struct FunctionRow {
    pub(super) oid: u32,
    pub(super) name: Qualified,
    pub(super) kind: String,
    pub(super) volatility: String,
    pub(super) definer: bool,
    pub(super) configured: bool,
    pub(super) language: String,
    pub(super) source: String,
    pub(super) arguments: usize,
    pub(super) extension: Option<String>,
    pub(super) definition: Option<String>,
    pub(super) parts: Vec<u32>,
    /// The types that it takes, where its body is in SQL.
    pub(super) parameters: Vec<u32>,
    /// The table whose row it takes first.
    pub(super) row_of: Option<ObjectName>,
    /// Whether it takes a value of any type first.
    pub(super) any_row: bool,
}

/// The functions behind these names.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) functions: Vec<Qualified>,
    /// For each of them, which arguments may have no type of their own.
    pub(super) untyped_functions: Vec<i64>,
    pub(super) operators: Vec<Qualified>,
    pub(super) untyped_operators: Vec<i64>,
    /// Names behind a dot, and whether a row stands before it.
    pub(super) dotted: Vec<(String, bool)>,
}

/// From the place that SQL counts from 1.
fn place(number: i32) -> usize {
    usize::try_from(number).unwrap_or_default().saturating_sub(1)
}

fn oids(numbers: &[u32]) -> Vec<Oid> {
    numbers.iter().map(|n| Oid(*n)).collect()
}

fn numbers(oids: Vec<Oid>) -> Vec<u32> {
    oids.into_iter().map(|o| o.0).collect()
}

fn split(names: &[Qualified]) -> (Vec<Option<String>>, Vec<String>) {
    names.iter().map(|n| (n.schema.clone(), n.name.clone())).unzip()
}

pub(super) async fn relations(
    connection: &mut PgConnection,
    names: &[ObjectName],
    own_policies: bool,
) -> Result<Vec<RelationRow>> {
    let (schemas, bare): (Vec<_>, Vec<_>) =
        names.iter().map(|n| (n.namespace.clone(), n.name.clone())).unzip();
    let rows = sqlx::query(include_str!("relations.sql"))
        .bind(schemas)
        .bind(bare)
        .bind(own_policies)
        .fetch_all(connection)
        .await?;
    let read = |row: &sqlx::postgres::PgRow| {
        let generated: Vec<String> = row.try_get("generated")?;
        let computed: Vec<String> = row.try_get("computed")?;
        let kin: Vec<String> = row.try_get("kin")?;
        Ok(RelationRow {
            place: place(row.try_get("place")?),
            oid: row.try_get::<Oid, _>("oid")?.0,
            schema: row.try_get("schema")?,
            name: row.try_get("name")?,
            kind: row.try_get("kind")?,
            row_type: row.try_get::<Oid, _>("row_type")?.0,
            columns: row.try_get("columns")?,
            generated: generated.into_iter().zip(computed).collect(),
            definition: row.try_get("definition")?,
            policies: row.try_get("policies")?,
            server: row.try_get("server")?,
            kin: kin
                .chunks_exact(2)
                .filter_map(|pair| match pair {
                    [schema, name] => Some(ObjectName::within(schema.as_str(), name.as_str())),
                    _ => None,
                })
                .collect(),
        })
    };
    rows.iter().map(read).collect()
}

pub(super) async fn types(
    connection: &mut PgConnection,
    named: &[Qualified],
    rows_of: &[u32],
    calls: &Names,
    known: &[u32],
    values: &[u32],
) -> Result<Vec<TypeRow>> {
    let (schemas, bare) = split(named);
    // A function that is called like a column may be called too, as far as its name tells.
    let functions = calls.functions.iter().map(|f| &f.name);
    let functions: Vec<String> =
        functions.chain(calls.dotted.iter().map(|(name, _)| name)).cloned().collect();
    let untyped: Vec<i64> =
        calls.untyped_functions.iter().copied().chain(calls.dotted.iter().map(|_| 0)).collect();
    let rows = sqlx::query(include_str!("types.sql"))
        .bind(schemas)
        .bind(bare)
        .bind(oids(rows_of))
        .bind(functions)
        .bind(untyped)
        .bind(calls.operators.iter().map(|o| o.name.clone()).collect::<Vec<_>>())
        .bind(&calls.untyped_operators)
        .bind(oids(known))
        .bind(oids(values))
        .fetch_all(connection)
        .await?;
    let read = |row: &sqlx::postgres::PgRow| {
        let schema: String = row.try_get("schema")?;
        let name: String = row.try_get("name")?;
        Ok(TypeRow {
            places: row.try_get::<Vec<i32>, _>("places")?.into_iter().map(place).collect(),
            oid: row.try_get::<Oid, _>("oid")?.0,
            name: Qualified::within(schema, name),
            named: row.try_get("named")?,
            value: row.try_get("value")?,
            routines: numbers(row.try_get("routines")?),
            checks: row.try_get("checks")?,
        })
    };
    rows.iter().map(read).collect()
}

/// Which functions of users the names may call, and which casts may run. The last says of a function that it
/// takes a value of a type which nothing can have.
pub(super) async fn routines(
    connection: &mut PgConnection,
    names: &Names,
    reached: &[u32],
    cast_to: &[u32],
    values: &[u32],
) -> Result<Vec<(Way, u32, bool)>> {
    let (function_schemas, functions) = split(&names.functions);
    let (operator_schemas, operators) = split(&names.operators);
    let (dotted, rows): (Vec<_>, Vec<_>) = names.dotted.iter().cloned().unzip();
    let found = sqlx::query(include_str!("routines.sql"))
        .bind(function_schemas)
        .bind(functions)
        .bind(operator_schemas)
        .bind(operators)
        .bind(dotted)
        .bind(rows)
        .bind(oids(reached))
        .bind(oids(cast_to))
        .bind(oids(values))
        .bind(&names.untyped_functions)
        .bind(&names.untyped_operators)
        .fetch_all(connection)
        .await?;
    let read = |row: &sqlx::postgres::PgRow| {
        let at = place(row.try_get("place")?);
        let way = match row.try_get::<&str, _>("kind")? {
            "function" => Way::Function(at),
            "operator" => Way::Operator(at),
            "dotted" => Way::Dotted(at),
            _ => Way::Cast,
        };
        Ok((way, row.try_get::<Oid, _>("oid")?.0, row.try_get("strange")?))
    };
    found.iter().map(read).collect()
}

pub(super) async fn functions(connection: &mut PgConnection, wanted: &[u32]) -> Result<Vec<FunctionRow>> {
    let rows = sqlx::query(include_str!("functions.sql")).bind(oids(wanted)).fetch_all(connection).await?;
    let read = |row: &sqlx::postgres::PgRow| {
        let schema: String = row.try_get("schema")?;
        let name: String = row.try_get("name")?;
        let row_name: Option<String> = row.try_get("row_name")?;
        let row_schema: Option<String> = row.try_get("row_schema")?;
        Ok(FunctionRow {
            oid: row.try_get::<Oid, _>("oid")?.0,
            name: Qualified::within(schema, name),
            kind: row.try_get("kind")?,
            volatility: row.try_get("volatility")?,
            definer: row.try_get("definer")?,
            configured: row.try_get("configured")?,
            language: row.try_get("language")?,
            source: row.try_get("source")?,
            arguments: usize::try_from(row.try_get::<i32, _>("arguments")?).unwrap_or_default(),
            extension: row.try_get("extension")?,
            definition: row.try_get("definition")?,
            parts: numbers(row.try_get("parts")?),
            parameters: numbers(row.try_get("parameters")?),
            row_of: row_name.map(|name| ObjectName { namespace: row_schema, name }),
            any_row: row.try_get("any_row")?,
        })
    };
    rows.iter().map(read).collect()
}
