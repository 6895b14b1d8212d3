//! `Accepted`: the list of known differences, with reasons.

use crate::area::Area;
use crate::compare::{Difference, What};
use crate::step::{Body, Step};
use serde::Deserialize;
use std::collections::BTreeSet;

/// An error in the list.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptedError {
    /// It is not TOML, or has unknown fields.
    #[error("the list is not understood")]
    Toml(#[from] toml::de::Error),
    /// An entry is incomplete: it needs a path, a place and a reason.
    #[error("the entry for {0:?} is not specific")]
    Blanket(String),
}

/// The known differences.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accepted {
    #[serde(default)]
    accepted: Vec<Entry>,
}

/// A known difference. In all patterns `*` stands for any text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The areas where it may appear; empty for all.
    #[serde(default)]
    areas: BTreeSet<Area>,
    /// Methods; empty for all.
    #[serde(default)]
    verbs: BTreeSet<String>,
    /// The path of the request as the generator writes it, with references.
    path: String,
    /// Queries as the generator writes them, as in `limit=*`; one must match.
    #[serde(default)]
    queries: Vec<String>,
    /// Bodies as the generator writes them; one must match.
    #[serde(default)]
    bodies: Vec<String>,
    what: What,
    /// The place of the difference.
    #[serde(default)]
    at: String,
    /// The kube-apiserver's value.
    #[serde(default = "anything")]
    theirs: String,
    /// Kubist's value.
    #[serde(default = "anything")]
    ours: String,
    why: String,
}

fn anything() -> String {
    "*".to_owned()
}

impl Accepted {
    /// Parses the list.
    pub(crate) fn parse(toml: &str) -> Result<Self, AcceptedError> {
        let list: Self = toml::from_str(toml)?;
        match list.accepted.iter().find(|entry| entry.is_blanket()) {
            Some(entry) => Err(AcceptedError::Blanket(entry.path.clone())),
            None => Ok(list),
        }
    }

    /// Reports whether a difference in the answer to a step is on the list.
    pub(crate) fn has(&self, step: &Step, difference: &Difference) -> bool {
        self.accepted
            .iter()
            .any(|entry| entry.is_for(step, difference))
    }
}

impl Entry {
    fn is_for(&self, step: &Step, difference: &Difference) -> bool {
        self.what == difference.what
            && (self.areas.is_empty() || self.areas.contains(&step.area))
            && (self.verbs.is_empty() || self.verbs.contains(step.method))
            && matches(&self.path, &step.path)
            && (self.queries.is_empty() || self.is_in_query(step))
            && (self.bodies.is_empty() || self.is_said_by(&step.body))
            && matches(&self.at, &difference.at)
            && matches(&self.theirs, &difference.theirs)
            && matches(&self.ours, &difference.ours)
    }

    fn is_in_query(&self, step: &Step) -> bool {
        let pairs = step.query.iter();
        let mut pairs = pairs.map(|(name, value)| format!("{name}={value}"));
        pairs.any(|pair| self.queries.iter().any(|it| matches(it, &pair)))
    }

    fn is_said_by(&self, body: &Body) -> bool {
        let text = match body {
            Body::Json(value) => value.to_string(),
            Body::Text(text) => text.clone(),
            Body::None | Body::Answer { .. } => return false,
        };
        self.bodies.iter().any(|pattern| matches(pattern, &text))
    }

    /// Reports whether it would hide unknown differences.
    fn is_blanket(&self) -> bool {
        let says = |pattern: &str| pattern.chars().any(char::is_alphanumeric);
        let is_vague = !says(&self.path) && !says(&self.at);
        let is_any = self.bodies.is_empty() || !self.bodies.iter().all(|it| says(it));
        let has_no_place = self.at == "*" && !says(&self.theirs) && !says(&self.ours) && is_any;
        self.why.is_empty() || self.path.is_empty() || is_vague || has_no_place
    }
}

