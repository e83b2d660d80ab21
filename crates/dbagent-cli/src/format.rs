//! The forms in which results are written.

mod cell;
mod delimited;
mod grid;
mod json;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dbagent::arrow_array::RecordBatch;
use dbagent::arrow_schema::SchemaRef;
use dbagent::rows::Ending;

pub(crate) use grid::{Column, Grid, Layout, Text};
pub(crate) use json::{rows as json_rows, safe as safe_json};

use crate::exit::Failure;
use crate::out::Out;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table for people, fitted to the terminal
    #[default]
    Table,
    /// A Markdown table
    Markdown,
    /// One JSON value
    Json,
    /// One JSON object a line
    Jsonl,
    /// Comma-separated values, quoted as RFC 4180 says
    Csv,
}

/// Reads `--format` where only some of the forms make sense.
pub(crate) fn only(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let words = formats.iter().filter_map(ValueEnum::to_possible_value);
    // The word is one of those above, so it is a format.
    PossibleValuesParser::new(words).map(|word| Format::from_str(&word, false).unwrap_or_default())
}

/// For results that are no rows.
pub(crate) const NO_ROWS: &[Format] = &[Format::Table, Format::Markdown, Format::Json, Format::Jsonl];

/// Writes the rows of one result as they arrive. A table needs all of them first, the other forms stream.
pub(crate) struct RowsWriter<'a> {
    out: &'a mut Out,
    form: Form,
    began: bool,
}

enum Form {
    Grid { layout: Layout, batches: Vec<RecordBatch> },
    Json { rows: u64 },
    Jsonl,
    Csv,
}

/// What a person should know of a result that was written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Values that were shortened to fit the terminal.
    pub(crate) shortened: usize,
}

impl<'a> RowsWriter<'a> {
    /// A writer in that form.
    pub(crate) fn new(format: Format, out: &'a mut Out) -> Self {
        let form = match format {
            Format::Table => Form::Grid { layout: Layout::Table, batches: Vec::new() },
            Format::Markdown => Form::Grid { layout: Layout::Markdown, batches: Vec::new() },
            Format::Json => Form::Json { rows: 0 },
            Format::Jsonl => Form::Jsonl,
            Format::Csv => Form::Csv,
        };
        Self { out, form, began: false }
    }

    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Failure> {
        if std::mem::replace(&mut self.began, true) {
            return Ok(());
        }
        match &self.form {
            Form::Grid { .. } | Form::Jsonl => Ok(()),
            Form::Json { .. } => json::begin(self.out, schema),
            Form::Csv => delimited::header(self.out, schema),
        }
    }

    /// Writes a batch, or keeps it until the end.
    pub(crate) fn batch(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        self.begin(&batch.schema())?;
        match &mut self.form {
            Form::Grid { batches, .. } => {
                batches.push(batch);
                Ok(())
            }
            Form::Json { rows } => json::batch(self.out, &batch, rows),
            Form::Jsonl => json::lines(self.out, &batch),
            Form::Csv => delimited::batch(self.out, &batch),
        }
    }

    /// Ends the result. A result without rows still has columns.
    pub(crate) fn finish(mut self, schema: &SchemaRef, ending: &Ending) -> Result<Written, Failure> {
        self.begin(schema)?;
        let mut written = Written::default();
        match self.form {
            Form::Grid { layout, batches } => {
                let grid = Grid::of_rows(schema, &batches);
                written.shortened = grid.write(self.out, layout)?;
            }
            Form::Json { .. } => json::end(self.out, ending)?,
            Form::Jsonl | Form::Csv => {}
        }
        self.out.flush()?;
        Ok(written)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use dbagent::arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, StringArray};
    use dbagent::arrow_schema::{DataType, Field, Schema};
    use dbagent::rows::{TYPE_KEY, TYPE_MIXED};

    use super::*;
    use crate::out::tests::Shared;

