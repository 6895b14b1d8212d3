//! `Raw`: a response; `Answer`: the same, normalised for comparison.

use crate::memory::Request;
use crate::normaliser::Normaliser;
use crate::protobuf;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Headers that clients evaluate.
const HEADERS: [&str; 9] = [
    "allow",
    "cache-control",
    "content-type",
    "location",
    "retry-after",
    "vary",
    "warning",
    "www-authenticate",
    "x-content-type-options",
];
/// The annotation of the bookmark after the initial events of a watch.
pub(crate) const INITIAL_END: &str = "k8s.io/initial-events-end";

/// A response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    pub(crate) status: u16,
    /// Names in lower case, in their order.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The compared parts of a response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<&'static str, Vec<String>>,
    /// The encoding of the body.
    pub(crate) form: &'static str,
    /// The content: for a watch, the list of its events.
    pub(crate) content: Value,
}

impl Raw {
    /// Reports whether the server closes the connection after it.
    pub(crate) fn closes(&self) -> bool {
        self.header("connection") == "close"
    }

    /// Returns the first header of this name.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(it, _)| it == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Returns the body, if it is JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Returns this answer with everything replaced that differs between any two servers.
    pub(crate) fn answer(
        &self,
        request: &Request,
        is_watch: bool,
        normaliser: &mut Normaliser,
    ) -> Answer {
        let (form, mut content) = self.content(is_watch);
        normaliser.value(&mut content, request);
        let mut headers: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for (name, value) in &self.headers {
            if let Some(name) = HEADERS.into_iter().find(|it| it == name) {
                let value = normaliser.header(value, request);
                headers.entry(name).or_default().push(value);
            }
        }
        Answer {
            status: self.status,
            headers,
            form,
            content,
        }
    }

    fn content(&self, is_watch: bool) -> (&'static str, Value) {
        let media = self.header("content-type");
        if self.body.is_empty() {
            return ("empty", Value::Null);
        }
        if media.contains("protobuf") {
            let tree = protobuf::tree(&self.body);
            return ("protobuf", tree.unwrap_or_else(|| self.text()));
        }
        if media.contains("yaml") && !is_watch {
            let text = String::from_utf8_lossy(&self.body);
            let parsed: Result<Value, _> = serde_saphyr::from_str(&text);
            return ("yaml", parsed.unwrap_or_else(|_| self.text()));
        }
        if !media.contains("json") {
            return ("text", self.text());
        }
        if is_watch && self.status == 200 {
            let events = self.events();
            // There may be bookmarks only.
            return if events.is_empty() {
                ("empty", Value::Null)
            } else {
                ("events", Value::Array(events))
            };
        }
        match self.json() {
            Some(value) => (self.json_form(), value),
            None => ("no json", self.text()),
        }
    }

    fn json_form(&self) -> &'static str {
        let is_indented = self.body.starts_with(b"{\n");
        match (is_indented, self.body.ends_with(b"\n")) {
            (true, true) => "indented json and a newline",
            (true, false) => "indented json",
            (false, true) => "json and a newline",
            (false, false) => "json",
        }
    }

    fn text(&self) -> Value {
        Value::String(String::from_utf8_lossy(&self.body).into_owned())
    }

    /// Returns the events of a watch without bookmarks, whose timing is the server's choice, except
    /// for one.
    fn events(&self) -> Vec<Value> {
        let text = String::from_utf8_lossy(&self.body);
        let lines = text.split('\n').filter(|line| !line.trim().is_empty());
        let events = lines.map(|line| {
            let event: Result<Value, _> = serde_json::from_str(line);
            event.unwrap_or_else(|_| json!(line))
        });
        let is_told = |event: &Value| {
            let annotations = &event["object"]["metadata"]["annotations"];
            event["type"] != "BOOKMARK" || !annotations[INITIAL_END].is_null()
        };
        events.filter(is_told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::step::Step;

    fn answered(media: &str, body: &str, is_watch: bool) -> Answer {
        let raw = Raw {
            status: 200,
            headers: vec![
                ("content-type".to_owned(), media.to_owned()),
                ("date".to_owned(), "today".to_owned()),
            ],
            body: body.as_bytes().to_vec(),
        };
        let step = Step::new(0, crate::area::Area::Paths, "GET", "/");
        let request = Memory::new("0").request(&step);
        raw.answer(&request, is_watch, &mut Normaliser::new(1_767_312_000))
    }

    #[test]
    fn a_body_is_read_by_its_media_type() {
        let json = answered("application/json", "{\n  \"a\": 1\n}\n", false);
        assert_eq!(json.form, "indented json and a newline");
        assert_eq!(json.content, json!({"a": 1}));
        assert_eq!(json.headers.len(), 1, "{:?}", json.headers);
        let yaml = answered("application/yaml", "a: 1\n", false);
        assert_eq!((yaml.form, yaml.content), ("yaml", json!({"a": 1})));
        let text = answered("text/plain", "a: 1", false);
        assert_eq!((text.form, text.content), ("text", json!("a: 1")));
        let broken = answered("application/json", "{", false);
        assert_eq!((broken.form, broken.content), ("no json", json!("{")));
    }

    #[test]
    fn of_the_bookmarks_of_a_watch_only_that_after_the_initial_events_is_kept() {
        let body = "{\"type\":\"ADDED\",\"object\":{}}\n\
            {\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}\n\
            {\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":\
            {\"k8s.io/initial-events-end\":\"true\"}}}}\n";
        let watch = answered("application/json", body, true);
        let types: Vec<&str> = watch
            .content
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|event| event["type"].as_str())
            .collect();
        assert_eq!(types, ["ADDED", "BOOKMARK"]);
        let bookmark = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{}}}\n";
        let quiet = answered("application/json", bookmark, true);
        assert_eq!((quiet.form, quiet.content), ("empty", Value::Null));
    }
}
