//! `Pulse`: signs of life of a server, and whether its world is stuck.
//!
//! A loop that never ends keeps virtual time from passing, so no time limit would end a wait. What
//! is stuck is therefore noticed by counting, or by the watchdog in real time, and every wait ends
//! with the reason.

use kubist::apimachinery::Str;
use kubist::apiserver::ObservedRequest;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often more creates than other requests may be repeated: tests create many objects at once.
const CREATES_FACTOR: u64 = 40;
/// The paths that are counted at one moment; more are not.
const PATHS_MAX: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Pulse {
    /// Whether time is virtual, so that a loop stops it.
    is_virtual: bool,
    /// Requests of one verb and path at one moment of virtual time.
    repeats_max: u64,
    state: Mutex<State>,
    stuck: CancellationToken,
    /// The server is gone.
    has_ended: AtomicBool,
    /// The runtime of a stuck server in real time works: its test waits for something of its own.
    is_noticed: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    requests: u64,
    /// The date of the last request.
    date: Duration,
    /// The requests at that date.
    at_once: BTreeMap<(&'static str, Str), u64>,
    last: String,
    reason: Option<String>,
}

/// What a server has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) requests: u64,
    /// The date of the last request.
    pub(crate) date: Duration,
    /// The last request.
    pub(crate) last: String,
}

impl Pulse {
    pub(crate) fn new(is_virtual: bool, repeats_max: u64) -> Self {
        Self {
            is_virtual,
            repeats_max,
            state: Mutex::default(),
            stuck: CancellationToken::new(),
            has_ended: AtomicBool::new(false),
            is_noticed: AtomicBool::new(false),
        }
    }

    /// Counts a request.
    pub(crate) fn beat(&self, request: &ObservedRequest<'_>) {
        let mut state = self.state.lock();
        state.requests += 1;
        let agent = request.user_agent;
        state.last = format!("{} {} by {agent}", request.verb, request.path);
        if state.date != request.received {
            state.date = request.received;
            state.at_once.clear();
        }
        if !self.is_virtual || request.code.is_none() {
            return;
        }
        let key = (request.verb, Str::from(request.path));
        if state.at_once.len() >= PATHS_MAX && !state.at_once.contains_key(&key) {
            return;
        }
        let repeats = state.at_once.entry(key).or_default();
        *repeats += 1;
        let factor = if request.verb == "POST" {
            CREATES_FACTOR
        } else {
            1
        };
        let most = self.repeats_max.saturating_mul(factor);
        if *repeats > most {
            let reason = format!(
                "a loop without a pause: {agent:?} has sent {} {} more than {most} times at one \
                 moment of virtual time. Time only passes when everything waits: let the \
                 reconcile end without an error once there is nothing to do, requeue with a \
                 delay, or raise the bound with TestServerBuilder::repeats_max",
                request.verb, request.path,
            );
            drop(state);
            self.stop(reason);
        }
    }

    /// The server is gone: nobody has to guard it.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Notices, as a task of the server's runtime, that it is stuck. In virtual time that says
    /// nothing: a loop that yields lets other tasks run.
    pub(crate) async fn notice(&self) {
        self.stuck.cancelled().await;
        self.is_noticed.store(!self.is_virtual, Ordering::Relaxed);
    }

    /// Reports whether its thread is known not to be blocked.
    pub(crate) fn is_noticed(&self) -> bool {
        self.is_noticed.load(Ordering::Relaxed)
    }

    /// Ends every wait of the server's test for this reason; the first one counts.
    pub(crate) fn stop(&self, reason: String) {
        self.state.lock().reason.get_or_insert(reason);
        self.stuck.cancel();
    }

    /// Completes when the world is stuck, with the reason.
    ///
    /// Cancel safe.
    pub(crate) async fn stuck(&self) -> String {
        self.stuck.cancelled().await;
        self.reason().unwrap_or_default()
    }

    pub(crate) fn reason(&self) -> Option<String> {
        self.state.lock().reason.clone()
    }

    pub(crate) fn signs(&self) -> Signs {
        let state = self.state.lock();
        Signs {
            requests: state.requests,
            date: state.date,
            last: state.last.clone(),
        }
    }
}
