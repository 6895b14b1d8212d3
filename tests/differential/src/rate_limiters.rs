//! Rate limiters against client-go's.
//!
//! Expected differences, from the glossary: the caller counts failures (in a queue, the waiting
//! item does), and a bucket counts whole nanoseconds where upstream's counts fractions of tokens,
//! so that its waits may differ by [`ROUNDING`].

use crate::limiter::LimiterConfig;
use crate::replayer::{LineError, Replayer, Step};
use kubist_workqueue::RateLimiter;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most nanoseconds by which waits of a bucket may differ: the precision of sums of doubles.
const ROUNDING: u64 = 100;

pub(crate) struct Replay {
    limiter: Box<dyn RateLimiter<String>>,
    rounds: bool,
    failures: BTreeMap<String, u32>,
    now: Duration,
}

#[derive(Deserialize)]
struct Config {
    limiter: LimiterConfig,
}

impl Replay {
    pub(crate) fn new(config: Value) -> Result<Self, LineError> {
        let Config { limiter } = Config::deserialize(config)?;
        Ok(Self {
            limiter: limiter.limiter()?,
            rounds: limiter.has_bucket(),
            failures: BTreeMap::new(),
            now: Duration::ZERO,
        })
    }

    fn when(&mut self, item: &String) -> Value {
        let failures = self.failures.entry(item.clone()).or_default();
        *failures += 1;
        let wait = self.limiter.delay(item, *failures, self.now);
        u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX).into()
    }
}

impl Replayer for Replay {
    fn perform(&mut self, step: &Step) -> Result<Value, LineError> {
        match step.op.as_str() {
            "when" => return Ok(self.when(&step.input()?)),
            "when-100" => {
                let item = step.input()?;
                return Ok((0..100).map(|_| self.when(&item)).collect());
            }
            "failures" => {
                let failures = self.failures.get(&step.input::<String>()?);
                return Ok(failures.copied().unwrap_or_default().into());
            }
            "forget" => {
                let item: String = step.input()?;
                self.limiter.forget(&item);
                self.failures.remove(&item);
            }
            "sleep" => self.now += Duration::from_nanos(step.input()?),
            _ => return step.unknown(),
        }
        Ok(Value::Null)
    }

    fn expected(&mut self, step: &Step, ours: &Value) -> Value {
        let rounded = |theirs: &Value, ours: &Value| match (theirs.as_u64(), ours.as_u64()) {
            (Some(theirs), Some(ours)) if theirs.abs_diff(ours) <= ROUNDING => ours.into(),
            _ => theirs.clone(),
        };
        match (step.op.as_str(), &step.theirs, ours) {
            ("when", theirs, ours) if self.rounds => rounded(theirs, ours),
            ("when-100", Value::Array(theirs), Value::Array(ours)) if self.rounds => {
                let pairs = theirs.iter().zip(ours);
                pairs.map(|(theirs, ours)| rounded(theirs, ours)).collect()
            }
            _ => step.theirs.clone(),
        }
    }
}
