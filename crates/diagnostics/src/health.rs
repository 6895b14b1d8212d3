//! Health checks, and how they are told: as upstream's servers do.

use kubist_apimachinery::Str;
use std::fmt;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a check: fine, or what is wrong. The text is for the log; those who ask over HTTP
/// are not told it unless they ask for `?verbose`.
pub type CheckResult = Result<(), String>;

type Check = dyn Fn() -> CheckResult + Send + Sync;

/// Checks by name.
#[derive(Default)]
pub(crate) struct Checks {
    checks: Vec<(Str, Box<Check>)>,
}

impl Checks {
    pub(crate) fn add(
        &mut self,
        name: Str,
        check: impl Fn() -> CheckResult + Send + Sync + 'static,
    ) {
        self.checks.push((name, Box::new(check)));
    }

    /// Returns the answer about all checks: whether they pass, and the text.
    pub(crate) fn answer(&self, kind: &str, query: &str) -> Option<(bool, String)> {
        let parameters = query
            .split('&')
            .map(|it| it.split_once('=').unwrap_or((it, "")));
        let is_verbose = parameters.clone().any(|(name, _)| name == "verbose");
        let excluded: Vec<&str> = parameters
            .filter(|(name, _)| *name == "exclude")
            .map(|(_, value)| value)
            .collect();
        let (mut text, mut all_pass) = ("[+]ping ok\n".to_owned(), true);
        for (name, check) in &self.checks {
            let line = if excluded.contains(&&**name) {
                writeln!(text, "[+]{name} excluded: ok")
            } else {
                match run(check) {
                    Ok(()) => writeln!(text, "[+]{name} ok"),
                    Err(why) => {
                        all_pass = false;
                        tracing::warn!(kind, check = %name, %why, "a health check fails");
                        if is_verbose {
                            writeln!(text, "[-]{name} failed: {why}")
                        } else {
                            writeln!(text, "[-]{name} failed: reason withheld")
                        }
                    }
                }
            };
            line.ok()?;
        }
        for name in excluded {
            if !self.checks.iter().any(|(known, _)| **known == *name) {
                writeln!(
                    text,
                    "warn: some health checks cannot be excluded: no matches for {name:?}"
                )
                .ok()?;
            }
        }
        Some(match (all_pass, is_verbose) {
            (true, false) => (true, "ok".to_owned()),
            (true, true) => (true, format!("{text}{kind} check passed\n")),
            (false, _) => (false, format!("{text}{kind} check failed\n")),
        })
    }

    /// Returns the answer about one check; none if there is no such check.
    pub(crate) fn one(&self, name: &str) -> Option<(bool, String)> {
        if name == "ping" {
            return Some((true, "ok".to_owned()));
        }
        let (_, check) = self.checks.iter().find(|(known, _)| **known == *name)?;
        Some(match run(check) {
            Ok(()) => (true, "ok".to_owned()),
            Err(why) => (false, format!("internal server error: {why}\n")),
        })
    }
}

fn run(check: &Check) -> CheckResult {
    let result = catch_unwind(AssertUnwindSafe(check));
    result.unwrap_or_else(|_| Err("the check panicked".to_owned()))
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.checks.iter().map(|(name, _)| name))
            .finish()
    }
}
