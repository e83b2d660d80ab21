//! Tables for people: fitted to the terminal, or in Markdown.

use dbagent::arrow_array::RecordBatch;
use dbagent::arrow_schema::{DataType, SchemaRef};
use dbagent::rows::Cell;

use super::cell;
use crate::exit::Failure;
use crate::out::Out;
use crate::width::{pad, shorten, width, wrap};

/// How a grid is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Lines and columns of characters.
    Table,
    /// A Markdown table.
    Markdown,
}

/// One value of a grid; nothing in it acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub(super) text: String,
    pub(super) null: bool,
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        Self { text, null: false }
    }

    /// NULL.
    pub(super) fn null() -> Self {
        Self { text: dbagent::observe::NULL.to_owned(), null: true }
    }

    /// A text of this program or a name; what could act in it is made visible.
    pub(crate) fn of(text: impl AsRef<str>) -> Self {
        Self::new(cell::shown(text.as_ref()))
    }
}

/// A column of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    name: String,
    right: bool,
}

impl Column {
    /// A column of texts.
    pub(crate) fn left(name: impl AsRef<str>) -> Self {
        Self { name: cell::shown(name.as_ref()), right: false }
    }

    /// A column of numbers.
    pub(crate) fn right(name: impl AsRef<str>) -> Self {
        Self { right: true, ..Self::left(name) }
    }
}

/// A table of texts.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Text>>,
}

/// The narrowest that a column is made.
const NARROW: usize = 8;
/// Lines of one value where each has lines of its own.
const MAX_LINES: usize = 8;
/// Between two columns.
const GAP: usize = 3;

impl Grid {
    /// A grid without rows.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Text>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A table from texts: the names and the rows. Columns of numbers are put to the right.
    pub(crate) fn of_texts(names: &[String], rows: &[Vec<String>]) -> Self {
        let is_number = |text: &String| !text.is_empty() && text.replace(',', "").parse::<f64>().is_ok();
        let columns = names.iter().enumerate().map(|(i, name)| {
            let mut values =
                rows.iter().filter_map(|row| row.get(i)).filter(|v| *v != dbagent::observe::NULL).peekable();
            if values.peek().is_some() && values.all(is_number) {
                Column::right(name)
            } else {
                Column::left(name)
            }
        });
        let mut grid = Self::new(columns.collect());
        for row in rows {
            grid.row((0..names.len()).map(|i| Text::of(row.get(i).map(String::as_str).unwrap_or_default())));
        }
        grid
    }

    /// The rows of a result.
    pub(crate) fn of_rows(schema: &SchemaRef, batches: &[RecordBatch]) -> Self {
        let columns = schema
            .fields()
            .iter()
            .map(|f| if is_number(f.data_type()) { Column::right(f.name()) } else { Column::left(f.name()) })
            .collect();
        let mut grid = Self::new(columns);
        for batch in batches {
            for row in 0..batch.num_rows() {
                grid.row((0..batch.num_columns()).map(|column| cell::text(&Cell::at(batch, column, row))));
            }
        }
        grid
    }

    /// Writes it; how many values had to be shortened.
    pub(crate) fn write(&self, out: &mut Out, layout: Layout) -> Result<usize, Failure> {
        match layout {
            Layout::Markdown => self.markdown(out).map(|()| 0),
            Layout::Table if self.columns.is_empty() => Ok(0),
            Layout::Table => {
                let natural = self.widths();
                match out.width {
                    Some(room) if total(&natural) > room => match fit(&natural, room) {
                        Some(widths) => self.table(out, &widths),
                        None => self.records(out, room),
                    },
                    _ => self.table(out, &natural),
                }
            }
        }
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|c| width(&c.name)).collect();
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(&cell.text));
            }
        }
        widths
    }

    fn table(&self, out: &mut Out, widths: &[usize]) -> Result<usize, Failure> {
        let paint = out.paint;
        let mut shortened = 0;
        let mut line = String::new();
        let last = widths.len().saturating_sub(1);
        let bar = paint.dim("│");
        for (i, (column, w)) in self.columns.iter().zip(widths).enumerate() {
            // A name that does not fit is found in every other form.
            let text = shorten(&column.name, *w);
            let text = if i == last && !column.right { text } else { pad(&text, *w, column.right) };
            line.push(' ');
            line.push_str(&paint.bold(text));
            if i != last {
                line.push(' ');
                line.push_str(&bar);
            }
        }
        out.line(&line)?;
        let rule: Vec<String> = widths.iter().map(|w| "─".repeat(w + 2)).collect();
        out.line(paint.dim(rule.join("┼")))?;
        for row in &self.rows {
            line.clear();
            for (i, ((column, w), cell)) in self.columns.iter().zip(widths).zip(row).enumerate() {
                let text = shorten(&cell.text, *w);
                shortened += usize::from(text != cell.text);
                let text = if i == last && !column.right { text } else { pad(&text, *w, column.right) };
                line.push(' ');
                if cell.null {
                    line.push_str(&paint.dim(text));
                } else {
                    line.push_str(&text);
                }
                if i != last {
                    line.push(' ');
                    line.push_str(&bar);
                }
            }
            out.line(line.trim_end())?;
        }
        Ok(shortened)
    }

    /// One line a value, or several, for rows that no line of the terminal can hold. A picture or a book in
    /// one of them would push all else off the screen, so long values are shortened, too.
    fn records(&self, out: &mut Out, room: usize) -> Result<usize, Failure> {
        let paint = out.paint;
        let mut shortened = 0;
        let names = self.columns.iter().map(|c| width(&c.name)).max().unwrap_or_default().min(room / 3);
        let left = room.saturating_sub(names + GAP + 1).max(NARROW);
        for (number, row) in self.rows.iter().enumerate() {
            let title = format!("── {} ", number + 1);
            out.line(paint.dim(format!("{title}{}", "─".repeat(room.saturating_sub(width(&title))))))?;
            for (column, cell) in self.columns.iter().zip(row) {
                let name = paint.bold(pad(&shorten(&column.name, names), names, false));
                let bar = paint.dim("│");
                let mut lines = wrap(&cell.text, left);
                if lines.len() > MAX_LINES {
                    shortened += 1;
                    lines.truncate(MAX_LINES);
                    if let Some(last) = lines.last_mut() {
                        *last = shorten(&format!("{last}…"), left);
                    }
                }
                for (i, text) in lines.into_iter().enumerate() {
                    let name = if i == 0 { name.clone() } else { " ".repeat(names) };
                    let text = if cell.null { paint.dim(text) } else { text };
                    out.line(format!(" {name} {bar} {text}"))?;
                }
            }
        }
        Ok(shortened)
    }

    fn markdown(&self, out: &mut Out) -> Result<(), Failure> {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        out.line(line(self.columns.iter().map(|c| markdown_cell(&c.name)).collect()))?;
        out.line(line(
            self.columns.iter().map(|c| if c.right { "---:" } else { "---" }.to_owned()).collect(),
        ))?;
        for row in &self.rows {
            out.line(line(row.iter().map(|c| markdown_cell(&c.text)).collect()))?;
        }
        Ok(())
    }
}

