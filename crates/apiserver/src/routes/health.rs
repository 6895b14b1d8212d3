//! `/healthz`, `/livez`, `/readyz` and the individual checks below them.
//!
//! `livez` reports whether a restart would help, `readyz` whether the server should receive
//! requests, and `healthz` is upstream's older combination. Failed checks are named, with a reason
//! if it is not sensitive.

use crate::request::query::Query;
use crate::response::ApiResponse;
use http::StatusCode;
use std::fmt::Write;

/// One of the three groups of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Health {
    /// `healthz`, `livez` or `readyz`.
    pub(crate) name: &'static str,
}

/// The facts that the checks evaluate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Whether storage responds.
    pub(crate) storage: bool,
    /// Whether custom resource definitions are being watched.
    pub(crate) definitions: bool,
    /// Resources that cannot be served yet.
    pub(crate) unready: Vec<String>,
    /// Whether the server is shutting down.
    pub(crate) shutdown: bool,
}

/// The result of a check.
#[derive(Debug)]
struct Check {
    name: &'static str,
    failure: Option<String>,
}

/// The storage check, which has upstream's name for every engine.
const STORAGE: &str = "etcd";
/// The same for `readyz`, as upstream.
const STORAGE_READY: &str = "etcd-readiness";
/// The check that all watch caches are ready, as upstream.
const CACHES: &str = "poststarthook/storage-readiness";
/// The check that custom resource definitions are being watched, as upstream.
const DEFINITIONS: &str = "poststarthook/crd-informer-synced";
/// Maximum number of resources that a failed check names.
const NAMED_MAX: usize = 20;

impl Health {
    /// Returns the group and the check that a path names.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        ["healthz", "livez", "readyz"].into_iter().find_map(|name| {
            let rest = path.strip_prefix('/')?.strip_prefix(name)?;
            let check = match rest {
                "" => None,
                _ => Some(rest.strip_prefix('/')?),
            };
            Some((Self { name }, check))
        })
    }

    /// Returns its path.
    pub(crate) fn path(self) -> &'static str {
        match self.name {
            "healthz" => "/healthz",
            "livez" => "/livez",
            _ => "/readyz",
        }
    }

    /// Reports whether the result depends on storage.
    pub(crate) fn needs_storage(check: Option<&str>) -> bool {
        check.is_none_or(|check| check == STORAGE || check == STORAGE_READY)
    }

    /// Returns its checks in display order.
    fn checks(self, findings: &Findings) -> Vec<Check> {
        let storage = || (!findings.storage).then(|| "reason withheld".to_owned());
        let definitions = || {
            let why = "custom resource definitions are not being watched";
            (!findings.definitions).then(|| why.to_owned())
        };
        let mut checks = vec![
            Check::new("ping", None),
            Check::new("log", None),
            Check::new(STORAGE, storage()),
        ];
        if self.name == "readyz" {
            checks.push(Check::new(STORAGE_READY, storage()));
            checks.push(Check::new(CACHES, unready(&findings.unready)));
        }
        checks.push(Check::new(DEFINITIONS, definitions()));
        if self.name == "readyz" {
            let why = || "process is shutting down".to_owned();
            checks.push(Check::new("shutdown", findings.shutdown.then(why)));
        }
        checks
    }

    /// Returns the response.
    pub(crate) fn answer(
        self,
        check: Option<&str>,
        query: &Query,
        findings: &Findings,
    ) -> ApiResponse {
        let checks = self.checks(findings);
        if let Some(name) = check {
            let Some(check) = checks.iter().find(|it| it.name == name) else {
                return ApiResponse::page_not_found();
            };
            return match &check.failure {
                None => ApiResponse::ok(),
                Some(why) => failed(format!("internal server error: {name} failed: {why}\n")),
            };
        }
        let excluded: Vec<&str> = query.all("exclude").collect();
        let (mut text, mut healthy) = (String::new(), true);
        for Check { name, failure } in &checks {
            let excluded = excluded.contains(name);
            healthy &= failure.is_none() || excluded;
            // Writing to a string cannot fail.
            let _ = match (excluded, failure) {
                (true, _) => writeln!(text, "[+]{name} excluded: ok"),
                (_, None) => writeln!(text, "[+]{name} ok"),
                (_, Some(why)) => writeln!(text, "[-]{name} failed: {why}"),
            };
        }
        let mut unknown = excluded;
        unknown.retain(|name| checks.iter().all(|check| check.name != *name));
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            let quoted: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
            let quoted = quoted.join(", ");
            let warning = "warn: some health checks cannot be excluded: no matches for";
            let _ = writeln!(text, "{warning} {quoted}");
        }
        match (healthy, query.has("verbose")) {
            (true, false) => ApiResponse::text(StatusCode::OK, "ok"),
            (true, true) => {
                let text = format!("{text}{} check passed\n", self.name);
                ApiResponse::text(StatusCode::OK, text)
            }
            (false, _) => failed(format!("{text}{} check failed\n", self.name)),
        }
    }
}

impl Check {
    fn new(name: &'static str, failure: Option<String>) -> Self {
        Self { name, failure }
    }
}

fn unready(resources: &[String]) -> Option<String> {
    if resources.is_empty() {
        return None;
    }
    let named = resources.len().min(NAMED_MAX);
    let mut text = format!("not ready: {}", resources[..named].join(", "));
    if named < resources.len() {
        let _ = write!(text, " and {} more", resources.len() - named);
    }
    Some(text)
}

fn failed(text: String) -> ApiResponse {
    ApiResponse::text(StatusCode::INTERNAL_SERVER_ERROR, text)
}

#[cfg(test)]
mod tests;
