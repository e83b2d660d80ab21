//! The queue between a writer and a reader: bounded in bytes, usable from async and blocking code.
//!
//! Waking a thread costs about as much as an engine needs for a batch. So a reader that has just taken
//! something is woken for several batches at once, and a writer that waits for room once there is room for
//! several; nothing is kept from a reader that has waited longer than a moment.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use arrow_array::RecordBatch;
use tokio::sync::Notify;

use crate::context::CallContext;

/// How often a blocked writer looks whether the call is over: cancellation has no other way to wake it.
const LOOK: Duration = Duration::from_millis(20);
/// How long a reader waits for several batches before it takes what there is.
const MOMENT: Duration = Duration::from_millis(2);

#[derive(Default)]
struct State {
    batches: VecDeque<(RecordBatch, usize)>,
    bytes: usize,
    reader_gone: bool,
    writer_done: bool,
    reader: Option<Waiting>,
    /// Threads that wait for room.
    blocked: usize,
}

/// A reader that waits.
struct Waiting {
    waker: Waker,
    /// For as many bytes as are worth waking it.
    bytes: usize,
}

impl State {
    /// Takes the reader, if what is there is worth waking it.
    fn reader_for(&mut self, bytes: usize) -> Option<Waker> {
        self.reader.take_if(|reader| bytes >= reader.bytes).map(|reader| reader.waker)
    }
}

