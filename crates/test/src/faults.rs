//! Faults as a plan: rules about what goes wrong with which requests.
//!
//! A rule selects [`Requests`] and says what happens to them; the client under test cannot tell it
//! from a server or a network that fails. Statuses are those that a kube-apiserver sends.
//!
//! ```no_run
//! use kubist_test::TestServer;
//! use kubist_test::faults::{Failure, Requests, Verb};
//! use std::time::Duration;
//!
//! # async fn example() -> kubist_test::Result {
//! let server = TestServer::start().await?;
//! let creates = Requests::verb(Verb::Create).resource("pods");
//! // The third create of a pod is done, but its answer says that it timed out.
//! let late = server.faults().on(creates).skip(2).once().fail_after(Failure::Timeout);
//! // Caches of everybody are five revisions behind, for a minute.
//! server.faults().on(Requests::reads()).lasting(Duration::from_secs(60)).lag(5);
//! // …the test…
//! assert_eq!(late.acted(), 1);
//! # Ok(()) }
//! ```
//!
//! It is not a proxy: only clients that were created from the test's server are subject to it.

mod answers;
mod call;
mod effect;
mod interposer;
mod read_back;
mod requests;
mod revisions;
mod rule;
mod rule_builder;
mod stale_read;
mod treatment;
mod watch_body;

use crate::clock::after;
pub(crate) use answers::gone;
pub use call::Verb;
pub(crate) use call::{Call, Sender};
use effect::Effect;
pub use effect::Failure;
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
pub(crate) use interposer::Interposer;
use kubist::apimachinery::Str;
use kubist::codec::watch_stream::EventKind;
use parking_lot::Mutex;
pub use requests::Requests;
pub(crate) use revisions::Revisions;
pub use rule::{MissedRules, Rule};
pub use rule_builder::RuleBuilder;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
pub(crate) use treatment::{Answered, Arrival, Delivery, Fate, Tap, Treatment, View};

/// The most rules of one server; the oldest that cannot act any more are forgotten first.
const RULES_MAX: usize = 10_000;

/// The faults of a server. Clones are the same.
#[derive(Clone, Debug)]
pub struct Faults {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    rules: Mutex<Vec<Rule>>,
    revisions: Revisions,
    pauses: Mutex<Vec<(Str, CancellationToken)>>,
    outage: Mutex<Outage>,
}

#[derive(Debug)]
struct Outage {
    until: Option<Instant>,
    /// Cancelled when the server goes down.
    begins: CancellationToken,
}

/// A client that is paused: its requests, their answers and the events of its watches wait.
/// Dropping it resumes the client.
#[derive(Debug)]
#[must_use = "dropping it resumes the client"]
pub struct Pause {
    resume: CancellationToken,
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.resume.cancel();
    }
}

