//! `Normaliser`: replaces what differs between any two servers, or any two runs on one.
//!
//! Uids and allocated addresses and ports become numbers in the order of their appearance. Object
//! versions become ordinal numbers (see `versions`), so that writes with and without a change are
//! distinguished. Current times, generated names, tokens and ages become words. Documents lose
//! their descriptions, since Kubist has its own.

use crate::causes;
use crate::documents;
use crate::memory::Request;
use crate::scan::{self, Found};
use crate::versions::{self, Versions};
use serde_json::Value;
use std::collections::BTreeMap;

/// The categories whose values are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Uid,
    Address,
    Port,
}

/// The replacements for one server in one run.
#[derive(Clone, Debug)]
pub(crate) struct Normaliser {
    /// The day, counted from 1970.
    today: i64,
    numbers: BTreeMap<(Sort, String), usize>,
    counts: BTreeMap<Sort, usize>,
    versions: Versions,
}

impl Normaliser {
    /// `now` is in seconds since 1970.
    pub(crate) fn new(now: i64) -> Self {
        Self {
            today: now.div_euclid(86_400),
            numbers: BTreeMap::new(),
            counts: BTreeMap::new(),
            versions: Versions::default(),
        }
    }

    fn number(&mut self, sort: Sort, value: &str) -> usize {
        let key = (sort, value.to_owned());
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let count = self.counts.entry(sort).or_default();
        *count += 1;
        self.numbers.insert(key, *count);
        *count
    }

    fn knows(&self, sort: Sort, value: &str) -> bool {
        self.numbers.contains_key(&(sort, value.to_owned()))
    }

    /// Replaces values in a whole body.
    pub(crate) fn value(&mut self, value: &mut Value, request: &Request) {
        if request.target.starts_with("/openapi/") {
            documents::undescribe(value);
        }
        // All versions are collected before any text is processed.
        self.versions.learn(value, &request.target);
        self.arrange(value);
        self.walk("", value, request);
    }

    /// Removes what background loops of the kube-apiserver report at any time. Lists are sorted by
    /// name, so items with generated names are sorted by their first appearance instead.
    fn arrange(&self, value: &mut Value) {
        causes::arrange(value);
        // A kube-apiserver visits roles and bindings in any order.
        for rules in ["/status/resourceRules", "/status/nonResourceRules"] {
            if let Some(Value::Array(rules)) = value.pointer_mut(rules) {
                rules.sort_by_cached_key(Value::to_string);
            }
        }
        let Some(Value::Array(items)) = value.get_mut("items") else {
            return;
        };
        items.retain(|item| item["action"] != "ClusterIPAllocation");
        let is_generated = |item: &Value| item["metadata"]["generateName"].is_string();
        if items.iter().any(is_generated) {
            items.sort_by_key(|item| {
                let uid = item["metadata"]["uid"].as_str().unwrap_or_default();
                let number = self.numbers.get(&(Sort::Uid, uid.to_owned()));
                number.copied().unwrap_or(usize::MAX)
            });
        }
    }

    /// Replaces values in a header.
    pub(crate) fn header(&mut self, text: &str, request: &Request) -> String {
        self.text(text, request)
    }