pub(super) struct Queue {
    state: Mutex<State>,
    capacity: usize,
    room: Condvar,
    room_async: Notify,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), capacity, room: Condvar::new(), room_async: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while holding the lock leaves a consistent state: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody will read what is pushed.
    pub(super) fn is_closed(&self, call: &CallContext) -> bool {
        self.lock().reader_gone || call.is_over()
    }

    /// Adds a batch if it fits, else wakes the reader, to make room; the batch comes back then.
    fn add(&self, mut state: MutexGuard<'_, State>, batch: RecordBatch, bytes: usize) -> Option<RecordBatch> {
        let fits = state.batches.is_empty() || state.bytes + bytes <= self.capacity;
        let (left, reader) = if fits {
            state.bytes += bytes;
            state.batches.push_back((batch, bytes));
            let there = state.bytes;
            (None, state.reader_for(there))
        } else {
            (Some(batch), state.reader_for(usize::MAX))
        };
        // Whoever is woken would wait for the lock.
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        left
    }

    /// Waits for room and pushes. `false` means stop: the reader is gone or the call is over.
    pub(super) async fn push(&self, mut batch: RecordBatch, bytes: usize, call: &CallContext) -> bool {
        loop {
            let room = self.room_async.notified();
            {
                let state = self.lock();
                if state.reader_gone || call.is_over() {
                    return false;
                }
                match self.add(state, batch, bytes) {
                    None => return true,
                    Some(left) => batch = left,
                }
            }
            if call.bound("push", room).await.is_err() {
                return false;
            }
        }
    }

    /// The same from a thread that may block.
    pub(super) fn push_blocking(&self, mut batch: RecordBatch, bytes: usize, call: &CallContext) -> bool {
        let mut state = self.lock();
        loop {
            if state.reader_gone || call.is_over() {
                return false;
            }
            match self.add(state, batch, bytes) {
                None => return true,
                Some(left) => batch = left,
            }
            // Between the two there may have come room; then nobody speaks of it.
            state = self.lock();
            if state.bytes + bytes > self.capacity && !state.batches.is_empty() && !state.reader_gone {
                state.blocked += 1;
                state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                state.blocked -= 1;
            }
        }
    }

    /// Takes the next batch, if there is one.
    fn take(&self, state: &mut State) -> Option<RecordBatch> {
        let (batch, bytes) = state.batches.pop_front()?;
        state.bytes -= bytes;
        if state.blocked > 0 && (state.bytes <= self.capacity / 2 || state.batches.is_empty()) {
            self.room.notify_all();
        }
        self.room_async.notify_one();
        Some(batch)
    }

    /// The next batch, if there is one already.
    pub(super) fn pop_ready(&self) -> Option<RecordBatch> {
        self.take(&mut self.lock())
    }

    /// The next batch; `None` once the writer is done and everything was taken.
    pub(super) async fn pop(&self) -> Option<RecordBatch> {
        let mut moment = pin!(tokio::time::sleep(MOMENT));
        let mut passed = false;
        poll_fn(|cx| {
            passed = passed || moment.as_mut().poll(cx).is_ready();
            self.poll_pop(cx, if passed { 1 } else { self.capacity / 2 })
        })
        .await
    }

    fn poll_pop(&self, cx: &Context<'_>, worth: usize) -> Poll<Option<RecordBatch>> {
        let mut state = self.lock();
        let taken = self.take(&mut state);
        if taken.is_some() || state.writer_done {
            return Poll::Ready(taken);
        }
        state.reader = Some(Waiting { waker: cx.waker().clone(), bytes: worth });
        Poll::Pending
    }

    /// The writer will push no more.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.writer_done = true;
        let reader = state.reader_for(usize::MAX);
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// The reader will take no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.reader_gone = true;
        state.bytes = 0;
        let batches = std::mem::take(&mut state.batches);
        drop(state);
        drop(batches);
        self.room.notify_all();
        self.room_async.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use arrow_array::Int64Array;
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    fn batch(value: i64) -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
        RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![value]))]).unwrap()
    }

    fn value(batch: &RecordBatch) -> i64 {
        arrow_array::cast::AsArray::as_primitive::<arrow_array::types::Int64Type>(batch.column(0)).value(0)
    }

    fn call() -> CallContext {
        CallContext::within(Duration::from_secs(60))
    }

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The clock stands still, so that what wakes the reader is never that a moment has passed.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_just_took_something_is_woken_for_several_batches() {
        let (queue, call) = (Queue::new(100), call());
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let times = || woken.0.load(Ordering::SeqCst);
        let mut reader = pin!(queue.pop());
        assert!(reader.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        for n in 0..4 {
            assert!(queue.push(batch(n), 10, &call).await);
        }
        assert_eq!(times(), 0, "four tenths are not worth it");
        assert!(queue.push(batch(4), 10, &call).await);
        assert_eq!(times(), 1);
        assert!(queue.push(batch(5), 10, &call).await);
        assert_eq!(times(), 1, "it is awake");
        let Poll::Ready(Some(first)) = reader.as_mut().poll(&mut Context::from_waker(&waker)) else {
            panic!("nothing is there");
        };
        assert_eq!(value(&first), 0);
        for n in 1..6 {
            assert_eq!(value(&queue.pop_ready().unwrap()), n);
        }
        assert!(queue.pop_ready().is_none());
        // What does not fit wakes it too, whatever there is, and so does the end.
        for end in [false, true] {
            let mut reader = pin!(queue.pop());
            assert!(reader.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert!(queue.push(batch(6), 10, &call).await);
            let before = times();
            if end {
                queue.finish();
            } else {
                let mut pushing = pin!(queue.push(batch(7), 95, &call));
                assert!(pushing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
            assert_eq!(times(), before + 1);
            assert_eq!(value(&reader.await.unwrap()), 6);
        }
        assert!(queue.pop().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_alone_waits_no_longer_than_a_moment() {
        let (queue, call) = (Queue::new(100), call());
        let begun = tokio::time::Instant::now();
        let (taken, _) = tokio::join!(queue.pop(), queue.push(batch(1), 1, &call));
        assert_eq!(value(&taken.unwrap()), 1);
        assert!(begun.elapsed() <= 2 * MOMENT, "{:?}", begun.elapsed());
        // A reader that has waited that long is woken at once.
        let late = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let pushed = tokio::time::Instant::now();
            assert!(queue.push(batch(2), 1, &call).await);
            pushed
        };
        let (taken, pushed) = tokio::join!(queue.pop(), late);
        assert_eq!((value(&taken.unwrap()), pushed.elapsed()), (2, Duration::ZERO));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_writer_on_a_thread_and_a_reader_lose_and_swap_nothing() {
        const BATCHES: i64 = 20_000;
        let (queue, call) = (Queue::new(100), call());
        let writer = Arc::clone(&queue);
        let writing = tokio::task::spawn_blocking(move || {
            for n in 0..BATCHES {
                // Of every size, also over half of the room and over all of it.
                let bytes = usize::try_from(n % 13 * n % 13).unwrap() + 1;
                assert!(writer.push_blocking(batch(n), bytes, &call));
            }
            writer.finish();
        });
        let mut next = 0;
        while let Some(batch) = queue.pop().await {
            assert_eq!(value(&batch), next);
            next += 1;
        }
        assert_eq!(next, BATCHES);
        writing.await.unwrap();
    }
}