/// A cell that neither ends early nor becomes markup by its backslashes.
fn markdown_cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|")
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

/// The columns that a table of these widths takes.
fn total(widths: &[usize]) -> usize {
    widths.iter().map(|w| w + GAP).sum::<usize>().saturating_sub(1)
}

/// Takes from the widest columns until all fit; `None` when they would become too narrow to read.
fn fit(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let least: Vec<usize> = natural.iter().map(|w| (*w).min(NARROW)).collect();
    if total(&least) > room {
        return None;
    }
    // The largest cap under which the table fits.
    let capped = |cap: usize| natural.iter().map(|w| (*w).min(cap)).collect::<Vec<_>>();
    let cap = (NARROW..=room).rev().find(|cap| total(&capped(*cap)) <= room)?;
    let mut widths = capped(cap);
    // What rounding left over goes to the first columns that want it.
    let mut left = room.saturating_sub(total(&widths));
    for (w, wanted) in widths.iter_mut().zip(natural) {
        let more = left.min(wanted.saturating_sub(*w));
        *w += more;
        left -= more;
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::tests::Shared;

    fn grid() -> Grid {
        let mut grid = Grid::new(vec![Column::left("name"), Column::right("rows"), Column::left("comment")]);
        grid.row([Text::of("Artist"), Text::of("275"), Text::null()]);
        grid.row([Text::of("A table with a long name"), Text::of("7"), Text::of("日本語の長いコメントです")]);
        grid
    }

    fn shown(room: Option<usize>) -> (String, usize) {
        let shared = Shared::default();
        let mut out = Out::to(shared.clone());
        out.width = room;
        let shortened = grid().write(&mut out, Layout::Table).unwrap();
        out.flush().unwrap();
        (shared.text(), shortened)
    }

    #[test]
    fn piped_tables_show_everything() {
        let (text, shortened) = shown(None);
        assert_eq!(shortened, 0);
        assert_eq!(
            text,
            " name                     │ rows │ comment\n\
             ──────────────────────────┼──────┼──────────────────────────\n \
              Artist                   │  275 │ NULL\n \
              A table with a long name │    7 │ 日本語の長いコメントです\n"
        );
    }

    #[test]
    fn tables_fit_and_say_how_much_was_shortened() {
        for room in [60, 50, 40, 30] {
            let (text, shortened) = shown(Some(room));
            for line in text.lines() {
                assert!(width(line) <= room, "{room}: {line:?}");
            }
            assert_eq!(shortened > 0, text.contains('…'), "{text}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_become_records() {
        let (text, _) = shown(Some(22));
        assert!(text.starts_with("── 1 ──"), "{text}");
        assert!(text.lines().all(|l| width(l) <= 22), "{text}");
    }

    #[test]
    fn a_long_value_of_a_record_is_shortened_and_counted() {
        let shared = Shared::default();
        let mut out = Out::to(shared.clone());
        out.width = Some(30);
        let mut grid = Grid::new((0..5).map(|i| Column::left(format!("column{i}"))).collect());
        let picture = "ff".repeat(10_000);
        grid.row(["a value", "another", &picture, "a value", "another"].map(Text::of));
        assert_eq!(grid.write(&mut out, Layout::Table).unwrap(), 1);
        out.flush().unwrap();
        let text = shared.text();
        assert_eq!(text.lines().count(), 1 + 4 + MAX_LINES, "{text}");
        assert!(text.contains("ff…\n") && text.lines().all(|l| width(l) <= 30), "{text}");
    }
}