/// Reports whether a text matches a pattern.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    while let Some((middle, after)) = rest.split_once('*') {
        let Some(found) = text.find(middle) else {
            return false;
        };
        text = &text[found + middle.len()..];
        rest = after;
    }
    text.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        [[accepted]]
        areas = ["objects"]
        verbs = ["POST", "PUT"]
        path = "/api/v1/namespaces/*/pods*"
        what = "value"
        at = "message"
        theirs = "*strict*"
        why = "because"
    "#;

    fn step(method: &'static str, path: &str) -> Step {
        Step::new(0, Area::Objects, method, path)
    }

    fn difference(at: &str, theirs: &str) -> Difference {
        Difference {
            what: What::Value,
            at: at.to_owned(),
            theirs: theirs.to_owned(),
            ours: "any".to_owned(),
        }
    }

    #[test]
    fn an_entry_is_for_its_verbs_paths_and_values_only() {
        let list = Accepted::parse(LIST).unwrap();
        let pods = "/api/v1/namespaces/{{ns}}/pods";
        let known = difference("message", "a strict error");
        assert!(list.has(&step("POST", pods), &known));
        assert!(list.has(&step("PUT", &format!("{pods}/it-1")), &known));
        assert!(!list.has(&step("GET", pods), &known));
        assert!(!list.has(&step("POST", "/api/v1/namespaces/{{ns}}/services"), &known));
        assert!(!list.has(&step("POST", pods), &difference("reason", "a strict error")));
        assert!(!list.has(&step("POST", pods), &difference("message", "another")));
        let elsewhere = Step::new(0, Area::Lists, "POST", pods);
        assert!(!list.has(&elsewhere, &known));
    }

    #[test]
    fn an_entry_may_be_for_what_a_request_says_only() {
        let bodies = "bodies = [\"*big*\", \"*huge*\"]\nwhy";
        let list = Accepted::parse(&LIST.replace("why", bodies)).unwrap();
        let known = difference("message", "a strict error");
        let put = || step("PUT", "/api/v1/namespaces/{{ns}}/pods");
        let says = |body: &str| put().body("application/json", Body::Text(body.to_owned()));
        assert!(list.has(&says("{\"a\":\"huge\"}"), &known));
        assert!(!list.has(&says("{\"a\":\"small\"}"), &known));
        assert!(!list.has(&put(), &known));
    }

    #[test]
    fn an_entry_may_be_for_requests_with_an_option_only() {
        let queries = "queries = [\"limit=*\", \"watch=1\"]\nwhy";
        let list = Accepted::parse(&LIST.replace("why", queries)).unwrap();
        let known = difference("message", "a strict error");
        let put = || step("PUT", "/api/v1/namespaces/{{ns}}/pods");
        assert!(list.has(&put().query("a", "b").query("limit", "2"), &known));
        assert!(!list.has(&put().query("watch", "0"), &known));
        assert!(!list.has(&put(), &known));
    }

    #[test]
    fn a_blanket_entry_is_refused() {
        for blanket in [
            LIST.replace("because", ""),
            LIST.replace("/api/v1/namespaces/*/pods*", "*")
                .replace("\"message\"", "\"*\""),
            LIST.replace("\"message\"", "\"*\"")
                .replace("*strict*", "*"),
            LIST.replace("what = \"value\"", "what = \"all\""),
            LIST.replace("why", "unknown = 1\nwhy"),
        ] {
            assert!(Accepted::parse(&blanket).is_err(), "{blanket}");
        }
    }

    #[test]
    fn the_list_of_this_crate_is_understood() {
        Accepted::parse(include_str!("../accepted.toml")).unwrap();
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("*", "") && matches("a*", "abc") && matches("*c", "abc"));
        assert!(matches("a*b*c", "a-b-c") && matches("a*b*c", "abc") && matches("ab", "ab"));
        assert!(!matches("a*b*c", "a-c") && !matches("a", "ab") && !matches("a*a", "a"));
    }
}
