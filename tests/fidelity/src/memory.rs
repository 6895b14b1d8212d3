//! `Memory`: the answers of one server, for references in later steps.

use crate::step::{Body, Step};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::collections::BTreeMap;

/// The replacement for a reference to a missing value.
const MISSING: &str = "missing";

/// The answers of one server in one run.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    namespace: String,
    tag: String,
    answers: BTreeMap<usize, Value>,
}

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// Includes the query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Memory {
    /// `run` is different for each run.
    pub(crate) fn new(run: &str) -> Self {
        Self {
            namespace: format!("fid-{run}"),
            tag: format!("tag-{run}"),
            answers: BTreeMap::new(),
        }
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Keeps the answer to a step, if it is JSON.
    pub(crate) fn keep(&mut self, step: usize, answer: &Value) {
        self.answers.insert(step, answer.clone());
    }

    /// Returns a step with its references resolved.
    pub(crate) fn request(&self, step: &Step) -> Request {
        let mut target = self.filled(&step.path);
        let mut separator = if target.contains('?') { '&' } else { '?' };
        for (name, value) in &step.query {
            target.push(separator);
            separator = '&';
            target.push_str(&encoded(name));
            target.push('=');
            target.push_str(&encoded(&self.filled(value)));
        }
        let body = match &step.body {
            Body::None => String::new(),
            Body::Text(text) => self.filled(text),
            Body::Json(value) => self.filled(&value.to_string()),
            Body::Answer { step, edits } => {
                let answer = self.answers.get(step);
                let mut object = answer.cloned().unwrap_or(Value::Null);
                for edit in edits {
                    edit.apply(&mut object);
                }
                self.filled(&object.to_string())
            }
        };
        let headers = step.headers.iter();
        Request {
            method: step.method,
            target,
            headers: headers
                .map(|(name, value)| (*name, self.filled(value)))
                .collect(),
            body,
        }
    }

    /// Returns a text with its references resolved. Other braces stay.
    pub(crate) fn filled(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("{{") {
            let Some(length) = rest[start..].find("}}") else {
                break;
            };
            let word = &rest[start + 2..start + length];
            filled.push_str(&rest[..start]);
            if let Some(value) = self.reference(word) {
                filled.push_str(&value);
                rest = &rest[start + length + 2..];
            } else {
                filled.push_str("{{");
                rest = &rest[start + 2..];
            }
        }
        filled.push_str(rest);
        filled
    }

    fn reference(&self, word: &str) -> Option<String> {
        match word {
            "ns" => return Some(self.namespace.clone()),
            "tag" => return Some(self.tag.clone()),
            _ => {}
        }
        let (step, field) = word.split_once('.')?;
        let answer = self.answers.get(&step.parse().ok()?);
        let field = match field {
            "uid" => "uid",
            "rv" => "resourceVersion",
            "name" => "name",
            "continue" => "continue",
            _ => return None,
        };
        let value = answer.and_then(|answer| answer["metadata"][field].as_str());
        Some(value.unwrap_or(MISSING).to_owned())
    }
}

/// Characters that are not encoded in paths and queries.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Encodes a text for a path or a query, except for its references.
pub(crate) fn encoded_around_references(text: &str) -> String {
    let mut around = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let Some(length) = rest[start..].find("}}") else {
            break;
        };
        around.push_str(&encoded(&rest[..start]));
        around.push_str(&rest[start..start + length + 2]);
        rest = &rest[start + length + 2..];
    }
    around.push_str(&encoded(rest));
    around
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::area::Area;
    use crate::step::Edit;

    #[test]
    fn references_are_filled_in_from_the_answers_and_other_braces_stay() {
        let mut memory = Memory::new("7");
        memory.keep(
            3,
            &json!({"metadata": {"uid": "u", "resourceVersion": "12", "name": "n"}}),
        );
        let filled =
            memory.filled("{{ns}}/{{tag}}/{{3.uid}}-{{3.rv}}-{{3.name}}/{{4.uid}}/{{odd}}/{{");
        assert_eq!(filled, "fid-7/tag-7/u-12-n/missing/{{odd}}/{{");
    }

    #[test]
    fn names_are_encoded_around_their_references() {
        let encoded = encoded_around_references("{{tag}}-1/a b{{3.name}}\u{e4}");
        assert_eq!(encoded, "{{tag}}-1%2Fa%20b{{3.name}}%C3%A4");
    }

    #[test]
    fn a_request_has_its_query_encoded_and_its_body_made_of_an_answer() {
        let mut memory = Memory::new("7");
        memory.keep(0, &json!({"a": 1, "metadata": {"uid": "u"}}));
        let mut step =
            Step::new(1, Area::Objects, "PUT", "/api/{{ns}}").query("labelSelector", "a=b,c");
        step.body = Body::Answer {
            step: 0,
            edits: vec![Edit::Set("/b".to_owned(), json!("{{0.uid}}"))],
        };
        let request = memory.request(&step);
        assert_eq!(request.target, "/api/fid-7?labelSelector=a%3Db%2Cc");
        let body: Value = serde_json::from_str(&request.body).unwrap();
        assert_eq!(body, json!({"a": 1, "b": "u", "metadata": {"uid": "u"}}));
    }
}
