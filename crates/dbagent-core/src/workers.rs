//! Threads that may block or recurse deeply, kept from one piece of work to the next.
//!
//! For authors of a dialect whose engine runs inside the process. An engine keeps memory for each thread that
//! it meets, so its first statement on a new one can cost several times the statement itself; and a stack of
//! known size is what keeps a deeply nested text from ending the process.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

use tokio::sync::oneshot;

/// How long a thread is kept without work, where nothing speaks for another time: long enough for the pauses
/// between the questions of a person, and not for ever after a busy hour.
pub const IDLE: Duration = Duration::from_secs(60);

/// Threads with stacks of one size. One that has had nothing to do for a while ends; the others do when this
/// is dropped and their work is done.
#[derive(Clone)]
pub struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    stack_bytes: usize,
    patience: Duration,
    /// Those that wait, the one that has waited least at the end: it is the next to work, so that threads
    /// beyond what is needed are left alone, and end.
    idle: Mutex<Vec<(ThreadId, Sender<Order>)>>,
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
    /// None yet; each is made when work finds no other free, and ends after `patience` without work. Threads
    /// bear the name.
    pub fn new(name: impl Into<String>, stack_bytes: usize, patience: Duration) -> Self {
        let shared = Shared { name: name.into(), stack_bytes, patience, idle: Mutex::default() };
        Self { shared: Arc::new(shared) }
    }

    /// Begins work on a thread of its own. With `keep` the thread waits for more afterwards, with all of its
    /// stack that was ever touched; without, it ends.
    ///
    /// `held` is dropped once the thread can be found again, also where the work panics: a permit for as many
    /// pieces of work as there should be threads, so that whoever takes it next finds that thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start<T: Send + 'static>(
        &self,
        keep: bool,
        held: impl Send + 'static,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Outcome<T>> {
        let (sender, outcome) = oneshot::channel();
        let job: Job = Box::new(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            Box::new(move || {
                drop(held);
                // A receiver that is gone gave up; the outcome matters to nobody.
                _ = sender.send(done);
            })
        });
        let free = self.shared.idle().pop();
        let job = match free {
            Some((_, worker)) => match worker.send(Order { job, keep, own: worker.clone() }) {
                Ok(()) => return Ok(outcome),
                // It is gone, for whatever reason: another does it.
                Err(SendError(order)) => order.job,
            },
            None => job,
        };
        let (worker, orders) = channel();
        let (shared, patience) = (Arc::downgrade(&self.shared), self.shared.patience);
        let builder = thread::Builder::new().name(self.shared.name.clone());
        builder.stack_size(self.shared.stack_bytes).spawn(move || serve(&shared, patience, &orders))?;
        let own = worker.clone();
        worker.send(Order { job, keep, own }).map_err(|_| io::Error::other("a thread ended at once"))?;
        Ok(outcome)
    }
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<(ThreadId, Sender<Order>)>> {
        // Nobody panics while holding it.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a thread off the list. Not there, somebody has it, and is about to send work.
    fn leave(&self, thread: ThreadId) -> bool {
        let mut idle = self.idle();
        let found = idle.iter().position(|(id, _)| *id == thread);
        found.map(|index| idle.remove(index)).is_some()
    }
}