impl Faults {
    pub(crate) fn new(revisions: Revisions) -> Self {
        let shared = Shared {
            rules: Mutex::default(),
            revisions,
            pauses: Mutex::default(),
            outage: Mutex::new(Outage {
                until: None,
                begins: CancellationToken::new(),
            }),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Begins a rule about these requests.
    pub fn on(&self, requests: Requests) -> RuleBuilder<'_> {
        RuleBuilder::new(self, requests)
    }

    /// Holds a client: its requests, answers and events wait until the returned value is dropped.
    /// Its timers go on, as those of a process that lost its network.
    pub fn pause(&self, client: impl Into<Str>) -> Pause {
        let resume = CancellationToken::new();
        let mut pauses = self.shared.pauses.lock();
        pauses.retain(|(_, token)| !token.is_cancelled());
        pauses.push((client.into(), resume.clone()));
        Pause { resume }
    }

    /// Restarts the server, as its clients see it: watches and connections break, whatever they
    /// wait for, and for this time nothing listens. What the server holds in memory besides its
    /// store is kept. A request that the server is working on is still answered.
    pub fn restart_server(&self, down: Duration) {
        let mut outage = self.shared.outage.lock();
        outage.until = Some(after(down));
        std::mem::take(&mut outage.begins).cancel();
    }

    /// Ends all rules, pauses and outages. A rule that [must act](RuleBuilder::must_act) and has
    /// not is still reported by [`check`](Self::check).
    pub fn clear(&self) {
        self.shared.rules.lock().retain(|rule| {
            rule.lift();
            rule.is_missed()
        });
        for (_, resume) in self.shared.pauses.lock().drain(..) {
            resume.cancel();
        }
        self.shared.outage.lock().until = None;
    }

    /// Checks that the rules which [must act](RuleBuilder::must_act) have acted.
    ///
    /// # Errors
    /// Some have not.
    pub fn check(&self) -> Result<(), MissedRules> {
        let rules = self.shared.rules.lock();
        let missed = rules.iter().filter(|it| it.is_missed());
        let rules: Vec<String> = missed.map(ToString::to_string).collect();
        if rules.is_empty() {
            return Ok(());
        }
        Err(MissedRules { rules })
    }

    fn add(&self, rule: Rule) {
        let mut rules = self.shared.rules.lock();
        if rules.len() >= RULES_MAX {
            rules.retain(|it| it.is_live() || it.is_missed());
        }
        rules.push(rule);
    }

    /// Returns the rules about a request that act on it now.
    fn striking(&self, call: &Call, is: impl Fn(&Effect) -> bool) -> Vec<Rule> {
        let rules = self.shared.rules.lock();
        let about = rules
            .iter()
            .filter(|it| is(it.effect()) && it.requests().has(call));
        about.filter(|it| it.strike()).cloned().collect()
    }

    async fn paused(&self, call: &Call) {
        while let Some(resume) = self.pause_of(&call.sender.client) {
            resume.cancelled().await;
        }
    }

    fn pause_of(&self, client: &str) -> Option<CancellationToken> {
        let pauses = self.shared.pauses.lock();
        let mut held = pauses.iter().filter(|(of, _)| of == client);
        let held = held.find(|(_, it)| !it.is_cancelled());
        held.map(|(_, it)| it.clone())
    }

    fn is_down(&self) -> bool {
        let until = self.shared.outage.lock().until;
        until.is_some_and(|it| Instant::now() < it)
    }

    async fn treatment(&self, call: &Call) -> Treatment {
        self.paused(call).await;
        let mut treatment = Treatment::default();
        if self.is_down() {
            treatment.fate = Fate::Refuse;
            return treatment;
        }
        for rule in self.striking(call, Effect::is_of_requests) {
            let fate = match rule.effect() {
                Effect::Fail(failure) => Fate::Answer(Box::new(failure.status(call))),
                Effect::FailAfter(failure) => Fate::AnswerAfter(Box::new(failure.status(call))),
                Effect::Break => Fate::Break,
                Effect::BreakAfter => Fate::BreakAfter,
                Effect::Hang => Fate::Never,
                Effect::Delay(time) => {
                    treatment.delay = treatment.delay.saturating_add(*time);
                    Fate::Serve
                }
                Effect::LagBy { revisions, gets } => {
                    treatment.view = Some(View {
                        revision: self.shared.revisions.before(*revisions),
                        gets: *gets,
                    });
                    Fate::Serve
                }
                Effect::StandAt { revision, gets } => {
                    treatment.view = Some(View {
                        revision: *revision,
                        gets: *gets,
                    });
                    Fate::Serve
                }
                Effect::EndWatch(_) | Effect::HoldWatch | Effect::DropBookmarks => Fate::Serve,
            };
            if treatment.fate == Fate::Serve {
                treatment.fate = fate;
            }
        }
        treatment
    }

    async fn delivery(&self, watch: &Call, arrival: &Arrival) -> Delivery {
        self.paused(watch).await;
        for rule in self.striking(watch, Effect::is_of_events) {
            match rule.effect() {
                Effect::EndWatch(None) => return Delivery::Cut,
                Effect::EndWatch(Some(failure)) => {
                    return Delivery::End(Box::new(failure.status(watch)));
                }
                Effect::HoldWatch => rule.over().await,
                Effect::DropBookmarks
                    if arrival.kind == EventKind::Bookmark && !arrival.ends_list =>
                {
                    return Delivery::Skip;
                }
                Effect::LagBy { revisions, .. } => {
                    let until = arrival.revision.saturating_add(*revisions);
                    let reached = self.shared.revisions.reach(until);
                    tokio::select! {
                        biased;
                        () = rule.over() => {}
                        () = reached => {}
                    }
                }
                Effect::StandAt { revision, .. } if arrival.revision > *revision => {
                    rule.over().await;
                }
                _ => {}
            }
        }
        Delivery::Deliver
    }
}

impl Tap for Faults {
    fn treat<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Treatment> {
        self.treatment(call).boxed()
    }

    fn reaches<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, bool> {
        let reaches = async {
            self.paused(call).await;
            !self.is_down()
        };
        reaches.boxed()
    }

    fn answered<'a>(&'a self, call: &'a Call, _answered: &'a Answered) -> BoxFuture<'a, ()> {
        self.paused(call).boxed()
    }

    fn deliver<'a>(&'a self, watch: &'a Call, arrival: &'a Arrival) -> BoxFuture<'a, Delivery> {
        self.delivery(watch, arrival).boxed()
    }

    fn breaks(&self) -> Option<CancellationToken> {
        Some(self.shared.outage.lock().begins.clone())
    }

    fn broken<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, ()> {
        self.paused(call).boxed()
    }
}
