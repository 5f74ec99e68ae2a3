//! `Ctx` travels with every stage: cancellation, progress, randomness,
//! threads, memory budget. Nothing else in the crate asks the machine for any
//! of them (free memory: through `memory`).
//!
//! Same bits for any number of threads is a promise of the whole crate. It is
//! kept by two habits: parallel loops run over *fixed* chunks (never "one chunk
//! per thread"), and partial sums are added in chunk order.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use ndarray::ArrayView2;
use rand_pcg::Pcg64Mcg;

use crate::error::{Error, Result, Warning, WarningKind};
pub(crate) use crate::memory::available_memory;
use crate::scale::Scale;

/// A flag that asks running work to stop. Clones share the flag.
#[derive(Clone, Default, Debug)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ask the work to stop at its next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where the work is: the name of the stage and how far it has come.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is being done, e.g. `"shortest paths"`.
    pub stage: &'static str,
    /// Steps finished.
    pub done: u64,
    /// Steps in all; 0 when unknown.
    pub total: u64,
}

/// A map while it is being optimised.
#[derive(Debug)]
#[non_exhaustive]
pub struct Snapshot<'a> {
    /// Number of the iteration, from 0.
    pub iteration: usize,
    /// The cost there.
    pub cost: f64,
    /// Coordinates of all rows.
    pub embedding: ArrayView2<'a, f64>,
}

