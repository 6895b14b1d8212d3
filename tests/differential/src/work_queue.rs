//! `WorkQueue` against client-go's rate-limited, delaying queue, on virtual time.
//!
//! Done comes with Forget or with a retry, since ours is a guard. What differs, by the glossary:
//! - failures are counted for as long as an item waits or runs, so those of a closed queue go with
//!   what it drops (upstream's limiter counts on, also for items that are no longer added);
//! - a drain is over when nothing is queued either (upstream's when nothing runs), and while it
//!   lasts a worker waits for what runs and was added again (upstream's is told to stop);
//! - a drain after a plain shutdown is over at once (upstream's waits for what runs).

use crate::limiter::LimiterConfig;
use crate::replayer::{LineError, Replayer, Step};
use futures_util::FutureExt;
use kubist_workqueue::{Config, Work, WorkQueue};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Items have these names: `i0` and so on.
const ITEMS: usize = 6;

pub(crate) struct Replay {
    /// Its clock stands still but for `sleep`.
    runtime: Runtime,
    queue: WorkQueue<String>,
    /// What workers have.
    held: Vec<Work<String>>,
    mode: Mode,
    /// Whether anybody asked for a drain.
    drains: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Open,
    Draining,
    ShutDown,
}

#[derive(Deserialize)]
struct Made {
    limiter: LimiterConfig,
}

#[derive(Deserialize)]
struct Finish {
    item: String,
    how: String,
    #[serde(default)]
    wait: u64,
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let limiter = Made::deserialize(config)?.limiter.limiter()?;
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without I/O needs nothing of the system");
        let queue = runtime.block_on(async {
            WorkQueue::new(Config {
                limiter,
                ..Config::default()
            })
        });
        Ok(Self {
            runtime,
            queue,
            held: Vec::new(),
            mode: Mode::Open,
            drains: false,
        })
    }

    fn next(&mut self) -> Value {
        match self.queue.next().now_or_never() {
            None => "nothing".into(),
            Some(None) => json!({ "again": self.again() }),
            Some(Some(work)) => {
                let got = json!({ "item": *work, "failures": self.queue.failures(&work) });
                self.held.push(work);
                got
            }
        }
    }

    fn finish(&mut self, step: &Step) -> Result<(), LineError> {
        let Finish { item, how, wait } = step.input()?;
        let place = self.held.iter().position(|work| **work == item);
        let Some(place) = place else {
            // The state shows that nothing was finished.
            return Ok(());
        };
        let work = self.held.remove(place);
        match how.as_str() {
            "succeed" => work.succeed(),
            "fail" => work.fail(),
            "requeue" => work.requeue_after(Duration::from_nanos(wait)),
            _ => return Err(LineError::UnknownConfig(how)),
        }
        Ok(())
    }

    /// How many items run and were added again.
    fn again(&self) -> usize {
        self.queue.stats().depth - self.queue.len()
    }

    fn state(&self) -> Value {
        let stats = self.queue.stats();
        let failures: Vec<u32> = (0..ITEMS)
            .map(|item| self.queue.failures(&format!("i{item}")))
            .collect();
        let mut state = json!({
            "len": self.queue.len(), "failures": failures, "processing": stats.processing,
            "again": self.again(), "depth": stats.depth, "adds": stats.adds,
            "retries": stats.retries, "closed": self.queue.is_shut_down(),
        });
        if self.drains {
            let drained = self.queue.shut_down_with_drain().now_or_never().is_some();
            state["drained"] = drained.into();
        }
        state
    }

    fn operate(&mut self, step: &Step) -> Result<Value, LineError> {
        match step.op.as_str() {
            "add" => self.queue.add(step.input()?),
            "add-after" => {
                let wait = Duration::from_nanos(step.member("wait")?);
                self.queue.add_after(step.member("item")?, wait);
            }
            "add-rate-limited" => self.queue.add_rate_limited(step.input()?),
            "get" => return Ok(self.next()),
            "finish" => self.finish(step)?,
            "forget" => self.queue.forget(&step.input()?),
            "state" => return Ok(self.state()),
            "shut-down" => {
                self.queue.shut_down();
                self.mode = Mode::ShutDown;
            }
            "drain" => {
                // It goes on draining when the future is dropped.
                self.queue.shut_down_with_drain().now_or_never();
                if self.mode == Mode::Open {
                    self.mode = Mode::Draining;
                }
                self.drains = true;
            }
            _ => return step.unknown(),
        }
        Ok(Value::Null)
    }
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        if step.op == "sleep" {
            let span = Duration::from_nanos(step.input()?);
            self.runtime.block_on(tokio::time::advance(span));
            return Ok(Value::Null);
        }
        let handle = self.runtime.handle().clone();
        // What is polled here must not find the clock running.
        handle.block_on(async { self.operate(step) })
    }

    fn expected(&mut self, step: &Step, ours: &Value) -> Value {
        let mut expected = step.theirs.clone();
        if self.mode == Mode::Open {
            return expected;
        }
        // An item that is closed out has no count any more.
        if expected.get("failures").is_some() {
            expected["failures"] = ours["failures"].clone();
        }
        let drains = self.mode == Mode::Draining;
        match step.op.as_str() {
            "get" if drains && expected["again"].as_u64() > Some(0) => return "nothing".into(),
            "state" if drains => {
                let rests = expected["len"] == 0 && expected["processing"] == 0;
                expected["drained"] = (expected["drained"] == true && rests).into();
            }
            "state" if self.drains => expected["drained"] = true.into(),
            _ => {}
        }
        expected
    }
}
