//! An answer in words, for a reader: as it is through a pipe, laid out on a terminal.

use dbagent::text::printable;

use crate::exit::Failure;
use crate::format::{Grid, Layout};
use crate::out::Out;
use crate::width::wrap;

/// Writes an answer. Nothing in it acts on a terminal; there its Markdown tables become tables that fit, and
/// its long lines are broken at words. How many values were shortened.
pub(crate) fn write(text: &str, out: &mut Out) -> Result<usize, Failure> {
    let text = printable(text.trim_end());
    let Some(width) = out.width else { return out.line(text).map(|()| 0) };
    let mut shortened = 0;
    let lines: Vec<&str> = text.split('\n').collect();
    let mut rest = lines.as_slice();
    while let [line, later @ ..] = rest {
        if let Some((grid, used)) = table(rest) {
            shortened += grid.write(out, Layout::Table)?;
            rest = rest.get(used..).unwrap_or_default();
            continue;
        }
        for line in if line.is_empty() { vec![String::new()] } else { wrap(line, width) } {
            out.line(line)?;
        }
        rest = later;
    }
    Ok(shortened)
}

/// The Markdown table that these lines begin with, and how many of them it takes.
fn table(lines: &[&str]) -> Option<(Grid, usize)> {
    let [head, rule, rows @ ..] = lines else { return None };
    let names = cells(head)?;
    let is_rule = |cell: &String| cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'));
    if !cells(rule)?.iter().all(is_rule) {
        return None;
    }
    let rows: Vec<Vec<String>> = rows.iter().map_while(|line| cells(line)).collect();
    // A row with more cells than there are names would lose some.
    if rows.iter().any(|row| row.len() > names.len()) {
        return None;
    }
    let used = rows.len() + 2;
    Some((Grid::of_texts(&names, &rows), used))
}

/// The cells of a line `| a | b |`, without the escapes.
fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = vec![String::new()];
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|next| matches!(next, '|' | '\\')) => {
                if let (Some(cell), Some(next)) = (cells.last_mut(), chars.next()) {
                    cell.push(next);
                }
            }
            '|' => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    Some(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::tests::Shared;

    fn written(text: &str, width: Option<usize>) -> String {
        let shared = Shared::default();
        let mut out = Out::to(shared.clone());
        out.width = width;
        write(text, &mut out).unwrap();
        out.flush().unwrap();
        shared.text()
    }

    #[test]
    fn what_is_shortened_is_counted() {
        let mut out = Out::to(Shared::default());
        let text = "| Name | Remark |\n| --- | --- |\n| a | a long remark |\n| b | short |\n";
        assert_eq!(write(text, &mut out).unwrap(), 0);
        out.width = Some(18);
        assert_eq!(write(text, &mut out).unwrap(), 1);
    }

    const ANSWER: &str = "Look:\n\n| Name | n |\n| --- | ---: |\n| a\\|b | 21 |\n| c | NULL |\n\nThat was \u{1b}[31mall of it.\n";

    #[test]
    fn a_pipe_gets_it_as_it_is() {
        assert_eq!(written(ANSWER, None), ANSWER.replace('\u{1b}', "\\u{1b}"));
    }

    #[test]
    fn a_terminal_gets_tables_and_lines_that_fit() {
        assert_eq!(
            written(ANSWER, Some(20)),
            "Look:\n\n Name │    n\n──────┼──────\n a|b  │   21\n c    │ NULL\n\nThat was\n\\u{1b}[31mall of it.\n"
        );
    }

    #[test]
    fn what_is_no_table_stays_as_it_is() {
        for text in ["| a | b |\n", "| a |\n| x |\n", "| a |\n|---|\n| 1 | 2 |\n", "||\n"] {
            assert_eq!(written(text, Some(80)), text);
        }
    }
}
