//! Every call into Rust that takes time goes through [`run`]; every other one that does
//! more than hand something over goes through [`at_once`].
//!
//! The work runs on a worker thread while the calling thread, detached from the
//! interpreter, wakes a few times a second to let Python deliver signals and to
//! pass progress on. A signal cancels the work; the worker is joined before
//! anything is raised, so nothing is left running and no input is still read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use ndarray::Array2;
use numpy::IntoPyArray;
use pyo3::prelude::*;

use super::errors::{emit, internal, raise};
use crate::context::{Ctx, Watch};
use crate::error::Result;

/// How often signals are looked at.
const SIGNAL_PERIOD: Duration = Duration::from_millis(20);
/// How often progress is passed on.
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

/// The circumstances of one call.
pub struct Job {
    threads: usize,
    seed: u64,
    progress: Option<Py<PyAny>>,
    memory_limit: Option<u64>,
    callback: Option<Py<PyAny>>,
}

impl Job {
    /// A job on `threads` threads that reports to `progress`.
    pub fn new(threads: usize, progress: Option<Py<PyAny>>) -> Self {
        Job { threads, seed: 0, progress, memory_limit: None, callback: None }
    }

    /// With this seed.
    pub fn seed(self, seed: u64) -> Self {
        Job { seed, ..self }
    }

    /// With a function of Python's that is shown maps while they are optimised.
    pub fn callback(self, callback: Option<Py<PyAny>>) -> Self {
        Job { callback, ..self }
    }

    /// With this ceiling on memory.
    pub fn memory_limit(self, memory_limit: Option<u64>) -> Self {
        Job { memory_limit, ..self }
    }
}

/// A map on its way to Python: iteration, cost, coordinates, and where the answer goes.
struct Looked {
    iteration: usize,
    cost: f64,
    embedding: Array2<f64>,
    answer: Sender<bool>,
}

/// What the worker says to the thread that waits for it.
enum Event {
    Looked(Looked),
    Ended,
}

/// Says that the worker has ended, however it did.
struct Ending(Sender<Event>);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Ended);
    }
}

/// How the work ended.
enum Outcome<T> {
    Done(Result<T>, Vec<crate::error::Warning>),
    Interrupted(PyErr),
    Broken(String),
}

/// Do `work` away from the interpreter; raise what it or a signal handler raises.
pub fn run<T: Send>(py: Python<'_>, job: Job, work: impl FnOnce(&Ctx) -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| supervise(job, work)) {
        Outcome::Done(Ok(value), warnings) => emit(py, &warnings).map(|()| value),
        Outcome::Done(Err(error), _) => Err(raise(py, error)),
        Outcome::Interrupted(error) => Err(error),
        Outcome::Broken(detail) => Err(internal(&detail)),
    }
}

/// Do `work` that is over at once, here and now: raise what it raises, a panic as
/// `InternalError` too.
pub fn at_once<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| raise(py, error)),
        Err(panic) => Err(internal(&describe(&*panic))),
    }
}

fn supervise<T: Send>(job: Job, work: impl FnOnce(&Ctx) -> Result<T> + Send) -> Outcome<T> {
    let mut ctx = Ctx::new(job.threads, job.seed);
    if let Some(bytes) = job.memory_limit {
        ctx = ctx.with_memory_limit(bytes);
    }
    let (events, done) = channel::<Event>();
    if job.callback.is_some() {
        let events = events.clone();
        // The function is called by the thread that called us; the worker waits for its answer.
        ctx = ctx.with_observer(move |map| {
            let (answer, answered) = channel();
            let embedding = map.embedding.to_owned();
            let looked = Looked { iteration: map.iteration, cost: map.cost, embedding, answer };
            events.send(Event::Looked(looked)).is_ok() && answered.recv().unwrap_or(false)
        });
    }
    let ctx = &ctx;
    std::thread::scope(|scope| {
        let worker = Builder::new().name("planish".into()).spawn_scoped(scope, move || {
            let _ends = Ending(events);
            // Whatever the work does in parallel, it does in this call's own threads.
            ctx.install(|| work(ctx))
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(fault) => return Outcome::Broken(format!("no thread could be started: {fault}")),
        };
        let interrupted = watch(&done, &ctx.watch(), &job).err();
        match (worker.join(), interrupted) {
            (_, Some(error)) => Outcome::Interrupted(error),
            (Ok(result), None) => Outcome::Done(result, ctx.take_warnings()),
            (Err(panic), None) => Outcome::Broken(describe(&*panic)),
        }
    })
}

/// Wait for the worker; an exception from Python stops it.
fn watch(done: &Receiver<Event>, work: &Watch, job: &Job) -> PyResult<()> {
    let mut reported = Instant::now();
    loop {
        let event = match done.recv_timeout(SIGNAL_PERIOD) {
            Ok(Event::Ended) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Event::Looked(looked)) => Some(looked),
            Err(RecvTimeoutError::Timeout) => None,
        };
        let due = reported.elapsed() >= PROGRESS_PERIOD;
        let answer = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(looked), Some(callback)) = (event, &job.callback) {
                show(py, looked, callback)?;
            }
            if let (Some(report), true) = (&job.progress, due) {
                let now = work.progress();
                report.call1(py, (now.stage, now.done, now.total))?;
            }
            Ok(())
        });
        if due {
            reported = Instant::now();
        }
        if let Err(error) = answer {
            work.cancel();
            return Err(error);
        }
    }
}

/// Show a map to a function of Python's: something true ends the optimisation.
fn show(py: Python<'_>, looked: Looked, callback: &Py<PyAny>) -> PyResult<()> {
    let embedding = looked.embedding.into_pyarray(py);
    let ends = callback.call1(py, (looked.iteration, looked.cost, embedding))?.is_truthy(py)?;
    // A worker that was stopped meanwhile does not listen any more.
    let _ = looked.answer.send(!ends);
    Ok(())
}

fn describe(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".into())
}
