//! `compare`: finds differences between two answers.

use crate::{Answer, Case};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;

/// A difference between the answers to a case. Two with the same resource, kind, path and reason
/// are the same difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Difference {
    /// The plural of the kind.
    pub resource: String,
    /// The kind of difference.
    pub what: What,
    /// The field; everything in brackets is `*`.
    pub path: String,
    /// The reason, for causes; both reasons, for faults; empty otherwise.
    pub reason: String,
    /// A description.
    pub seen: String,
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to compare")]
pub enum What {
    /// An error that only upstream finds.
    OnlyTheirs,
    /// An error that only Kubist finds.
    OnlyOurs,
    /// The object with its defaults.
    Default,
    /// The object as stored.
    Stored,
    /// Whether it is validated at all.
    Fault,
    /// The message of an error that both find.
    Message,
}

/// Fields that differ for every object.
const MADE_UP: [&str; 4] = [
    "status.conditions[0].lastTransitionTime",
    "metadata.uid",
    "metadata.creationTimestamp",
    "status.lastPhaseTransitionTime",
];
/// The most characters of a value in a description.
const SHOWN_MAX: usize = 200;

/// Returns the differences between the answers to a case, each place once.
pub fn compare(case: &Case, ours: &Answer, theirs: &Answer) -> Vec<Difference> {
    let mut found = Found {
        resource: &case.resource,
        uids: [""; 2],
        differences: Vec::new(),
    };
    if ours.fault.is_some() || theirs.fault.is_some() {
        if ours.fault != theirs.fault {
            found.fault(ours, theirs);
        }
        return found.differences;
    }
    let (our_default, their_default) = both(&ours.defaulted, &theirs.defaulted);
    found.values(What::Default, "", our_default, their_default);
    found.causes(ours, theirs);
    found.messages(ours, theirs);
    let before = found.differences.len();
    let (our_object, their_object) = both(&ours.prepared, &theirs.prepared);
    found.uids = [uid(our_object), uid(their_object)];
    found.values(What::Stored, "", our_object, their_object);
    // Differences in the defaults are not reported again.
    let stored = found.differences.split_off(before);
    let is_new = |it: &Difference| {
        !found
            .differences
            .iter()
            .any(|default| default.path == it.path)
    };
    let stored: Vec<_> = stored.into_iter().filter(is_new).collect();
    found.differences.extend(stored);
    let mut seen = BTreeSet::new();
    let key = |it: &Difference| (it.what, it.path.clone(), it.reason.clone());
    found.differences.retain(|it| seen.insert(key(it)));
    found.differences
}

/// Compares the objects of both, if both have one.
fn both<'a>(ours: &'a Option<Value>, theirs: &'a Option<Value>) -> (&'a Value, &'a Value) {
    let pair = ours.as_ref().zip(theirs.as_ref());
    pair.unwrap_or((&Value::Null, &Value::Null))
}

fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

struct Found<'a> {
    resource: &'a str,
    /// The uid of the object on each side, which is a label of Jobs.
    uids: [&'a str; 2],
    differences: Vec<Difference>,
}

