//! The queue between a writer and a reader: bounded in bytes, usable from async and blocking code.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use tokio::sync::Notify;

use crate::context::CallContext;

/// How often a blocked writer looks whether the call is over: cancellation has no other way to wake it.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Default)]
struct State {
    batches: VecDeque<(RecordBatch, usize)>,
    bytes: usize,
    reader_gone: bool,
    writer_done: bool,
}

pub(super) struct Queue {
    state: Mutex<State>,
    capacity: usize,
    room: Condvar,
    room_async: Notify,
    filled: Notify,
}

impl Queue {
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            capacity,
            room: Condvar::new(),
            room_async: Notify::new(),
            filled: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while holding the lock leaves a consistent state: every change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, state: &State, bytes: usize) -> bool {
        state.batches.is_empty() || state.bytes + bytes <= self.capacity
    }

    /// Whether nobody will read what is pushed.
    pub(super) fn is_closed(&self, call: &CallContext) -> bool {
        self.lock().reader_gone || call.is_over()
    }

    fn add(&self, state: &mut State, batch: RecordBatch, bytes: usize) {
        // A reader waits only after it saw that there is nothing.
        if state.batches.is_empty() {
            self.filled.notify_one();
        }
        state.bytes += bytes;
        state.batches.push_back((batch, bytes));
    }

    /// Waits for room and pushes. `false` means stop: the reader is gone or the call is over.
    pub(super) async fn push(&self, batch: RecordBatch, bytes: usize, call: &CallContext) -> bool {
        loop {
            let room = self.room_async.notified();
            {
                let mut state = self.lock();
                if state.reader_gone || call.is_over() {
                    return false;
                }
                if self.fits(&state, bytes) {
                    self.add(&mut state, batch, bytes);
                    return true;
                }
            }
            if call.bound("push", room).await.is_err() {
                return false;
            }
        }
    }

    /// The same from a thread that may block.
    pub(super) fn push_blocking(&self, batch: RecordBatch, bytes: usize, call: &CallContext) -> bool {
        let mut state = self.lock();
        loop {
            if state.reader_gone || call.is_over() {
                return false;
            }
            if self.fits(&state, bytes) {
                self.add(&mut state, batch, bytes);
                return true;
            }
            state = self.room.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next batch; `None` once the writer is done and everything was taken.
    pub(super) async fn pop(&self) -> Option<RecordBatch> {
        loop {
            let filled = self.filled.notified();
            {
                let mut state = self.lock();
                if let Some((batch, bytes)) = state.batches.pop_front() {
                    state.bytes -= bytes;
                    self.room.notify_all();
                    self.room_async.notify_one();
                    return Some(batch);
                }
                if state.writer_done {
                    return None;
                }
            }
            filled.await;
        }
    }

    /// The writer will push no more.
    pub(super) fn finish(&self) {
        self.lock().writer_done = true;
        self.filled.notify_one();
    }

    /// The reader will take no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.reader_gone = true;
        state.batches.clear();
        state.bytes = 0;
        drop(state);
        self.room.notify_all();
        self.room_async.notify_one();
    }
}
