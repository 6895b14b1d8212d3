//! `AccessMetrics`: authentication and authorization, under upstream's names.

use super::exposition::Family;
use crate::authorization::authorizer::{CountsDecisions, Opinion};
use crate::metrics::Distribution;
use kubist_apimachinery::Status;
use kubist_registry::User;
use kubist_registry::metrics::Count;
use prometheus::proto::MetricFamily;
use std::time::Duration;

/// Buckets of durations in seconds, as upstream: 1 ms, 14 times doubled.
static SECONDS: [f64; 15] = [
    0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096,
    8.192, 16.384,
];
/// The users that are counted apart, as upstream, which calls all others `other`.
const USERS: [&str; 5] = [
    "admin",
    "client",
    "kube_proxy",
    "kubelet",
    "system:serviceaccount:kube-system:default",
];
/// The modes of impersonation, and what precedes their names where a constraint permitted it.
const MODES: [&str; 5] = [
    "associated-node",
    "arbitrary-node",
    "serviceaccount",
    "user-info",
    LEGACY,
];
const CONSTRAINT: &str = "impersonate:";
const LEGACY: &str = "legacy";
const OF_IMPERSONATION: &[&str] = &["decision", "mode"];
const EMAIL: &str = "email_id";
const OTHER: &str = "other";
const RESULT: &[&str] = &["result"];

/// Authentications and authorizations of a server.
pub(crate) struct AccessMetrics {
    success: Attempts,
    failure: Attempts,
    error: Attempts,
    allowed: Attempts,
    denied: Attempts,
    no_opinion: Attempts,
    /// By the place in [`USERS`], then emails and others.
    users: [Count; USERS.len() + 2],
    /// By the place in [`MODES`], then those that were denied.
    impersonations: [Distribution; MODES.len() + 1],
}

/// Attempts with one result; their number is that of their durations.
struct Attempts {
    result: &'static str,
    took: Distribution,
}

impl CountsDecisions for AccessMetrics {
    fn authorized(&self, opinion: Opinion, took: Duration) {
        let attempts = match opinion {
            Opinion::Allowed => &self.allowed,
            Opinion::Denied => &self.denied,
            Opinion::None => &self.no_opinion,
        };
        attempts.took.took(took);
    }
}

impl AccessMetrics {
    pub(super) fn new() -> Self {
        let of = |result| Attempts {
            result,
            took: Distribution::of_seconds(&SECONDS),
        };
        Self {
            success: of("success"),
            failure: of("failure"),
            error: of("error"),
            allowed: of("allowed"),
            denied: of("denied"),
            no_opinion: of("no-opinion"),
            users: Default::default(),
            impersonations: std::array::from_fn(|_| Distribution::of_seconds(&SECONDS)),
        }
    }

    /// Counts the authentication of a request.
    pub(crate) fn authenticated(&self, outcome: &Result<User, Status>, took: Duration) {
        let attempts = match outcome {
            Ok(user) => {
                self.users[place(&user.name)].add(1);
                &self.success
            }
            Err(status) if status.code == 401 => &self.failure,
            Err(_) => &self.error,
        };
        attempts.took.took(took);
    }

    /// Counts an attempt to impersonate somebody: the constraint that permitted it, empty for the
    /// verb of old; none if it was denied.
    pub(crate) fn impersonated(&self, constraint: Option<&str>, took: Duration) {
        let place = constraint.and_then(|it| {
            let mode = it.strip_prefix(CONSTRAINT).unwrap_or(LEGACY);
            MODES.iter().position(|it| *it == mode)
        });
        self.impersonations[place.unwrap_or(MODES.len())].took(took);
    }

    fn of_impersonations(&self) -> [Family; 2] {
        let mut counts = Family::counter(
            "apiserver_impersonation_attempts_total",
            "Attempts to impersonate somebody",
            OF_IMPERSONATION,
        );
        let mut times = Family::histogram(
            "apiserver_impersonation_attempts_duration_seconds",
            "How long attempts to impersonate somebody took",
            OF_IMPERSONATION,
        );
        let labels = MODES.iter().map(|mode| ["allowed", *mode]);
        let labels = labels.chain([["denied", ""]]);
        for (labels, took) in labels.zip(&self.impersonations) {
            let state = took.state();
            counts.count_some(&labels, state.count());
            times.observed(&labels, &state);
        }
        [counts, times]
    }

    pub(super) fn families(&self) -> Vec<MetricFamily> {
        let mut users = Family::counter(
            "authenticated_user_requests",
            "Requests of authenticated users",
            &["username"],
        );
        let names = USERS.iter().chain([&EMAIL, &OTHER]);
        for (name, count) in names.zip(&self.users) {
            users.count_some(&[name], count.value());
        }
        let mut families = vec![users];
        let authentications = [&self.success, &self.failure, &self.error];
        families.extend(of_attempts(
            "authentication_attempts",
            "authentication_duration_seconds",
            "authentications of requests",
            &authentications,
        ));
        let authorizations = [&self.allowed, &self.denied, &self.no_opinion];
        families.extend(of_attempts(
            "authorization_attempts_total",
            "authorization_duration_seconds",
            "authorizations of requests",
            &authorizations,
        ));
        families.extend(self.of_impersonations());
        families.into_iter().filter_map(Family::finish).collect()
    }
}

fn of_attempts(
    number: &'static str,
    duration: &'static str,
    help: &'static str,
    all: &[&Attempts],
) -> [Family; 2] {
    let mut counts = Family::counter(number, help, RESULT);
    let mut times = Family::histogram(duration, help, RESULT);
    for attempts in all {
        let state = attempts.took.state();
        counts.count_some(&[attempts.result], state.count());
        times.observed(&[attempts.result], &state);
    }
    [counts, times]
}

/// Returns where requests of a user are counted.
fn place(name: &str) -> usize {
    let known = USERS.iter().position(|it| *it == name);
    known.unwrap_or_else(|| USERS.len() + usize::from(!name.contains('@')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_users_are_counted_apart() {
        for (name, expected) in [
            ("admin", 0),
            ("kubelet", 3),
            ("a@example.com", 5),
            ("kubernetes-admin", 6),
            ("", 6),
        ] {
            assert_eq!(place(name), expected, "{name}");
        }
    }
}