    fn walk(&mut self, key: &str, value: &mut Value, request: &Request) {
        match value {
            Value::Object(fields) => {
                if versions::is_scale(fields)
                    && let Some(Value::String(version)) = fields
                        .get_mut("metadata")
                        .and_then(|it| it.get_mut("resourceVersion"))
                {
                    // The displayed fields do not show whether anything has changed.
                    "<version>".clone_into(version);
                }
                let uid = fields.get("uid").and_then(Value::as_str).map(str::to_owned);
                let version = fields.get_mut("resourceVersion");
                if let Some(Value::String(version)) = version {
                    self.version(version, uid.as_deref(), key == "metadata");
                }
                let mut names: Vec<String> = fields.keys().cloned().collect();
                names.sort_unstable();
                for name in names {
                    if let Some(value) = fields.get_mut(&name) {
                        self.walk(&name, value, request);
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.walk(key, item, request);
                }
            }
            Value::String(text) => *text = self.field(key, text, request),
            Value::Number(number) => {
                let is_port = matches!(key, "nodePort" | "healthCheckNodePort");
                if is_port
                    && number
                        .as_i64()
                        .is_some_and(|it| (30_000..65_536).contains(&it))
                {
                    let port = self.number(Sort::Port, &number.to_string());
                    *value = Value::from(format!("<port {port}>"));
                } else if number
                    .as_i64()
                    .is_some_and(|it| it.div_euclid(86_400) == self.today)
                {
                    // In protobuf times are numbers.
                    *value = Value::from("<time>");
                }
            }
            _ => {}
        }
    }

    fn version(&mut self, version: &mut String, uid: Option<&str>, is_metadata: bool) {
        if version.is_empty() || version == "<version>" {
            return;
        }
        match uid {
            Some(uid) => *version = format!("<version {}>", self.versions.number(uid, version)),
            None if is_metadata || self.versions.has(version) => {
                "<version>".clone_into(version);
            }
            None => {}
        }
    }

    fn field(&mut self, key: &str, text: &str, request: &Request) -> String {
        match key {
            "serverAddress" => return "<server>".to_owned(),
            // It has its number already.
            "resourceVersion" if text.starts_with("<version") => return text.to_owned(),
            "continue" if !text.is_empty() => return "<continue>".to_owned(),
            "token" if text.starts_with("ey") && text.matches('.').count() == 2 => {
                return "<token>".to_owned();
            }
            "cells" if scan::is_age(text) => return "<age>".to_owned(),
            "cells" => return scan::without_ports(&self.text(text, request)),
            "message" => return self.words(text, request, false),
            // In protobuf: the versions of an object and of a list.
            "2" | "6" if text.bytes().all(|it| it.is_ascii_digit()) && !text.is_empty() => {
                return "<version>".to_owned();
            }
            _ => {}
        }
        self.text(text, request)
    }

    fn text(&mut self, text: &str, request: &Request) -> String {
        self.words(text, request, true)
    }

    /// Kinds without allocation: addresses that are known are replaced, others stay.
    fn words(&mut self, text: &str, request: &Request, allots: bool) -> String {
        let text = scan::without_owners(text);
        let text = scan::without_scheme(&text);
        let text = scan::without_empty(&text);
        let text: &str = &text;
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let Some((found, length)) = scan::at_start(rest, self.today) else {
                replaced.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            let word = &rest[..length];
            let shown = match found {
                Found::Uid => format!("<uid {}>", self.number(Sort::Uid, word)),
                Found::Address if allots || self.knows(Sort::Address, word) => {
                    format!("<address {}>", self.number(Sort::Address, word))
                }
                Found::Address => "<address>".to_owned(),
                Found::Time => "<time>".to_owned(),
                Found::ExactTime => "<exact time>".to_owned(),
                Found::Generated => {
                    format!("{}<suffix>", &word[..length - scan::SUFFIX_LENGTH])
                }
                Found::Hash => "hash=<hash>".to_owned(),
            };
            replaced.push_str(&shown);
            rest = &rest[length..];
        }
        if text.contains("ersion") {
            return self.without_versions(&replaced, request);
        }
        replaced
    }

    /// Replaces versions in a message: those of objects, and numbers that the request did not
    /// contain.
    fn without_versions(&self, text: &str, request: &Request) -> String {
        let words = [
            "esource version",
            "ResourceVersion in record",
            "ResourceVersion in object meta",
            // An object in the text of an error.
            "resourceVersion\\\":\\\"",
        ];
        let is_about_versions = words.iter().any(|it| text.contains(it));
        scan::with_numbers(text, |number| {
            let is_known = self.versions.has(number);
            // As a whole: the versions in a request differ between the servers.
            let has_it = |text: &str| {
                let mut numbers = text.split(|it: char| !it.is_ascii_digit());
                numbers.any(|it| it == number)
            };
            let is_said = has_it(&request.target) || has_it(&request.body);
            is_known || (is_about_versions && !is_said)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::area::Area;
    use crate::memory::Memory;
    use crate::step::Step;

    /// 2026-01-02T00:00:00Z.
    const NOW: i64 = 1_767_312_000;

    fn request(path: &str) -> Request {
        Memory::new("0").request(&Step::new(0, Area::Paths, "GET", path))
    }

    fn normal(normaliser: &mut Normaliser, mut value: Value) -> Value {
        normaliser.value(&mut value, &request("/"));
        value
    }

    #[test]
    fn versions_of_an_object_are_numbered_so_that_no_change_is_seen() {
        let mut normaliser = Normaliser::new(NOW);
        let uid = "11111111-2222-3333-4444-555555555555";
        let object = |version: &str| json!({"metadata": {"uid": uid, "resourceVersion": version}});
        let first = normal(&mut normaliser, object("120"));
        let same = normal(&mut normaliser, object("120"));
        let next = normal(&mut normaliser, object("131"));
        assert_eq!(first, same);
        assert_eq!(first["metadata"]["resourceVersion"], "<version 0>");
        assert_eq!(next["metadata"]["resourceVersion"], "<version 1>");
        assert_eq!(next["metadata"]["uid"], "<uid 1>");
        let list = normal(
            &mut normaliser,
            json!({"metadata": {"resourceVersion": "140"}}),
        );
        assert_eq!(list["metadata"]["resourceVersion"], "<version>");
        let message = json!({"message": "the version 131 is not 7"});
        let message = normal(&mut normaliser, message);
        assert_eq!(message["message"], "the version <n> is not 7");
    }

    #[test]
    fn a_version_that_an_object_came_with_is_no_part_of_others() {
        let mut normaliser = Normaliser::new(NOW);
        let uid = "11111111-2222-3333-4444-555555555555";
        let dry = json!({"metadata": {"uid": "22222222-2222-3333-4444-555555555555",
            "resourceVersion": "0"}});
        normal(&mut normaliser, dry);
        let object = json!({"metadata": {"uid": uid, "resourceVersion": "120"}});
        let object = normal(&mut normaliser, object);
        assert_eq!(object["metadata"]["resourceVersion"], "<version 0>");
    }

    #[test]
    fn documents_lose_their_descriptions_and_nothing_else_does() {
        let mut normaliser = Normaliser::new(NOW);
        let schema = json!({"description": "An A.", "type": "object"});
        for (path, expected) in [
            ("/openapi/v3/api/v1", json!({"type": "object"})),
            ("/api/v1/pods", schema.clone()),
        ] {
            let mut value = schema.clone();
            normaliser.value(&mut value, &request(path));
            assert_eq!(value, expected, "{path}");
        }
    }

    #[test]
    fn times_of_today_are_replaced_and_others_stay() {
        let mut normaliser = Normaliser::new(NOW);
        let value = normal(
            &mut normaliser,
            json!([
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05.000006Z",
                "2020-01-02T03:04:05Z"
            ]),
        );
        assert_eq!(
            value,
            json!(["<time>", "<exact time>", "2020-01-02T03:04:05Z"])
        );
    }

    #[test]
    fn what_a_server_allots_is_numbered_by_appearance() {
        let mut normaliser = Normaliser::new(NOW);
        let one =
            json!({"clusterIP": "10.96.3.4", "clusterIPs": ["10.96.3.4"], "nodePort": 30_100});
        let expected = json!({"clusterIP": "<address 1>", "clusterIPs": ["<address 1>"],
            "nodePort": "<port 1>"});
        assert_eq!(normal(&mut normaliser, one), expected);
        let cells = json!({"cells": ["a", "3m4s", "80:30100/TCP", "10.96.3.4", 30_100]});
        let expected = json!({"cells": ["a", "<age>", "80:<port>/TCP", "<address 1>", 30_100]});
        assert_eq!(normal(&mut normaliser, cells), expected);
    }

    #[test]
    fn an_address_in_a_message_takes_no_number() {
        let mut normaliser = Normaliser::new(NOW);
        let status = json!({"message": "IPAddress \"10.96.3.4\" is invalid"});
        let status = normal(&mut normaliser, status);
        assert_eq!(status["message"], "IPAddress \"<address>\" is invalid");
        let made = normal(&mut normaliser, json!({"clusterIP": "10.96.3.5"}));
        assert_eq!(made["clusterIP"], "<address 1>");
        let status = normal(&mut normaliser, json!({"message": "10.96.3.5 is taken"}));
        assert_eq!(status["message"], "<address 1> is taken");
    }

    #[test]
    fn objects_in_messages_have_no_owners_of_fields() {
        let mut normaliser = Normaliser::new(NOW);
        let value =
            json!(r#"bad "{\"a\":1,\"managedFields\":[{\"f\":[1]}],\"b\":2}" in scheme "x.go:1""#);
        let expected = json!(r#"bad "{\"a\":1,\"b\":2}" in scheme "<scheme>""#);
        assert_eq!(normal(&mut normaliser, value), expected);
        let last = json!(
            r#"{"a":1,"managedFields":[{"f":[1]}]},{"managedFields":[],"b":2},{"managedFields":[]}"#
        );
        let expected = json!(r#"{"a":1},{"b":2},{}"#);
        assert_eq!(normal(&mut normaliser, last), expected);
    }

    #[test]
    fn lists_of_generated_names_are_in_the_order_of_appearance() {
        let mut normaliser = Normaliser::new(0);
        let request = request("/api/v1/pods");
        let made = |uid: &str| json!({"metadata": {"generateName": "it-", "uid": uid}});
        let (one, other) = (
            "11111111-1111-4111-8111-111111111111",
            "22222222-2222-4222-8222-222222222222",
        );
        for uid in [one, other] {
            normaliser.value(&mut made(uid), &request);
        }
        let event = json!({"action": "ClusterIPAllocation", "metadata": {"uid": other}});
        let mut list = json!({"items": [event, made(other), made(one)]});
        normaliser.value(&mut list, &request);
        assert_eq!(list["items"][0]["metadata"]["uid"], "<uid 1>");
        assert_eq!(list["items"][1]["metadata"]["uid"], "<uid 2>");
    }

    #[test]
    fn numbers_in_messages_about_versions_stay_where_the_request_said_them() {
        let mut normaliser = Normaliser::new(NOW);
        let mut value = json!("Too large resource version: 99, current: 17");
        normaliser.value(&mut value, &request("/?resourceVersion=99"));
        assert_eq!(value, json!("Too large resource version: 99, current: <n>"));
        let mut value = json!("(99) does not match the ResourceVersion in record (17)");
        normaliser.value(&mut value, &request("/?resourceVersion=99"));
        let expected = "(99) does not match the ResourceVersion in record (<n>)";
        assert_eq!(value, json!(expected));
    }
}
