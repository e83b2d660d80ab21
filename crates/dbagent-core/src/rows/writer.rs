//! Fills batches row by row, for dialects whose drivers hand out rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{Array as _, ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::sink::{Flow, Sink, cell_too_large};
use super::value::{Cell, mixed_json};
use super::{BATCH_BYTES, BATCH_ROWS, TYPE_KEY, TYPE_MIXED};
use crate::error::{Error, ErrorKind, Result};

/// The types that a row writer fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// 64-bit integers.
    Int,
    /// Doubles.
    Float,
    /// Truth values.
    Bool,
    /// Texts.
    Text,
    /// Binary.
    Bytes,
}

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// Its name; names may repeat.
    pub name: String,
    /// The type that it is declared to have. A hint: values of other types are kept all the same.
    pub declared: Option<ColumnType>,
}

/// Fills batches row by row.
///
/// A column takes the type of its values. While the first batch is being filled a misfit changes the
/// column in place (integers that are exact as doubles join doubles, everything else becomes
/// [mixed](super::TYPE_MIXED)); after that a misfit makes it mixed from that batch on.
///
/// ```text
/// loop { if writer.begin_row() == Flow::Stop { break }  writer.int(1)?; writer.text("a")?;  writer.end_row_blocking()?; }
/// writer.finish_blocking()?;
/// ```
pub struct RowWriter {
    sink: Sink,
    columns: Vec<Column>,
    /// The column that the next value goes to.
    at: usize,
    rows: usize,
    bytes: usize,
    flushed: bool,
    schema: Option<SchemaRef>,
    row_limit: u64,
    byte_limit: u64,
    cell_limit: u64,
    total_rows: u64,
    total_bytes: u64,
}

struct Column {
    name: String,
    declared: Option<ColumnType>,
    values: Values,
}

enum Values {
    /// Only NULLs so far.
    Nulls(usize),
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Mixed(StringBuilder),
}

impl RowWriter {
    pub(super) fn new(sink: Sink, columns: Vec<ColumnSpec>) -> Self {
        let limits = sink.limits();
        let columns = columns
            .into_iter()
            .map(|c| Column { name: c.name, declared: c.declared, values: Values::Nulls(0) })
            .collect();
        Self {
            sink,
            columns,
            at: 0,
            rows: 0,
            bytes: 0,
            flushed: false,
            schema: None,
            row_limit: limits.rows.unwrap_or(u64::MAX),
            byte_limit: limits.bytes.unwrap_or(u64::MAX),
            cell_limit: limits.cell_bytes,
            total_rows: 0,
            total_bytes: 0,
        }
    }

    /// Begins a row that exists. [`Flow::Stop`] when a cap is reached, and then the row only sets the mark
    /// that more exist.
    pub fn begin_row(&mut self) -> Flow {
        if self.total_rows >= self.row_limit {
            self.sink.progress(|p| p.more_rows = true);
            return Flow::Stop;
        }
        if self.total_bytes >= self.byte_limit {
            self.sink.progress(|p| p.over_bytes = true);
            return Flow::Stop;
        }
        self.at = 0;
        Flow::More
    }

    fn column(&mut self, size: usize) -> Result<&mut Column> {
        let at = self.at;
        self.at += 1;
        self.bytes += size;
        self.total_bytes += size as u64;
        self.columns.get_mut(at).ok_or_else(|| {
            Error::new(ErrorKind::Internal, "a dialect wrote more values than there are columns")
        })
    }

    fn check_size(&self, size: usize) -> Result<()> {
        if size as u64 > self.cell_limit {
            let name = self.columns.get(self.at).map(|c| c.name.as_str()).unwrap_or_default();
            return Err(cell_too_large(name, size as u64, self.cell_limit));
        }
        Ok(())
    }

    /// NULL.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] for more values than columns, as with every other value.
    pub fn null(&mut self) -> Result<()> {
        let column = self.column(1)?;
        match &mut column.values {
            Values::Nulls(n) => *n += 1,
            Values::Int(b) => b.append_null(),
            Values::Float(b) => b.append_null(),
            Values::Bool(b) => b.append_null(),
            Values::Text(b) | Values::Mixed(b) => b.append_null(),
            Values::Bytes(b) => b.append_null(),
        }
        Ok(())
    }

    /// An integer.
    pub fn int(&mut self, value: i64) -> Result<()> {
        let flushed = self.flushed;
        let column = self.column(8)?;
        match &mut column.values {
            Values::Int(b) => b.append_value(value),
            Values::Float(b) if exact(value) => b.append_value(value as f64),
            _ => column.misfit(&Cell::Int(value), flushed),
        }
        Ok(())
    }