    /// A result with everything that could lose its meaning.
    pub(crate) fn nasty() -> RecordBatch {
        let mixed = Field::new("m", DataType::Utf8, true)
            .with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_MIXED.to_owned())]));
        let schema = Arc::new(Schema::new(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("t", DataType::Utf8, true),
            Field::new("n", DataType::Float64, true),
            Field::new("b", DataType::Binary, true),
            mixed,
        ]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![Some(9_007_199_254_740_993), None, Some(-1)])),
            Arc::new(StringArray::from(vec![Some("NULL"), None, Some("a|b,\"c\"\n\u{1b}[31m\u{202e}")])),
            Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::NAN), Some(1e300)])),
            Arc::new(BinaryArray::from_opt_vec(vec![Some(&[0_u8, 255][..]), None, Some(&[][..])])),
            Arc::new(StringArray::from(vec![Some("1"), Some("\"x\""), Some("{\"$bytes\":\"AQ==\"}")])),
        ];
        RecordBatch::try_new(schema, columns).unwrap()
    }

    pub(crate) fn written(format: Format, batches: Vec<RecordBatch>, schema: &SchemaRef) -> String {
        let shared = Shared::default();
        let mut out = Out::to(shared.clone());
        let mut writer = RowsWriter::new(format, &mut out);
        let mut ending = Ending::default();
        for batch in batches {
            ending.rows += batch.num_rows() as u64;
            writer.batch(batch).unwrap();
        }
        writer.finish(schema, &ending).unwrap();
        shared.text()
    }

    #[test]
    fn csv_keeps_values_and_tells_null_from_empty() {
        let batch = nasty();
        assert_eq!(
            written(Format::Csv, vec![batch.clone()], &batch.schema()),
            "n,t,n,b,m\n9007199254740993,NULL,0.1,00ff,1\n,,NaN,,\"\"\"x\"\"\"\n\
             -1,\"a|b,\"\"c\"\"\n\u{1b}[31m\u{202e}\",1e300,\"\",\"{\"\"$bytes\"\":\"\"AQ==\"\"}\"\n"
        );
    }

    #[test]
    fn json_lines_keep_values_and_name_columns_once() {
        let batch = nasty();
        let text = written(Format::Jsonl, vec![batch.clone()], &batch.schema());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r#"{"n":"9007199254740993","t":"NULL","n_2":0.1,"b":"00ff","m":1}"#);
        assert_eq!(lines[1], r#"{"n":null,"t":null,"n_2":"NaN","b":null,"m":"x"}"#);
        assert_eq!(
            lines[2],
            r#"{"n":-1,"t":"a|b,\"c\"\n\u001b[31m\u202e","n_2":1e+300,"b":"","m":{"$bytes":"AQ=="}}"#
        );
    }

    #[test]
    fn json_is_one_value_with_types_and_whether_it_is_complete() {
        let batch = nasty();
        let value: serde_json::Value =
            serde_json::from_str(&written(Format::Json, vec![batch.clone(), batch.clone()], &batch.schema()))
                .unwrap();
        assert_eq!(value["columns"][2], serde_json::json!({"name": "n", "type": "real"}));
        assert_eq!(value["rows"].as_array().unwrap().len(), 6);
        assert_eq!(value["rows"][3][0], "9007199254740993");
        assert_eq!(value["complete"], true);
        let empty: serde_json::Value =
            serde_json::from_str(&written(Format::Json, Vec::new(), &batch.schema())).unwrap();
        assert_eq!(empty["rows"], serde_json::json!([]));
        assert_eq!(empty["columns"].as_array().unwrap().len(), 5);
    }

    #[test]
    fn markdown_stays_a_table() {
        let batch = nasty();
        let text = written(Format::Markdown, vec![batch.clone()], &batch.schema());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "| n | t | n | b | m |");
        assert_eq!(lines[1], "| ---: | --- | ---: | --- | --- |");
        assert_eq!(lines[2], "| 9007199254740993 | \"NULL\" | 0.1 | x'00ff' | 1 |");
        assert_eq!(lines[3], "| NULL | NULL | NaN | NULL | \"x\" |");
        assert_eq!(
            lines[4],
            "| -1 | a\\|b,\"c\"\\\\n\\\\u{1b}[31m\\\\u{202e} | 1e300 | x'' | {\"$bytes\":\"AQ==\"} |"
        );
        assert_eq!(lines.len(), 5);
    }
}
