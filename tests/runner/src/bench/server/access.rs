//! The part of `bench server` about what is obeyed: requests of a service account with few roles
//! and with many, with a webhook that matches, and with a quota and a policy that match.

use super::figures::{figure, write_table};
use super::ours::{REQUESTS, ours_of};
use super::ownership::least;
use super::subject::{self, Engine};
use super::{APISERVER, Bench, Found, named, of as lines_of};
use crate::bench::report::Report;
use crate::bench::samples::Samples;
use crate::bench::verdict::Verdict;
use kubist_test_support::process::Outcome;
use serde_json::json;
use std::path::Path;

/// Rounds over all subjects, each on a new server; the least CPU time of a case counts.
const ROUNDS: u32 = 3;
/// Roles of other users.
const ROLES: u32 = 1_000;
/// The cases that have a goal beside a kube-apiserver: at most an eighth of its CPU.
const COMPARED: [&str; 4] = [
    "create, many roles",
    "get, many roles",
    "create, quota and policy",
    "create, others' policy",
];
/// What obeying adds: the case with it, the case without it, and the goal in microseconds.
const ADDED: [(&str, &str, &str, f64); 4] = [
    (
        "1,000 roles of others, for a get",
        "get, many roles",
        "get, one role",
        2.0,
    ),
    (
        "a call of a validating webhook",
        "create, validating webhook",
        "create, no policy",
        100.0,
    ),
    (
        "a call of a mutating webhook",
        "create, mutating webhook",
        "create, no policy",
        100.0,
    ),
    (
        "a policy about other kinds",
        "create, others' policy",
        "create, no policy",
        2.0,
    ),
];

impl Bench {
    /// Measures what is obeyed, with the subjects in turn.
    pub(super) fn access(&mut self, apiserver: Option<&Path>) -> Outcome {
        let seconds = if self.size.write_seconds > 1 { 3 } else { 1 };
        for _ in 0..ROUNDS {
            let ours = self.kubist(Engine::Memory)?;
            let lines = self.load.access(&ours, seconds, ROLES)?;
            least(
                &mut self.found.accesses,
                lines_of(&named(Engine::Memory), lines),
            );
            ours.stop()?;
            if let Some(path) = apiserver {
                let etcd = self.etcd.as_deref();
                let theirs = subject::obeying(&self.load, &self.scratch, path, etcd)?;
                let lines = self.load.access(&theirs, seconds, ROLES)?;
                least(&mut self.found.accesses, lines_of(APISERVER, lines));
                theirs.stop()?;
            }
        }
        Ok(())
    }
}

pub(super) fn report(found: &Found) -> Report {
    Report {
        name: "access",
        what: format!(
            "4 clients with the token of a service account, {ROLES} roles with bindings; the least \
             CPU time of {ROUNDS} rounds."
        ),
        tables: vec![write_table("request", &found.accesses)],
        verdicts: verdicts(found),
        charts: Vec::new(),
        sizes: json!({"roles": ROLES}),
        ours: ours_of("", &found.accesses, REQUESTS),
        json: json!({"requests": found.accesses}),
    }
}

/// A kube-apiserver's CPU is that of its process alone: what its etcd uses is listed beside it.
fn verdicts(found: &Found) -> Vec<Verdict> {
    let cpu =
        |subject: &str, case: &str| figure(&found.accesses, subject, case, "/cpu_microseconds");
    let memory = named(Engine::Memory);
    let beside = COMPARED.map(|case| {
        let ours = Verdict::less(format!("CPU of: {case}"), Samples::once(cpu(&memory, case)));
        let theirs = Samples::once(cpu(APISERVER, case));
        ours.beside([(APISERVER, theirs)]).goal(8.0)
    });
    let added = ADDED.map(|(what, with, without, goal)| {
        let more = cpu(&memory, with) - cpu(&memory, without);
        // A difference within the noise may be negative.
        let name = format!("CPU added by {what}, µs");
        let ours = Verdict::less(name, Samples::once(more.max(0.0)));
        ours.goal_value(&format!("at most {goal} µs"), goal)
    });
    beside.into_iter().chain(added).collect()
}