/// The life of a thread.
fn serve(shared: &Weak<Shared>, patience: Duration, orders: &Receiver<Order>) {
    let own_id = thread::current().id();
    loop {
        let order = match orders.recv_timeout(patience) {
            Ok(order) => order,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => match shared.upgrade() {
                Some(shared) if !shared.leave(own_id) => continue,
                _ => return,
            },
        };
        let hand_over = (order.job)();
        // First back among the others, so that whoever waits for the outcome finds it there.
        match shared.upgrade() {
            Some(shared) if order.keep => shared.idle().push((own_id, order.own)),
            _ => drop(order.own),
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
            // Of a thread that outlives its test, nobody wants to know.
            _ = self.0.send(thread::current().id());
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
        workers.start(keep, (), work).unwrap().await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn work_after_work_is_done_by_the_same_thread() {
        let (sender, ended) = mpsc::channel();
        let workers = Workers::new("test", STACK, IDLE);
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
        let workers = Workers::new("test", STACK, IDLE);
        let barrier = Arc::new(std::sync::Barrier::new(2));
        let meet = || {
            let barrier = Arc::clone(&barrier);
            workers.start(true, (), move || {
                barrier.wait();
                thread::current().id()
            })
        };
        let (one, other) = (meet().unwrap(), meet().unwrap());
        assert_ne!(one.await.unwrap().unwrap(), other.await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn a_panic_is_an_outcome_and_the_thread_goes_on() {
        let workers = Workers::new("test", STACK, IDLE);
        let first = workers.start(true, (), || thread::current().id()).unwrap().await.unwrap().unwrap();
        assert!(workers.start(true, (), || panic!("on purpose")).unwrap().await.unwrap().is_err());
        assert_eq!(
            workers.start(true, (), || thread::current().id()).unwrap().await.unwrap().unwrap(),
            first
        );
    }

    #[tokio::test]
    async fn work_outlives_whoever_ordered_it() {
        let workers = Workers::new("test", STACK, IDLE);
        let (go, wait) = mpsc::channel::<()>();
        let outcome = workers.start(true, (), move || wait.recv().is_ok()).unwrap();
        drop(workers);
        go.send(()).unwrap();
        assert!(outcome.await.unwrap().unwrap());
    }

    #[tokio::test]
    async fn a_thread_without_work_ends() {
        let (sender, ended) = mpsc::channel();
        let workers = Workers::new("test", STACK, Duration::from_millis(1));
        let first = worker(&workers, true, &sender).await;
        assert_eq!(ended.recv().unwrap(), first);
        assert!(workers.shared.idle().is_empty());
        assert_ne!(worker(&workers, true, &sender).await, first);
    }

    #[tokio::test]
    async fn no_work_is_lost_to_a_thread_that_is_about_to_end() {
        let (sender, ended) = mpsc::channel();
        let workers = Workers::new("test", STACK, Duration::from_millis(5));
        let (found, own) = loop {
            worker(&workers, true, &sender).await;
            // Somebody has found it, and takes long to send work.
            if let Some(found) = workers.shared.idle().pop() {
                break found;
            }
        };
        // Others lose their patience meanwhile; it has less of it.
        for _ in 0..3 {
            let other = worker(&workers, true, &sender).await;
            assert_eq!(ended.iter().find(|id| *id == other), Some(other));
        }
        let (done, outcome) = mpsc::channel();
        let job: Job = Box::new(move || {
            done.send(thread::current().id()).unwrap();
            Box::new(|| ())
        });
        assert!(own.send(Order { job, keep: false, own: own.clone() }).is_ok());
        drop(own);
        assert_eq!(outcome.recv().unwrap(), found);
        // Threads that lose patience at once, met by work at every moment of that.
        let hasty = Workers::new("test", STACK, Duration::ZERO);
        for n in 0..2_000 {
            assert_eq!(hasty.start(true, (), move || n).unwrap().await.unwrap().unwrap(), n);
        }
    }

    /// Says when dropped how many threads could be found.
    struct Permit(Arc<Shared>, mpsc::Sender<usize>);

    impl Drop for Permit {
        fn drop(&mut self) {
            self.1.send(self.0.idle().len()).unwrap();
        }
    }

    #[tokio::test]
    async fn what_is_held_is_given_back_when_the_thread_can_be_found_again() {
        let workers = Workers::new("test", STACK, IDLE);
        let (sender, found) = mpsc::channel();
        let permit = || Permit(Arc::clone(&workers.shared), sender.clone());
        assert!(workers.start(true, permit(), || ()).unwrap().await.unwrap().is_ok());
        assert!(workers.start(true, permit(), || panic!("on purpose")).unwrap().await.unwrap().is_err());
        // Nobody waits for this one.
        drop(workers.start(true, permit(), || ()).unwrap());
        assert_eq!(found.iter().take(3).collect::<Vec<_>>(), [1, 1, 1]);
        // A thread that ends is never found.
        assert!(workers.start(false, permit(), || ()).unwrap().await.unwrap().is_ok());
        assert_eq!(found.recv().unwrap(), 0);
    }
}