    /// A double.
    pub fn float(&mut self, value: f64) -> Result<()> {
        let flushed = self.flushed;
        let column = self.column(8)?;
        match &mut column.values {
            Values::Float(b) => b.append_value(value),
            _ => column.misfit(&Cell::Float(value), flushed),
        }
        Ok(())
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Result<()> {
        let flushed = self.flushed;
        let column = self.column(1)?;
        match &mut column.values {
            Values::Bool(b) => b.append_value(value),
            _ => column.misfit(&Cell::Bool(value), flushed),
        }
        Ok(())
    }

    /// A text.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] over the cell cap.
    pub fn text(&mut self, value: &str) -> Result<()> {
        self.check_size(value.len())?;
        let flushed = self.flushed;
        let column = self.column(value.len() + 4)?;
        match &mut column.values {
            Values::Text(b) => b.append_value(value),
            _ => column.misfit(&Cell::Text(value), flushed),
        }
        Ok(())
    }

    /// Binary.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] over the cell cap.
    pub fn bytes(&mut self, value: &[u8]) -> Result<()> {
        self.check_size(value.len())?;
        let flushed = self.flushed;
        let column = self.column(value.len() + 4)?;
        match &mut column.values {
            Values::Bytes(b) => b.append_value(value),
            _ => column.misfit(&Cell::Bytes(value), flushed),
        }
        Ok(())
    }

    /// A nested value, or one of a type that no column has, as a canonical JSON text. The column is mixed.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] over the cell cap.
    pub fn json(&mut self, value: &str) -> Result<()> {
        self.check_size(value.len())?;
        let flushed = self.flushed;
        let column = self.column(value.len() + 4)?;
        column.misfit(&Cell::Json(value), flushed);
        Ok(())
    }

    /// Makes a column mixed from here on, whatever its values are.
    pub fn widen(&mut self, column: usize) {
        if let Some(column) = self.columns.get_mut(column) {
            column.widen();
        }
    }

    /// Ends the row; hands a full batch on.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] when values are missing.
    pub async fn end_row(&mut self) -> Result<Flow> {
        match self.close_row()? {
            Some(batch) => self.sink.push(batch).await,
            None => Ok(Flow::More),
        }
    }

    /// The same from a thread that may block.
    ///
    /// # Errors
    /// As [`end_row`](Self::end_row).
    #[inline]
    pub fn end_row_blocking(&mut self) -> Result<Flow> {
        match self.close_row()? {
            Some(batch) => self.sink.push_blocking(batch),
            None => Ok(Flow::More),
        }
    }

    /// Hands on what is left. Needed also for a result without rows: it announces the columns.
    ///
    /// # Errors
    /// As [`Sink::push`].
    pub async fn finish(mut self) -> Result<()> {
        match self.last_batch()? {
            Some(batch) => self.sink.push(batch).await.map(|_| ()),
            None => Ok(()),
        }
    }

    /// The same from a thread that may block.
    ///
    /// # Errors
    /// As [`Sink::push`].
    pub fn finish_blocking(mut self) -> Result<()> {
        match self.last_batch()? {
            Some(batch) => self.sink.push_blocking(batch).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Whether to stop, for statements that compute long before their next row.
    pub fn is_stopped(&self) -> bool {
        self.sink.is_stopped()
    }

    #[inline]
    fn close_row(&mut self) -> Result<Option<RecordBatch>> {
        if self.at != self.columns.len() {
            return Err(Error::new(
                ErrorKind::Internal,
                "a dialect wrote fewer values than there are columns",
            ));
        }
        self.rows += 1;
        self.total_rows += 1;
        if self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES { self.batch().map(Some) } else { Ok(None) }
    }

    fn last_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows > 0 {
            return self.batch().map(Some);
        }
        if !self.flushed {
            let schema = self.fields();
            self.sink.begin(schema);
        }
        Ok(None)
    }

    fn fields(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(Column::field).collect::<Vec<_>>()))
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let fields = self.fields();
        let schema = match &self.schema {
            Some(known) if known.fields() == fields.fields() => Arc::clone(known),
            _ => {
                self.sink.begin(Arc::clone(&fields));
                self.schema = Some(Arc::clone(&fields));
                fields
            }
        };
        let rows = self.rows;
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(|c| c.take(rows)).collect();
        self.rows = 0;
        self.bytes = 0;
        self.flushed = true;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema, arrays, &options)
            .map_err(|e| Error::new(ErrorKind::Internal, "a batch does not fit its own columns").source(e))
    }
}

/// Whether a double holds this integer exactly.
fn exact(value: i64) -> bool {
    value.unsigned_abs() <= 1 << 53
}

impl Column {
    fn data_type(&self) -> DataType {
        match self.values {
            Values::Nulls(_) => match self.declared {
                Some(ColumnType::Int) => DataType::Int64,
                Some(ColumnType::Float) => DataType::Float64,
                Some(ColumnType::Bool) => DataType::Boolean,
                Some(ColumnType::Text) => DataType::Utf8,
                Some(ColumnType::Bytes) => DataType::Binary,
                None => DataType::Null,
            },
            Values::Int(_) => DataType::Int64,
            Values::Float(_) => DataType::Float64,
            Values::Bool(_) => DataType::Boolean,
            Values::Text(_) | Values::Mixed(_) => DataType::Utf8,
            Values::Bytes(_) => DataType::Binary,
        }
    }

