//! The road of rows from a writer to a reader: types, caps, back pressure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_schema::DataType;

use super::value::is_mixed;
use super::*;
use crate::context::CallContext;
use crate::error::{ErrorKind, Result};

const FREE: SinkLimits = SinkLimits { rows: None, bytes: None, cell_bytes: u64::MAX };

enum Value {
    Null,
    Int(i64),
    Float(f64),
    Text(&'static str),
    Bytes(&'static [u8]),
}

fn column(declared: Option<ColumnType>) -> Vec<ColumnSpec> {
    vec![ColumnSpec { name: "c".into(), declared }]
}

/// Sends the values of one column; gives the batches and how it ended.
async fn send(
    limits: SinkLimits,
    declared: Option<ColumnType>,
    values: Vec<Value>,
) -> (Result<Vec<RecordBatch>>, Ending, Option<DataType>) {
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(limits, call, move |sink, _| {
        Box::pin(async move {
            let mut w = sink.into_writer(column(declared));
            for value in values {
                if w.begin_row() == Flow::Stop {
                    break;
                }
                match value {
                    Value::Null => w.null()?,
                    Value::Int(v) => w.int(v)?,
                    Value::Float(v) => w.float(v)?,
                    Value::Text(v) => w.text(v)?,
                    Value::Bytes(v) => w.bytes(v)?,
                }
                if w.end_row().await? == Flow::Stop {
                    break;
                }
            }
            w.finish().await?;
            Ok(Ok(()))
        })
    });
    let mut batches = Vec::new();
    let result = loop {
        match rows.next().await {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => break Ok(batches),
            Err(e) => break Err(e),
        }
    };
    let data_type = rows.schema().map(|s| s.field(0).data_type().clone());
    (result, rows.ending(), data_type)
}

fn texts(batches: &[RecordBatch]) -> Vec<String> {
    batches.iter().flat_map(|b| (0..b.num_rows()).map(|r| Cell::at(b, 0, r).to_text())).collect()
}

#[tokio::test]
async fn one_type_stays_one_type() {
    let (batches, ending, kind) =
        send(FREE, None, vec![Value::Null, Value::Int(i64::MAX), Value::Int(-1)]).await;
    assert_eq!(kind, Some(DataType::Int64));
    assert_eq!(texts(&batches.unwrap()), ["NULL", "9223372036854775807", "-1"]);
    assert!(ending.is_complete());
    assert_eq!(ending.rows, 3);
}

#[tokio::test]
async fn an_empty_result_has_its_declared_columns() {
    assert_eq!(send(FREE, Some(ColumnType::Float), vec![]).await.2, Some(DataType::Float64));
    assert_eq!(send(FREE, None, vec![Value::Null]).await.2, Some(DataType::Null));
}

#[tokio::test]
async fn integers_join_doubles_only_where_nothing_is_lost() {
    let (batches, _, kind) = send(FREE, None, vec![Value::Int(1), Value::Float(0.5), Value::Int(2)]).await;
    assert_eq!(kind, Some(DataType::Float64));
    assert_eq!(texts(&batches.unwrap()), ["1.0", "0.5", "2.0"]);
    let large = (1 << 53) + 1;
    let (batches, _, _) = send(FREE, None, vec![Value::Int(large), Value::Float(0.5)]).await;
    assert_eq!(texts(&batches.unwrap()), ["9007199254740993", "0.5"]);
    let (batches, _, _) = send(FREE, None, vec![Value::Float(0.5), Value::Int(large)]).await;
    assert_eq!(texts(&batches.unwrap()), ["0.5", "9007199254740993"]);
}

#[tokio::test]
async fn a_column_of_several_types_is_canonical_json() {
    let values = vec![
        Value::Int(1),
        Value::Text("a\"b"),
        Value::Null,
        Value::Bytes(&[1]),
        Value::Float(f64::INFINITY),
    ];
    let (batches, _, kind) = send(FREE, Some(ColumnType::Int), values).await;
    assert_eq!(kind, Some(DataType::Utf8));
    let batches = batches.unwrap();
    assert!(is_mixed(batches[0].schema().field(0)));
    assert_eq!(
        texts(&batches),
        ["1", "\"a\\\"b\"", "NULL", "{\"$bytes\":\"AQ==\"}", "{\"$double\":\"Infinity\"}"]
    );
}

#[tokio::test]
async fn a_misfit_after_the_first_batch_widens_from_there_on() {
    let mut values: Vec<Value> = (0..10_000).map(Value::Int).collect();
    values.push(Value::Text("x"));
    let (batches, _, kind) = send(FREE, None, values).await;
    let batches = batches.unwrap();
    assert_eq!(batches[0].schema().field(0).data_type(), &DataType::Int64);
    assert_eq!(kind, Some(DataType::Utf8));
    let all = texts(&batches);
    assert_eq!((all.len(), all[9_999].as_str(), all[10_000].as_str()), (10_001, "9999", "\"x\""));
    // An integer after a batch of doubles stays a double; a double after a batch of integers is mixed.
    let mut values: Vec<Value> = (0..9_000).map(Value::Int).collect();
    values.push(Value::Float(0.5));
    let all = texts(&send(FREE, None, values).await.0.unwrap());
    assert_eq!(all[9_000], "0.5");
}

#[tokio::test]
async fn caps_stop_and_say_that_there_is_more() {
    let ten = || (0..10).map(Value::Int).collect::<Vec<_>>();
    let (batches, ending, _) = send(SinkLimits { rows: Some(10), ..FREE }, None, ten()).await;
    assert_eq!((batches.unwrap()[0].num_rows(), ending.more_rows), (10, false));
    let (batches, ending, _) = send(SinkLimits { rows: Some(9), ..FREE }, None, ten()).await;
    assert_eq!((batches.unwrap()[0].num_rows(), ending.more_rows), (9, true));
    let (_, ending, _) = send(SinkLimits { bytes: Some(40), ..FREE }, None, ten()).await;
    assert!(ending.over_bytes && ending.rows < 10, "{ending:?}");
    let (result, ..) =
        send(SinkLimits { cell_bytes: 3, ..FREE }, None, vec![Value::Text("abc"), Value::Text("abcd")]).await;
    assert_eq!(result.unwrap_err().kind(), ErrorKind::TooLarge);
}

#[tokio::test]
async fn batches_of_an_arrow_dialect_are_sliced_and_capped() {
    let source = {
        let values: Vec<Value> = (0..8_000).map(Value::Int).collect();
        let (batches, ..) = send(FREE, None, values).await;
        batches.unwrap().remove(0)
    };
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(SinkLimits { rows: Some(20_000), ..FREE }, call, move |mut sink, _| {
        Box::pin(async move {
            sink.begin(source.schema());
            let schema = source.schema();
            let big = arrow_array::RecordBatch::try_new(
                schema,
                vec![Arc::new(arrow_array::Int64Array::from_iter_values(0..19_999))],
            )
            .unwrap();
            assert_eq!(sink.push(big.clone()).await?, Flow::More);
            assert_eq!(sink.push(big).await?, Flow::Stop);
            Ok(Ok(()))
        })
    });
    let mut sizes = Vec::new();
    while let Some(batch) = rows.next().await.unwrap() {
        sizes.push(batch.num_rows());
    }
    assert_eq!(sizes.iter().sum::<usize>(), 20_000);
    assert!(sizes.iter().all(|n| *n <= BATCH_ROWS), "{sizes:?}");
    assert!(rows.ending().more_rows);
}

#[tokio::test]
async fn a_slow_reader_holds_the_writer() {
    let pushed = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&pushed);
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(FREE, call, move |sink, _| {
        Box::pin(async move {
            let mut w = sink.into_writer(column(None));
            let text = "x".repeat(BATCH_BYTES);
            while w.begin_row() == Flow::More {
                w.text(&text)?;
                if w.end_row().await? == Flow::Stop {
                    break;
                }
                seen.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Ok(()))
        })
    });
    for taken in 1..20 {
        rows.next().await.unwrap().unwrap();
        // One batch may wait in the queue while the next is being written.
        assert!(pushed.load(Ordering::Relaxed) <= taken + 2, "the writer ran ahead");
    }
}

#[tokio::test]
async fn a_writer_on_a_thread_stops_when_the_reader_is_gone() {
    let (ended, wait) = tokio::sync::oneshot::channel();
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(FREE, call, move |sink, _| {
        Box::pin(async move {
            let task = tokio::task::spawn_blocking(move || {
                let mut w = sink.into_writer(column(None));
                let mut n = 0;
                while w.begin_row() == Flow::More {
                    w.int(n).unwrap();
                    n += 1;
                    if w.end_row_blocking().unwrap() == Flow::Stop {
                        break;
                    }
                }
                ended.send(n).unwrap();
            });
            task.await.unwrap();
            Ok(Ok(()))
        })
    });
    rows.next().await.unwrap().unwrap();
    drop(rows);
    let rows = tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap().unwrap();
    assert!(rows >= 8_192);
}

#[tokio::test]
async fn too_few_or_too_many_values_are_an_error_of_the_dialect() {
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(FREE, call, |sink, _| {
        Box::pin(async move {
            let mut w = sink.into_writer(column(None));
            _ = w.begin_row();
            _ = w.end_row().await?;
            Ok(Ok(()))
        })
    });
    assert_eq!(rows.next().await.unwrap_err().kind(), ErrorKind::Internal);
}

#[tokio::test]
async fn spare_room_in_arrays_is_not_counted_as_bytes_of_the_result() {
    // A builder has room for a whole batch; one row of 100 numbers is still less than a kilobyte.
    let limits = SinkLimits { bytes: Some(10 << 10), ..FREE };
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(limits, call, |sink, _| {
        Box::pin(async move {
            let columns = (0..100).map(|_| ColumnSpec { name: "c".into(), declared: None }).collect();
            let mut w = sink.into_writer(columns);
            assert_eq!(w.begin_row(), Flow::More);
            for n in 0..100 {
                w.int(n)?;
            }
            assert_eq!(w.end_row().await?, Flow::More);
            w.finish().await?;
            Ok(Ok(()))
        })
    });
    assert_eq!(rows.next().await.unwrap().unwrap().num_rows(), 1);
    assert!(rows.next().await.unwrap().is_none());
    let ending = rows.ending();
    assert!(ending.is_complete() && ending.bytes < 2_000, "{ending:?}");
}

/// Batches without end from a driver that waits for each, and leaves stopping to the sink.
async fn trickle(mut sink: Sink) -> Result<crate::session::Outcome<()>> {
    let schema =
        Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new("n", DataType::Int64, true)]));
    sink.begin(Arc::clone(&schema));
    loop {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let column = Arc::new(arrow_array::Int64Array::from(vec![1]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
        if sink.push(batch).await? == Flow::Stop {
            return Ok(Ok(()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_source_stops_when_the_call_is_over() {
    for cancelled in [true, false] {
        let call = CallContext::within(Duration::from_secs(5));
        let mut rows = Rows::start(FREE, call.clone(), |sink, _| Box::pin(trickle(sink)));
        rows.next().await.unwrap().unwrap();
        if cancelled {
            call.cancel.cancel();
        }
        let mut after = 0;
        let error = loop {
            match rows.next().await {
                Ok(Some(_)) => after += 1,
                Ok(None) => panic!("taken for complete"),
                Err(e) => break e,
            }
            assert!(after < 1_000, "it does not stop");
        };
        assert_eq!(error.kind(), if cancelled { ErrorKind::Cancelled } else { ErrorKind::Timeout });
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_ignores_every_stop_is_dropped_although_it_is_never_idle() {
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(FREE, call.clone(), |mut sink, _| {
        Box::pin(async move {
            let schema = Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
                "n",
                DataType::Int64,
                true,
            )]));
            sink.begin(Arc::clone(&schema));
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let column = Arc::new(arrow_array::Int64Array::from(vec![1]));
                let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
                _ = sink.push(batch).await;
            }
        })
    });
    rows.next().await.unwrap().unwrap();
    call.cancel.cancel();
    let ended = async { while let Ok(Some(_)) = rows.next().await {} };
    tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
    // After an error there is nothing more, and asking again does not hang.
    assert!(tokio::time::timeout(Duration::from_secs(30), rows.next()).await.unwrap().unwrap().is_none());
}

#[tokio::test]
async fn the_cap_on_one_value_holds_for_views_of_texts_too() {
    let call = CallContext::within(Duration::from_secs(60));
    let mut rows = Rows::start(SinkLimits { cell_bytes: 20, ..FREE }, call, |mut sink, _| {
        Box::pin(async move {
            let array = arrow_array::StringViewArray::from(vec!["x".repeat(21)]);
            let schema = Arc::new(arrow_schema::Schema::new(vec![arrow_schema::Field::new(
                "c",
                DataType::Utf8View,
                true,
            )]));
            sink.begin(Arc::clone(&schema));
            let batch = RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap();
            sink.push(batch).await.map(|_| Ok(()))
        })
    });
    assert_eq!(rows.next().await.unwrap_err().kind(), ErrorKind::TooLarge);
}
