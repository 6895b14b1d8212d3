//! `compare`: finds differences between two answers.

use crate::answer::Answer;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The most differences of one answer; further ones have the same cause.
const DIFFERENCES_MAX: usize = 40;
/// The most characters of a value in a report.
const SHOWN_MAX: usize = 400;
/// How many characters of the beginning are shown of values that differ further behind, and how
/// many before the difference.
const BEGIN_MAX: usize = 320;
const BEFORE: usize = 60;
/// Fields that identify an item of a list, if no two items have the same.
const KEYS: [&str; 8] = [
    "/metadata/name",
    "/object/metadata/name",
    "/name",
    "/groupVersion",
    "/type",
    "/version",
    "/key",
    // Items that are strings.
    "",
];

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum What {
    /// The status code.
    Status,
    /// A header.
    Header,
    /// The encoding of the body.
    Form,
    /// A field or item that only the kube-apiserver returns.
    OnlyTheirs,
    /// A field or item that only Kubist returns.
    OnlyOurs,
    Value,
    /// The same items in another order.
    Order,
    /// There was no answer.
    Failed,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    pub(crate) what: What,
    /// The path of a field, with `[*]` for any item, or the name of a header, or empty.
    pub(crate) at: String,
    pub(crate) theirs: String,
    pub(crate) ours: String,
}

/// Returns the differences, up to a limit.
pub(crate) fn compare(theirs: &Answer, ours: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |what, at: &str, theirs: String, ours: String| {
        if theirs != ours {
            found.push(Difference {
                what,
                at: at.to_owned(),
                theirs,
                ours,
            });
        }
    };
    add(
        What::Status,
        "",
        theirs.status.to_string(),
        ours.status.to_string(),
    );
    let names: BTreeSet<&str> = theirs
        .headers
        .keys()
        .chain(ours.headers.keys())
        .copied()
        .collect();
    for name in names {
        let value = |answer: &Answer| {
            answer
                .headers
                .get(name)
                .map_or_else(String::new, |values| values.join(" | "))
        };
        add(What::Header, name, value(theirs), value(ours));
    }
    add(What::Form, "", theirs.form.to_owned(), ours.form.to_owned());
    values("", &theirs.content, &ours.content, &mut found);
    found.truncate(DIFFERENCES_MAX);
    found
}

fn shown(value: &Value) -> String {
    cut(value.to_string())
}

fn cut(text: String) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

fn values(at: &str, theirs: &Value, ours: &Value, found: &mut Vec<Difference>) {
    if found.len() > DIFFERENCES_MAX || theirs == ours {
        return;
    }
    match (theirs, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for name in names {
                let at = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                either(&at, left.get(name), right.get(name), found);
            }
        }
        (Value::Array(left), Value::Array(right)) => items(&format!("{at}[*]"), left, right, found),
        _ => {
            let (left, right) = (theirs.to_string(), ours.to_string());
            let same = left
                .chars()
                .zip(right.chars())
                .take_while(|it| it.0 == it.1);
            let same = same.count();
            found.push(Difference {
                what: What::Value,
                at: at.to_owned(),
                theirs: shown_where(&left, same),
                ours: shown_where(&right, same),
            });
        }
    }
}

/// Returns the beginning of a text, and the part around the first difference from another.
fn shown_where(text: &str, same: usize) -> String {
    if same < SHOWN_MAX {
        return cut(text.to_owned());
    }
    let begin: String = text.chars().take(BEGIN_MAX).collect();
    let rest: String = text.chars().skip(same - BEFORE).collect();
    format!("{begin}...{}", cut(rest))
}

fn either(at: &str, theirs: Option<&Value>, ours: Option<&Value>, found: &mut Vec<Difference>) {
    let (what, theirs, ours) = match (theirs, ours) {
        (Some(theirs), Some(ours)) => return values(at, theirs, ours, found),
        (Some(theirs), None) => (What::OnlyTheirs, shown(theirs), String::new()),
        (None, Some(ours)) => (What::OnlyOurs, String::new(), shown(ours)),
        (None, None) => return,
    };
    found.push(Difference {
        what,
        at: at.to_owned(),
        theirs,
        ours,
    });
}