    fn field(&self) -> Field {
        let field = Field::new(&self.name, self.data_type(), true);
        match self.values {
            Values::Mixed(_) => {
                field.with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_MIXED.to_owned())]))
            }
            _ => field,
        }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Nulls(n) => *n,
            Values::Int(b) => arrow_array::builder::ArrayBuilder::len(b),
            Values::Float(b) => arrow_array::builder::ArrayBuilder::len(b),
            Values::Bool(b) => arrow_array::builder::ArrayBuilder::len(b),
            Values::Text(b) | Values::Mixed(b) => arrow_array::builder::ArrayBuilder::len(b),
            Values::Bytes(b) => arrow_array::builder::ArrayBuilder::len(b),
        }
    }

    /// A value that the column's type does not hold.
    #[cold]
    fn misfit(&mut self, cell: &Cell<'_>, flushed: bool) {
        match (&mut self.values, cell) {
            // The first value decides. What was announced as another type can only become mixed.
            (Values::Nulls(n), cell) if !(flushed && self.declared.is_none_or(|d| !holds(d, cell))) => {
                let n = *n;
                self.values = first(n, cell);
            }
            (Values::Int(b), Cell::Float(x)) if !flushed && ints_are_exact(b) => {
                let ints = b.finish();
                let mut floats = Float64Builder::with_capacity(BATCH_ROWS);
                for value in &ints {
                    floats.append_option(value.map(|v| v as f64));
                }
                floats.append_value(*x);
                self.values = Values::Float(floats);
            }
            _ => {
                self.widen();
                if let Values::Mixed(b) = &mut self.values {
                    match cell {
                        Cell::Null => b.append_null(),
                        cell => b.append_value(mixed_json(cell)),
                    }
                }
            }
        }
    }

    /// Turns what the batch holds so far into canonical JSON texts.
    fn widen(&mut self) {
        if matches!(self.values, Values::Mixed(_)) {
            return;
        }
        let rows = self.len();
        let array = self.take(rows);
        let mut texts = StringBuilder::new();
        let schema = Arc::new(Schema::new(vec![Field::new("v", array.data_type().clone(), true)]));
        match RecordBatch::try_new(schema, vec![array]) {
            Ok(batch) => {
                for row in 0..rows {
                    match Cell::at(&batch, 0, row) {
                        Cell::Null => texts.append_null(),
                        cell => texts.append_value(mixed_json(&cell)),
                    }
                }
            }
            // One array always fits a schema of its own type.
            Err(_) => texts.append_nulls(rows),
        }
        self.values = Values::Mixed(texts);
    }

    fn take(&mut self, rows: usize) -> ArrayRef {
        let data_type = self.data_type();
        match &mut self.values {
            Values::Nulls(n) => {
                *n = 0;
                if data_type == DataType::Null {
                    Arc::new(NullArray::new(rows))
                } else {
                    arrow_array::new_null_array(&data_type, rows)
                }
            }
            Values::Int(b) => Arc::new(b.finish()),
            Values::Float(b) => Arc::new(b.finish()),
            Values::Bool(b) => Arc::new(b.finish()),
            Values::Text(b) | Values::Mixed(b) => Arc::new(b.finish()),
            Values::Bytes(b) => Arc::new(b.finish()),
        }
    }
}

fn ints_are_exact(b: &Int64Builder) -> bool {
    b.values_slice().iter().all(|v| exact(*v))
}

fn holds(declared: ColumnType, cell: &Cell<'_>) -> bool {
    matches!(
        (declared, cell),
        (ColumnType::Int, Cell::Int(_))
            | (ColumnType::Float, Cell::Float(_))
            | (ColumnType::Bool, Cell::Bool(_))
            | (ColumnType::Text, Cell::Text(_))
            | (ColumnType::Bytes, Cell::Bytes(_))
    )
}

/// The builder that the first value asks for, after `nulls` NULLs.
fn first(nulls: usize, cell: &Cell<'_>) -> Values {
    match cell {
        Cell::Int(v) => {
            let mut b = Int64Builder::with_capacity(BATCH_ROWS);
            b.append_nulls(nulls);
            b.append_value(*v);
            Values::Int(b)
        }
        Cell::Float(v) => {
            let mut b = Float64Builder::with_capacity(BATCH_ROWS);
            b.append_nulls(nulls);
            b.append_value(*v);
            Values::Float(b)
        }
        Cell::Bool(v) => {
            let mut b = BooleanBuilder::with_capacity(BATCH_ROWS);
            b.append_nulls(nulls);
            b.append_value(*v);
            Values::Bool(b)
        }
        Cell::Text(v) => {
            let mut b = StringBuilder::new();
            b.append_nulls(nulls);
            b.append_value(v);
            Values::Text(b)
        }
        Cell::Bytes(v) => {
            let mut b = BinaryBuilder::new();
            (0..nulls).for_each(|_| b.append_null());
            b.append_value(v);
            Values::Bytes(b)
        }
        Cell::Null => Values::Nulls(nulls + 1),
        other => {
            let mut b = StringBuilder::new();
            b.append_nulls(nulls);
            b.append_value(mixed_json(other));
            Values::Mixed(b)
        }
    }
}