/// Looks at a map now and then; `false` ends the optimisation, with the map as it is.
pub type Observer = dyn Fn(&Snapshot<'_>) -> bool + Send + Sync;

/// Progress as counters that worker threads may bump and a watcher may read.
#[derive(Default, Debug)]
struct Meter {
    stage: Mutex<&'static str>,
    done: AtomicU64,
    total: AtomicU64,
}

/// What every stage gets beside its input: threads, a way to stop, progress, a
/// seed, a memory budget. Clones are handles on the same threads and the same work.
///
/// ```
/// let ctx = planish::Ctx::new(2, 0); // two threads, seed 0
/// assert_eq!(ctx.threads(), 2);
/// ```
#[derive(Clone)]
pub struct Ctx {
    pool: Arc<Pool>,
    cancel: Cancel,
    meter: Arc<Meter>,
    warnings: Arc<Mutex<Vec<Warning>>>,
    seed: u64,
    memory_limit: Option<u64>,
    observer: Option<Arc<Observer>>,
    /// What the lengths of this run were multiplied by, so that messages can give
    /// them in the units of the data.
    lengths: Scale,
}

/// The threads of a context; they end with the last handle.
struct Pool {
    threads: usize,
    pool: Option<rayon::ThreadPool>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

/// A handle by which another thread watches or stops the work of a [`Ctx`].
#[derive(Clone)]
pub struct Watch {
    cancel: Cancel,
    meter: Arc<Meter>,
}

impl Watch {
    /// Ask the work to stop.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Where the work is now.
    pub fn progress(&self) -> Progress {
        let stage = self.meter.stage.lock().unwrap_or_else(|held| held.into_inner());
        let (done, total) =
            (self.meter.done.load(Ordering::Relaxed), self.meter.total.load(Ordering::Relaxed));
        // A total may be an estimate.
        let done = if total > 0 { done.min(total) } else { done };
        Progress { stage: *stage, done, total }
    }
}

impl Default for Ctx {
    /// All cores, seed 0.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ctx::new(threads, 0)
    }
}

impl Ctx {
    /// A context with its own pool of `threads` threads.
    ///
    /// The pool lives as long as the context: nothing outlives the call that
    /// made it, and a forked child simply makes its own. When the system
    /// refuses threads the work runs on one.
    pub fn new(threads: usize, seed: u64) -> Self {
        let threads = threads.max(1);
        let mut handles = Vec::with_capacity(threads);
        let mut build = |count| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(count)
                .spawn_handler(|thread| {
                    let named = std::thread::Builder::new().name(format!("planish-{}", thread.index()));
                    handles.push(named.spawn(|| thread.run())?);
                    Ok(())
                })
                .build()
        };
        // When the system refuses every thread, work runs on the caller's.
        let pool = build(threads).or_else(|_| build(1)).ok();
        Ctx {
            pool: Arc::new(Pool { threads, pool, handles: Mutex::new(handles) }),
            cancel: Cancel::default(),
            meter: Arc::default(),
            warnings: Arc::default(),
            seed,
            memory_limit: None,
            observer: None,
            lengths: Scale::ONE,
        }
    }

    /// The same context with a ceiling on memory instead of what the machine has free.
    pub fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// The same context with someone who looks at maps while they are optimised (t-SNE).
    pub fn with_observer(mut self, observer: impl Fn(&Snapshot<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Who looks at maps while they are optimised.
    pub(crate) fn observer(&self) -> Option<&Observer> {
        self.observer.as_deref()
    }

    /// The handle to watch or stop this work from another thread.
    pub fn watch(&self) -> Watch {
        Watch { cancel: self.cancel.clone(), meter: self.meter.clone() }
    }

    /// A handle for one run on data whose lengths were multiplied by `lengths`,
    /// with warnings of its own.
    pub(crate) fn for_run(&self, lengths: Scale) -> Ctx {
        Ctx { warnings: Arc::default(), lengths, ..self.clone() }
    }

    /// A length of this run in the units of the data, for messages.
    pub(crate) fn data_length(&self, length: f64) -> f64 {
        self.lengths.back(length)
    }

    /// A squared length of this run in the units of the data, for messages.
    pub(crate) fn data_square(&self, square: f64) -> f64 {
        self.lengths.back_squared(square)
    }

    /// Run a caller's `work` in this context's threads. A request to stop is forgotten
    /// once it has been answered: the context is ready for the next call.
    pub(crate) fn answer<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let result = self.install(work);
        if matches!(result, Err(Error::Cancelled)) {
            self.cancel.0.store(false, Ordering::Relaxed);
        }
        result
    }

    /// Number of threads the work may use.
    pub fn threads(&self) -> usize {
        self.pool.threads
    }

    /// Run `work` inside this context's pool: rayon calls within use its threads.
    ///
    /// Nothing in the crate may call rayon outside: that would start the
    /// process-wide pool, whose threads never leave and do not survive a fork.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// `Err(Cancelled)` once a stop was asked for. Stages call it at least
    /// every few milliseconds of work.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Whether a stop was asked for (for loops that cannot return early).
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Announce a stage of `total` steps (0: unknown). An optimiser announces its
    /// iterations as steps.
    pub(crate) fn stage(&self, name: &'static str, total: usize) {
        let mut stage = self.meter.stage.lock().unwrap_or_else(|held| held.into_inner());
        *stage = name;
        self.meter.done.store(0, Ordering::Relaxed);
        self.meter.total.store(total as u64, Ordering::Relaxed);
    }

    /// Estimate anew how many steps the current stage has in all.
    pub(crate) fn expect(&self, total: usize) {
        self.meter.total.store(total as u64, Ordering::Relaxed);
    }

    /// Report `steps` more steps of the current stage done.
    pub(crate) fn advance(&self, steps: usize) {
        self.meter.done.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// A random stream of its own for `purpose`; the same seed and purpose
    /// always give the same numbers, whatever else was drawn.
    pub(crate) fn stream(&self, purpose: &str) -> Pcg64Mcg {
        // FNV-1a turns the purpose into a number that never changes between versions.
        let tag = purpose.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Pcg64Mcg::new((u128::from(self.seed) << 64) | u128::from(tag))
    }

    /// Note something the user should hear about.
    pub(crate) fn warn(&self, kind: WarningKind, message: impl Into<String>) {
        self.warnings
            .lock()
            .unwrap_or_else(|held| held.into_inner())
            .push(Warning { kind, message: message.into() });
    }

    /// Take over warnings of another run.
    pub(crate) fn extend_warnings(&self, more: &[Warning]) {
        self.warnings.lock().unwrap_or_else(|held| held.into_inner()).extend_from_slice(more);
    }

    /// Take the warnings of the calls made with this context so far. Those of a fit
    /// are in its result too.
    pub fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(|held| held.into_inner()))
    }

    /// Refuse a job whose largest moment needs more memory than there is.
    ///
    /// Called before the memory is taken; small jobs are let through without
    /// asking the system.
    pub(crate) fn reserve(&self, need: u64, what: &str, hint: &str) -> Result<()> {
        const TOO_SMALL_TO_ASK: u64 = 64 << 20;
        if self.memory_limit.is_none() && need < TOO_SMALL_TO_ASK {
            return Ok(());
        }
        let available = self.memory_limit.unwrap_or_else(available_memory);
        if need > available {
            return Err(Error::Memory { what: what.to_string(), need, available, hint: hint.to_string() });
        }
        Ok(())
    }
}

impl Drop for Pool {
    /// The pool's threads are gone when the context is: rayon only asks them to
    /// leave, so they are joined here. They have nothing left to do.
    fn drop(&mut self) {
        self.pool = None;
        let own = std::thread::current().id();
        let handles = std::mem::take(self.handles.get_mut().unwrap_or_else(|held| held.into_inner()));
        for thread in handles.into_iter().filter(|thread| thread.thread().id() != own) {
            // A thread that panicked has said so to whoever waited for its work.
            let _ = thread.join();
        }
    }
}