impl Found<'_> {
    fn add(&mut self, what: What, path: &str, reason: &str, seen: String) {
        self.differences.push(Difference {
            resource: self.resource.to_owned(),
            what,
            path: pattern(path),
            reason: reason.to_owned(),
            seen,
        });
    }

    fn fault(&mut self, ours: &Answer, theirs: &Answer) {
        let word = |it: &Answer| it.fault.clone().unwrap_or_else(|| "none".to_owned());
        let why = |it: &Answer| match &it.message {
            Some(message) => message.clone(),
            None => format!("{:?}", it.causes),
        };
        let reason = format!("ours {}, theirs {}", word(ours), word(theirs));
        let seen = format!("ours: {}; theirs: {}", why(ours), why(theirs));
        self.add(What::Fault, "", &reason, seen);
    }

    fn causes(&mut self, ours: &Answer, theirs: &Answer) {
        for (what, from, other) in [
            (What::OnlyOurs, ours, theirs),
            (What::OnlyTheirs, theirs, ours),
        ] {
            for cause in &from.causes {
                let same =
                    |it: &&crate::Cause| it.field == cause.field && it.reason == cause.reason;
                if !other.causes.iter().any(|it| same(&it)) {
                    self.add(what, &cause.field, &cause.reason, cause.message.clone());
                }
            }
        }
    }

    /// Compares the messages of errors that both find, in any order.
    fn messages(&mut self, ours: &Answer, theirs: &Answer) {
        for cause in &theirs.causes {
            let of = |it: &Answer| -> BTreeSet<String> {
                let same =
                    |it: &&crate::Cause| it.field == cause.field && it.reason == cause.reason;
                let same = it.causes.iter().filter(same);
                same.map(|it| without_uids(&it.message)).collect()
            };
            let (ours, theirs) = (of(ours), of(theirs));
            if !ours.is_empty() && ours != theirs {
                let show = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
                    let only: Vec<&str> = one.difference(other).map(String::as_str).collect();
                    only.join(" | ")
                };
                let seen = format!(
                    "ours {:?}, theirs {:?}",
                    show(&ours, &theirs),
                    show(&theirs, &ours)
                );
                self.add(What::Message, &cause.field, &cause.reason, seen);
            }
        }
    }

    fn values(&mut self, what: What, path: &str, ours: &Value, theirs: &Value) {
        match (ours, theirs) {
            _ if MADE_UP.contains(&path) => {}
            (Value::Object(ours), Value::Object(theirs)) => {
                let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
                for key in keys {
                    let path = match path {
                        "" => key.clone(),
                        _ => format!("{path}.{key}"),
                    };
                    match (ours.get(key), theirs.get(key)) {
                        (Some(ours), Some(theirs)) => self.values(what, &path, ours, theirs),
                        (ours, theirs) => self.value(what, &path, ours, theirs),
                    }
                }
            }
            (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
                for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                    self.values(what, &format!("{path}[{index}]"), ours, theirs);
                }
            }
            (ours, theirs) if ours == theirs => {}
            (Value::String(ours), Value::String(theirs)) if self.uids == [ours, theirs] => {}
            (ours, theirs) => self.value(what, path, Some(ours), Some(theirs)),
        }
    }

    fn value(&mut self, what: What, path: &str, ours: Option<&Value>, theirs: Option<&Value>) {
        if !MADE_UP.contains(&path) {
            let seen = format!("ours {}, theirs {}", shown(ours), shown(theirs));
            self.add(what, path, "", seen);
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "absent".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Replaces uids in a text by one word: each side generates its own.
fn without_uids(text: &str) -> String {
    const UID: usize = 36;
    let is_uid = |at: usize| {
        let part = text.as_bytes().get(at..at + UID);
        part.is_some_and(|part| {
            part.iter().enumerate().all(|(index, byte)| match index {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        })
    };
    let mut shown = String::with_capacity(text.len());
    let mut rest = 0;
    for (at, letter) in text.char_indices() {
        if at < rest {
            continue;
        }
        if is_uid(at) {
            shown.push_str("<uid>");
            rest = at + UID;
        } else {
            shown.push(letter);
            rest = at + letter.len_utf8();
        }
    }
    shown
}

/// Returns a path with `*` in all brackets.
fn pattern(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    let mut depth = 0_usize;
    for letter in path.chars() {
        match letter {
            '[' => {
                if depth == 0 {
                    pattern.push_str("[*");
                }
                depth += 1;
            }
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    pattern.push(']');
                }
            }
            _ if depth > 0 => {}
            letter => pattern.push(letter),
        }
    }
    pattern
}

impl What {
    /// Returns its name in the table.
    fn as_str(self) -> &'static str {
        match self {
            Self::OnlyTheirs => "only-theirs",
            Self::OnlyOurs => "only-ours",
            Self::Default => "default",
            Self::Stored => "stored",
            Self::Fault => "fault",
            Self::Message => "message",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource,
            what,
            path,
            reason,
            ..
        } = self;
        write!(f, "{resource} {what} {path}")?;
        if reason.is_empty() {
            Ok(())
        } else {
            write!(f, " {reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Cause;

    fn case() -> Case {
        Case {
            resource: "pods".to_owned(),
            object: Value::Null,
            old: None,
            subresource: "",
            done: Vec::new(),
        }
    }

    fn cause(field: &str, reason: &str) -> Answer {
        let (field, reason) = (field.to_owned(), reason.to_owned());
        Answer {
            causes: vec![Cause {
                field,
                reason,
                message: String::new(),
            }],
            ..Answer::default()
        }
    }

    #[test]
    fn brackets_are_all_one_pattern() {
        assert_eq!(pattern("a[0].b[x[1].y].c"), "a[*].b[*].c");
        assert_eq!(pattern("a.b"), "a.b");
    }

    #[test]
    fn words_are_compared_but_for_uids() {
        let said = |message: &str| {
            let mut answer = cause("a.b", "FieldValueInvalid");
            answer.causes[0].message = message.to_owned();
            answer
        };
        let found = |ours: &str, theirs: &str| compare(&case(), &said(ours), &said(theirs));
        let uids = [
            "u 0f6b0a7c-3c4f-4f0c-8f59-1a2b3c4d5e6f",
            "u 7d5b0a7c-3c4f-4f0c-8f59-1a2b3c4d5e6f",
        ];
        assert_eq!(found(uids[0], uids[1]), []);
        let found = found("one", "other");
        assert_eq!(found[0].to_string(), "pods message a.b FieldValueInvalid");
    }

    #[test]
    fn causes_are_compared_by_field_and_reason() {
        let (required, invalid) = (cause("a[0]", "Required"), cause("a[0]", "Invalid"));
        assert_eq!(compare(&case(), &required, &required), []);
        let found = compare(&case(), &required, &invalid);
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "pods only-ours a[*] Required",
                "pods only-theirs a[*] Invalid"
            ]
        );
    }

    #[test]
    fn objects_are_compared_but_for_what_is_made_up() {
        let object = |uid: &str, port: i32| Answer {
            defaulted: Some(json!({"metadata": {"uid": uid}, "ports": [{"port": port}]})),
            ..Answer::default()
        };
        assert_eq!(compare(&case(), &object("a", 1), &object("b", 1)), []);
        let found = compare(&case(), &object("a", 1), &object("b", 2));
        assert_eq!(found[0].to_string(), "pods default ports[*].port");
        assert_eq!(found[0].seen, "ours 1, theirs 2");
    }
}
