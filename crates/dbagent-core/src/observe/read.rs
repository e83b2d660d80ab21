//! Reads framed tables back from an observation.

use super::{FRAME_CLOSE, FRAME_OPEN, NULL};
use crate::text::unescape;

/// A table inside a frame: lines of cells; `None` is NULL.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FramedTable {
    /// The lines in order.
    pub lines: Vec<Vec<Option<String>>>,
}

/// A result read back: columns with their types, and rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadTable {
    /// Name and type of each column.
    pub columns: Vec<(String, String)>,
    /// The rows; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}

impl ReadTable {
    /// The first framed table of an observation of `query`, `sample` or `count`.
    pub fn from_observation(text: &str) -> Option<ReadTable> {
        let table = read_tables(text).into_iter().next()?;
        let mut lines = table.lines.into_iter();
        let columns = lines
            .next()?
            .into_iter()
            .map(|cell| {
                let cell = cell.unwrap_or_default();
                match cell.rsplit_once(' ') {
                    Some((name, kind)) => (name.to_owned(), kind.to_owned()),
                    None => (cell, String::new()),
                }
            })
            .collect();
        Some(ReadTable { columns, rows: lines.collect() })
    }
}

/// Every block of cell lines in the frames of an observation. A line `|` alone separates blocks.
pub fn read_tables(text: &str) -> Vec<FramedTable> {
    let mut tables = Vec::new();
    let mut current = FramedTable::default();
    let mut inside = false;
    for line in text.lines() {
        if line == FRAME_OPEN {
            inside = true;
        } else if line == FRAME_CLOSE {
            inside = false;
        } else if inside && line != "|" {
            current.lines.push(cells(line));
            continue;
        }
        if !current.lines.is_empty() {
            tables.push(std::mem::take(&mut current));
        }
    }
    if !current.lines.is_empty() {
        tables.push(current);
    }
    tables
}

/// Splits at ` |` outside escapes.
fn cells(line: &str) -> Vec<Option<String>> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut chars = line.strip_prefix('|').unwrap_or(line).chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                cell.push(c);
                cell.extend(chars.next());
            }
            '|' => cells.push(value(&std::mem::take(&mut cell))),
            c => cell.push(c),
        }
    }
    if !cell.trim().is_empty() {
        cells.push(value(&cell));
    }
    cells
}

fn value(cell: &str) -> Option<String> {
    let cell = cell.strip_prefix(' ').unwrap_or(cell);
    let cell = cell.strip_suffix(' ').unwrap_or(cell);
    if cell == NULL {
        return None;
    }
    let bare = cell.strip_prefix('"').and_then(|c| c.strip_suffix('"')).unwrap_or(cell);
    Some(unescape(bare))
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, text_cell};
    use super::*;

    #[test]
    fn cells_come_back_as_they_were() {
        let values =
            ["a|b", "", "NULL", " x ", "\"q\"", "c\\d", "line\nend", "\\|", "ü\u{202e}", "\"", "a \\"];
        let mut frame = Frame::new();
        frame.cells(["c text"]);
        for v in values {
            frame.cells([text_cell(v)]);
        }
        frame.cells([NULL]);
        let table = ReadTable::from_observation(&frame.close()).unwrap();
        assert_eq!(table.columns, [("c".to_owned(), "text".to_owned())]);
        let back: Vec<_> = table.rows.iter().map(|r| r[0].as_deref()).collect();
        let mut expected: Vec<_> = values.iter().map(|v| Some(*v)).collect();
        expected.push(None);
        assert_eq!(back, expected);
    }
}
