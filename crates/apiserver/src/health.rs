//! `/healthz`, `/livez`, `/readyz` and the checks below them.

use crate::answer::Answer;
use crate::query::Query;
use http::StatusCode;
use std::fmt::Write;

/// The names of the checks, in the order in which they are shown.
const CHECKS: [&str; 3] = ["ping", "log", STORAGE_CHECK];
/// The check of the store, which has upstream's name whatever the engine is.
const STORAGE_CHECK: &str = "etcd";

/// One of the three groups of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Health {
    /// `healthz`, `livez` or `readyz`.
    pub(crate) name: &'static str,
}

impl Health {
    /// The group and the check that a path names.
    pub(crate) fn of_path(path: &str) -> Option<(Self, Option<&str>)> {
        ["healthz", "livez", "readyz"].into_iter().find_map(|name| {
            let rest = path.strip_prefix('/')?.strip_prefix(name)?;
            let check = match rest {
                "" | "/" => None,
                _ => Some(rest.strip_prefix('/')?),
            };
            Some((Self { name }, check))
        })
    }

    /// Whether the answer depends on storage.
    pub(crate) fn asks_storage(check: Option<&str>) -> bool {
        check.is_none_or(|check| check == STORAGE_CHECK)
    }

    /// The answer. `storage` is whether storage answers; `ending` whether the server shuts down.
    pub(crate) fn answer(
        self,
        check: Option<&str>,
        query: &Query,
        storage: bool,
        ending: bool,
    ) -> Answer {
        let passes = |check: &str| check != STORAGE_CHECK || storage;
        if let Some(check) = check {
            return match CHECKS.contains(&check) {
                true if passes(check) => Answer::text(StatusCode::OK, "ok"),
                true => failed(format!("internal server error: {check} failed\n")),
                false => Answer::page_not_found(),
            };
        }
        let mut checks: Vec<(&str, bool)> = CHECKS.map(|check| (check, passes(check))).to_vec();
        if self.name == "readyz" {
            checks.push(("shutdown", !ending));
        }
        let excluded: Vec<&str> = query.all("exclude").collect();
        let (mut text, mut healthy) = (String::new(), true);
        let mut unknown: Vec<&str> = excluded.clone();
        unknown.retain(|name| checks.iter().all(|(check, _)| check != name));
        for (check, passed) in checks {
            let excluded = excluded.contains(&check);
            healthy &= passed || excluded;
            // Writing to a string cannot fail.
            let _ = match (excluded, passed) {
                (true, _) => writeln!(text, "[+]{check} excluded: ok"),
                (_, true) => writeln!(text, "[+]{check} ok"),
                (_, false) => writeln!(text, "[-]{check} failed: reason withheld"),
            };
        }
        if !unknown.is_empty() {
            unknown.sort_unstable();
            unknown.dedup();
            let quoted: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
            let quoted = quoted.join(", ");
            let warning = "warn: some health checks cannot be excluded: no matches for";
            let _ = writeln!(text, "{warning} {quoted}");
        }
        match (healthy, query.has("verbose")) {
            (true, false) => Answer::text(StatusCode::OK, "ok"),
            (true, true) => {
                let text = format!("{text}{} check passed\n", self.name);
                Answer::text(StatusCode::OK, text)
            }
            (false, _) => failed(format!("{text}{} check failed\n", self.name)),
        }
    }
}

fn failed(text: String) -> Answer {
    Answer::text(StatusCode::INTERNAL_SERVER_ERROR, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;

    fn ask(path: &str, storage: bool) -> Option<(u16, String)> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (health, check) = Health::of_path(path)?;
        let answer = health.answer(check, &Query::parse(Some(query)), storage, false);
        let Body::Whole(bytes) = answer.body else {
            panic!("it is short");
        };
        Some((
            answer.code.as_u16(),
            String::from_utf8_lossy(&bytes).into_owned(),
        ))
    }

    #[test]
    fn checks_are_answered_alone_and_together() {
        let ok = Some((200, "ok".to_owned()));
        for path in [
            "/healthz",
            "/livez/",
            "/readyz",
            "/livez/ping",
            "/livez?exclude=nope",
        ] {
            assert_eq!(ask(path, true), ok, "{path}");
        }
        let verbose = "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n".to_owned();
        assert_eq!(ask("/livez?verbose", true), Some((200, verbose)));
        let unknown = "[+]ping ok\n[+]log ok\n[+]etcd ok\nwarn: some health checks cannot be \
                       excluded: no matches for \"a\", \"b\"\nlivez check passed\n";
        let path = "/livez?verbose&exclude=b&exclude=a";
        assert_eq!(ask(path, true), Some((200, unknown.to_owned())));
        let excluded = "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\nlivez check passed\n";
        let path = "/livez?verbose&exclude=etcd";
        assert_eq!(ask(path, false), Some((200, excluded.to_owned())));
        assert_eq!(ask("/livez?exclude=etcd", false), ok);
        assert_eq!(ask("/livez", false).map(|(code, _)| code), Some(500));
        assert_eq!(ask("/readyz/etcd", false).map(|(code, _)| code), Some(500));
        assert_eq!(ask("/healthz/nope", true).map(|(code, _)| code), Some(404));
        assert_eq!(ask("/healthznope", true), None);
    }
}
