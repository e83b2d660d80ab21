//! Threads that may block or recurse deeply, kept from one piece of work to the next.
//!
//! For authors of a dialect whose engine runs inside the process. An engine keeps memory for each thread that
//! it meets, so its first statement on a new one can cost several times the statement itself; and a stack of
//! known size is what keeps a deeply nested text from ending the process.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use tokio::sync::oneshot;

/// Threads with stacks of one size. They end when this is dropped and their work is done.
#[derive(Clone)]
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    stack_bytes: usize,
    idle: Mutex<Vec<Sender<Order>>>,
}

/// Work, and the way to the thread that does it: whoever does not hand that on lets the thread end.
struct Order {
    job: Job,
    keep: bool,
    own: Sender<Order>,
}

/// Work, and what is left to do when the thread can be found again: to hand over what came of it.
type Job = Box<dyn FnOnce() -> Box<dyn FnOnce() + Send> + Send>;

/// What came of work: the value, or what it panicked with.
pub type Outcome<T> = oneshot::Receiver<thread::Result<T>>;

impl Workers {
    /// None yet; each is made when work finds no other free. Threads bear the name.
    pub fn new(name: impl Into<String>, stack_bytes: usize) -> Self {
        Self { shared: Arc::new(Shared { name: name.into(), stack_bytes, idle: Mutex::default() }) }
    }

    /// Begins work on a thread of its own. With `keep` the thread waits for more afterwards, with all of its
    /// stack that was ever touched; without, it ends.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start<T: Send + 'static>(
        &self,
        keep: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Outcome<T>> {
        let (sender, outcome) = oneshot::channel();
        let job: Job = Box::new(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            // A receiver that is gone gave up; the outcome matters to nobody.
            Box::new(move || _ = sender.send(done))
        });
        let free = self.shared.idle().pop();
        let job = match free {
            Some(worker) => match worker.send(Order { job, keep, own: worker.clone() }) {
                Ok(()) => return Ok(outcome),
                // It is gone, for whatever reason: another does it.
                Err(SendError(order)) => order.job,
            },
            None => job,
        };
        let (worker, orders) = channel();
        let shared = Arc::downgrade(&self.shared);
        let builder = thread::Builder::new().name(self.shared.name.clone());
        builder.stack_size(self.shared.stack_bytes).spawn(move || serve(&shared, &orders))?;
        let own = worker.clone();
        worker.send(Order { job, keep, own }).map_err(|_| io::Error::other("a thread ended at once"))?;
        Ok(outcome)
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Sender<Order>>> {
        // Nobody panics while holding it.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The life of a thread.
fn serve(shared: &Weak<Shared>, orders: &Receiver<Order>) {
    while let Ok(Order { job, keep, own }) = orders.recv() {
        let hand_over = job();
        // First back among the others, so that whoever waits for the outcome finds it there.
        match shared.upgrade() {
            Some(shared) if keep => shared.idle().push(own),
            _ => drop(own),
        }
        hand_over();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::ThreadId;

    use super::*;

    const STACK: usize = 1 << 20;

    /// Says that a thread ended.
    struct Witness(mpsc::Sender<ThreadId>);

    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).unwrap();
        }
    }

    thread_local! {
        static WITNESS: std::cell::RefCell<Option<Witness>> = const { std::cell::RefCell::new(None) };
    }

    /// The thread that worked, which says when it ends.
    async fn worker(workers: &Workers, keep: bool, ended: &mpsc::Sender<ThreadId>) -> ThreadId {
        let ended = ended.clone();
        let work = move || {
            WITNESS.with_borrow_mut(|witness| _ = witness.get_or_insert_with(|| Witness(ended)));
            thread::current().id()
        };
        workers.start(keep, work).unwrap().await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn work_after_work_is_done_by_the_same_thread() {
        let (sender, ended) = mpsc::channel();
        let workers = Workers::new("test", STACK);
        let first = worker(&workers, true, &sender).await;
        for _ in 0..10 {
            assert_eq!(worker(&workers, true, &sender).await, first);
        }
        // Without `keep` it ends, and the next is another.
        assert_eq!(worker(&workers, false, &sender).await, first);
        assert_eq!(ended.recv().unwrap(), first);
        let second = worker(&workers, true, &sender).await;
        assert_ne!(second, first);
        drop(workers);
        assert_eq!(ended.recv().unwrap(), second);
    }

    #[tokio::test]
    async fn work_at_the_same_time_has_a_thread_each() {
        let workers = Workers::new("test", STACK);
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let meet = || {
            let barrier = Arc::clone(&barrier);
            workers.start(true, move || {
                barrier.wait();
                thread::current().id()
            })
        };
        let (one, other) = (meet().unwrap(), meet().unwrap());
        assert_ne!(one.await.unwrap().unwrap(), other.await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome_and_the_thread_goes_on() {
        let workers = Workers::new("test", STACK);
        let first = workers.start(true, || thread::current().id()).unwrap().await.unwrap().unwrap();
        assert!(workers.start(true, || panic!("on purpose")).unwrap().await.unwrap().is_err());
        assert_eq!(workers.start(true, || thread::current().id()).unwrap().await.unwrap().unwrap(), first);
    }

    #[tokio::test]
    async fn work_outlives_whoever_ordered_it() {
        let workers = Workers::new("test", STACK);
        let (go, wait) = mpsc::channel::<()>();
        let outcome = workers.start(true, move || wait.recv().is_ok()).unwrap();
        drop(workers);
        go.send(()).unwrap();
        assert!(outcome.await.unwrap().unwrap());
    }
}