fn items(at: &str, theirs: &[Value], ours: &[Value], found: &mut Vec<Difference>) {
    let Some((left, right)) = KEYS.iter().find_map(|key| {
        let left = by_key(theirs, key)?;
        Some((left, by_key(ours, key)?))
    }) else {
        for number in 0..theirs.len().max(ours.len()) {
            either(at, theirs.get(number), ours.get(number), found);
        }
        return;
    };
    let before = found.len();
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for name in names {
        let item = |of: &BTreeMap<String, (usize, Value)>| of.get(name).map(|(_, it)| it.clone());
        either(at, item(&left).as_ref(), item(&right).as_ref(), found);
    }
    let order = |of: &BTreeMap<String, (usize, Value)>| {
        let mut order: Vec<(usize, String)> = of
            .iter()
            .map(|(name, (number, _))| (*number, name.clone()))
            .collect();
        order.sort_unstable();
        let names: Vec<String> = order.into_iter().map(|(_, name)| name).collect();
        names
    };
    let (left, right) = (order(&left), order(&right));
    if found.len() == before && left != right {
        found.push(Difference {
            what: What::Order,
            at: at.to_owned(),
            theirs: left.join(", "),
            ours: right.join(", "),
        });
    }
}

/// Returns items with their indexes, by a text that is unique to each.
fn by_key(items: &[Value], pointer: &str) -> Option<BTreeMap<String, (usize, Value)>> {
    let mut found = BTreeMap::new();
    for (number, item) in items.iter().enumerate() {
        let key = item.pointer(pointer)?.as_str()?.to_owned();
        if found.insert(key, (number, item.clone())).is_some() {
            return None;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(theirs: Value, ours: Value) -> Vec<(What, String)> {
        let mut found = Vec::new();
        values("", &theirs, &ours, &mut found);
        found.into_iter().map(|it| (it.what, it.at)).collect()
    }

    fn answer(status: u16, warning: &str) -> Answer {
        Answer {
            status,
            headers: BTreeMap::from([("warning", vec![warning.to_owned()])]),
            form: "json",
            content: Value::Null,
        }
    }

    #[test]
    fn fields_are_compared_by_path() {
        let theirs = json!({"a": {"b": 1, "c": 2}, "d": [1, 2]});
        let ours = json!({"a": {"b": 3, "e": 2}, "d": [1]});
        let expected = [
            (What::Value, "a.b".to_owned()),
            (What::OnlyTheirs, "a.c".to_owned()),
            (What::OnlyOurs, "a.e".to_owned()),
            (What::OnlyTheirs, "d[*]".to_owned()),
        ];
        assert_eq!(differences(theirs, ours), expected);
    }

    #[test]
    fn items_with_names_are_compared_by_name_and_then_by_order() {
        let theirs =
            json!({"items": [{"metadata": {"name": "a"}, "x": 1}, {"metadata": {"name": "b"}}]});
        let ours =
            json!({"items": [{"metadata": {"name": "b"}}, {"metadata": {"name": "a"}, "x": 2}]});
        let expected = [(What::Value, "items[*].x".to_owned())];
        assert_eq!(differences(theirs, ours), expected);
        let swapped = differences(
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "b"}, {"name": "a"}]),
        );
        assert_eq!(swapped, [(What::Order, "[*]".to_owned())]);
        let texts = differences(json!(["a", "b", "c"]), json!(["a", "c"]));
        assert_eq!(texts, [(What::OnlyTheirs, "[*]".to_owned())]);
    }

    #[test]
    fn codes_and_headers_are_compared() {
        assert!(compare(&answer(200, "a"), &answer(200, "a")).is_empty());
        let found = compare(&answer(200, "a"), &answer(201, "b"));
        let found: Vec<(What, &str)> = found.iter().map(|it| (it.what, it.at.as_str())).collect();
        assert_eq!(found, [(What::Status, ""), (What::Header, "warning")]);
    }

    #[test]
    fn long_texts_are_shown_from_where_they_differ() {
        let (begin, end) = ("a".repeat(2 * SHOWN_MAX), "b".repeat(2 * SHOWN_MAX));
        let texts = |middle: &str| json!(format!("{begin}{middle}{end}"));
        let mut found = Vec::new();
        values("x", &texts("1"), &texts("2"), &mut found);
        let difference = &found[0];
        assert!(difference.theirs.starts_with("\"aaa") && difference.theirs.contains("a1b"));
        assert!(difference.ours.contains("a2b") && difference.ours.len() < 2 * SHOWN_MAX);
    }

    #[test]
    fn a_long_value_is_abbreviated() {
        assert_eq!(shown(&json!("a".repeat(1_000))).len(), SHOWN_MAX + 3);
        assert_eq!(shown(&json!("\u{e4}")), "\"\u{e4}\"");
    }
}
