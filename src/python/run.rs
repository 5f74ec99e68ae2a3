//! Every call into Rust that takes time goes through [`run`]; every other one that does
//! more than hand something over goes through [`at_once`].
//!
//! The work runs on a worker thread while the calling thread, detached from the
//! interpreter, wakes a few times a second to let Python deliver signals and to
//! pass progress on. A signal cancels the work; the worker is joined before
//! anything is raised, so nothing is left running and no input is still read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

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
}

impl Job {
    /// A job on `threads` threads that reports to `progress`.
    pub fn new(threads: usize, progress: Option<Py<PyAny>>) -> Self {
        Job { threads, seed: 0, progress, memory_limit: None }
    }

    /// With this seed.
    pub fn seed(self, seed: u64) -> Self {
        Job { seed, ..self }
    }

    /// With this ceiling on memory.
    pub fn memory_limit(self, memory_limit: Option<u64>) -> Self {
        Job { memory_limit, ..self }
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
    let ctx = &ctx;
    std::thread::scope(|scope| {
        let (finished, done) = channel::<()>();
        let worker = Builder::new().name("planish".into()).spawn_scoped(scope, move || {
            let _dropped_at_the_end = finished;
            // Whatever the work does in parallel, it does in this call's own threads.
            ctx.install(|| work(ctx))
        });
        let worker = match worker {
            Ok(worker) => worker,
            Err(fault) => return Outcome::Broken(format!("no thread could be started: {fault}")),
        };
        let interrupted = watch(&done, &ctx.watch(), job.progress.as_ref()).err();
        match (worker.join(), interrupted) {
            (_, Some(error)) => Outcome::Interrupted(error),
            (Ok(result), None) => Outcome::Done(result, ctx.take_warnings()),
            (Err(panic), None) => Outcome::Broken(describe(&*panic)),
        }
    })
}

/// Wait for the worker; an exception from Python stops it.
fn watch(done: &Receiver<()>, work: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let mut reported = Instant::now();
    loop {
        match done.recv_timeout(SIGNAL_PERIOD) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let due = reported.elapsed() >= PROGRESS_PERIOD;
        let answer = Python::attach(|py| {
            py.check_signals()?;
            if let (Some(report), true) = (progress, due) {
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

fn describe(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".into())
}
