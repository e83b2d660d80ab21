//! Lists and descriptions of objects, for people.

use dbagent::Noun;
use dbagent::catalog::{Column as ColumnOf, ObjectDetail, ObjectSummary};
use dbagent::text::printable;

use crate::exit::Failure;
use crate::format::{Column, Grid, Layout, Text};
use crate::out::Out;

/// A list of objects.
pub(crate) fn list(objects: &[ObjectSummary], noun: Noun) -> Grid {
    let comments = objects.iter().any(|o| o.comment.is_some());
    let mut columns = vec![Column::left(noun.singular), Column::left("kind"), Column::right(noun.rows)];
    if comments {
        columns.push(Column::left("comment"));
    }
    let mut grid = Grid::new(columns);
    for object in objects {
        let mut row = vec![
            Text::of(object.name.to_string()),
            Text::of(object.kind.as_str()),
            Text::of(object.rows.to_string()),
        ];
        if comments {
            row.push(Text::of(object.comment.as_deref().unwrap_or_default()));
        }
        grid.row(row);
    }
    grid
}

/// Writes one object: its columns, keys, indexes and what else matters.
pub(crate) fn detail(object: &ObjectDetail, layout: Layout, out: &mut Out) -> Result<usize, Failure> {
    let summary = &object.summary;
    let paint = out.paint;
    let title =
        format!("{}, {}, rows: {}", safe(&summary.name.to_string()), summary.kind.as_str(), summary.rows);
    out.line(if layout == Layout::Markdown { format!("## {title}") } else { paint.bold(title) })?;
    if let Some(comment) = &summary.comment {
        out.line(safe(comment))?;
    }
    if layout == Layout::Markdown {
        out.line("")?;
    }
    let shortened = columns(object).write(out, layout)?;
    let mut lines = Vec::new();
    if !object.primary_key.is_empty() {
        lines.push(format!("primary key ({})", object.primary_key.join(", ")));
    }
    for key in &object.foreign_keys {
        lines.push(format!(
            "foreign key ({}) to {} ({})",
            key.columns.join(", "),
            key.target,
            key.target_columns.join(", ")
        ));
    }
    for index in &object.indexes {
        let unique = if index.unique { "unique index" } else { "index" };
        let condition = index.condition.as_ref().map(|c| format!(" where {c}")).unwrap_or_default();
        lines.push(format!("{unique} {} ({}){condition}", index.name, index.columns.join(", ")));
    }
    lines.extend(object.notes.iter().cloned());
    if layout == Layout::Markdown && !lines.is_empty() {
        out.line("")?;
    }
    for line in lines {
        let bullet = if layout == Layout::Markdown { "- " } else { " " };
        out.line(format!("{bullet}{}", safe(&line)))?;
    }
    Ok(shortened)
}

fn columns(object: &ObjectDetail) -> Grid {
    let remarks: Vec<String> = object.columns.iter().map(remark).collect();
    let any = remarks.iter().any(|r| !r.is_empty());
    let mut names = vec![Column::left("column"), Column::left("type"), Column::left("null")];
    if any {
        names.push(Column::left("remarks"));
    }
    let mut grid = Grid::new(names);
    for (column, remark) in object.columns.iter().zip(remarks) {
        let null = match column.nullable {
            Some(true) => "yes",
            Some(false) => "no",
            None => "?",
        };
        let mut row = vec![Text::of(&column.name), Text::of(&column.data_type), Text::of(null)];
        if any {
            row.push(Text::of(remark));
        }
        grid.row(row);
    }
    grid
}

fn remark(column: &ColumnOf) -> String {
    let mut parts = Vec::new();
    parts.extend(column.default.as_ref().map(|d| format!("default {d}")));
    parts.extend(column.generated.as_ref().map(|g| format!("generated {g}").trim_end().to_owned()));
    if !column.allowed_values.is_empty() {
        parts.push(format!("one of {}", column.allowed_values.join(", ")));
    }
    if column.hidden {
        parts.push("hidden".to_owned());
    }
    parts.extend(column.comment.clone());
    parts.join("; ")
}

fn safe(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}
