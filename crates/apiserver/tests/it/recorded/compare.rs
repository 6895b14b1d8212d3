//! Compares a response with the recorded one. Generated values are symbols in the recording; a
//! symbol has the same value everywhere in a scenario.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The values of numbered symbols.
#[derive(Default)]
pub(super) struct Symbols {
    meanings: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
}

/// The characters of a symbol's value, and their number if it is fixed.
type Shape = (fn(char) -> bool, Option<usize>);

fn shape(symbol: &str) -> Option<Shape> {
    let of_time = |c: char| c.is_ascii_digit() || "TZ:.+-".contains(c);
    let of_token = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    Some(match symbol {
        "uid" => (|c| c.is_ascii_hexdigit() || c == '-', Some(36)),
        "rv" | "listrv" | "nodeport" => (|c| c.is_ascii_digit(), None),
        "gen" => (|c| c.is_ascii_alphanumeric(), Some(5)),
        "time" | "microtime" => (of_time, None),
        "age" => (|c| c.is_ascii_digit() || "smhd".contains(c), None),
        "ip" => (|c| c.is_ascii_digit() || c == '.', None),
        "token" => (of_token, None),
        _ => return None,
    })
}

impl Symbols {
    /// Returns the first difference from the recording.
    pub(super) fn difference(&mut self, path: &str, want: &Value, got: &Value) -> Option<String> {
        match (want, got) {
            (Value::Object(want), Value::Object(got)) => self.of_objects(path, want, got),
            (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
                let mut pairs = want.iter().zip(got).enumerate();
                pairs.find_map(|(index, (want, got))| {
                    self.difference(&format!("{path}[{index}]"), want, got)
                })
            }
            (Value::String(want), _) if want == "<ignored>" => None,
            (Value::String(want), Value::String(got))
                if want.starts_with("<continue") && !got.is_empty() =>
            {
                None
            }
            (Value::String(want), Value::String(got)) if self.fits(want, got) => None,
            (Value::String(want), Value::Number(_)) if want == "<nodeport>" => None,
            _ if want == got => None,
            _ => Some(format!("{path}: expected {want}, got {got}")),
        }
    }

    fn of_objects(
        &mut self,
        path: &str,
        want: &Map<String, Value>,
        got: &Map<String, Value>,
    ) -> Option<String> {
        for (key, want) in want {
            let path = format!("{path}.{key}");
            let Some(got) = got.get(key) else {
                return Some(format!("{path}: expected {want}, got nothing"));
            };
            if let Some(difference) = self.difference(&path, want, got) {
                return Some(difference);
            }
        }
        let more = got.iter().find(|(key, _)| !want.contains_key(*key));
        more.map(|(key, got)| format!("{path}.{key}: expected nothing, got {got}"))
    }

    /// Reports whether a text is the recorded one with its symbols replaced.
    fn fits(&mut self, mut want: &str, mut got: &str) -> bool {
        while let Some((before, symbol, after)) = first_symbol(want) {
            let Some(rest) = got.strip_prefix(before) else {
                return false;
            };
            let Some((is_part, length)) = shape(symbol.trim_end_matches(char::is_numeric)) else {
                return false;
            };
            let end = length
                .or_else(|| rest.find(|c| !is_part(c)))
                .unwrap_or(rest.len());
            let Some((value, rest)) = rest.split_at_checked(end) else {
                return false;
            };
            if value.is_empty() || !value.chars().all(is_part) || !self.means(symbol, value) {
                return false;
            }
            (want, got) = (after, rest);
        }
        want == got
    }

    /// Numbered symbols and their values correspond one to one.
    fn means(&mut self, symbol: &str, value: &str) -> bool {
        if !symbol.ends_with(|c: char| c.is_numeric()) {
            return true;
        }
        let (symbol, value) = (symbol.to_owned(), value.to_owned());
        let meaning = self.meanings.entry(symbol.clone());
        let name = self.names.entry(value.clone());
        *meaning.or_insert_with(|| value.clone()) == value
            && *name.or_insert_with(|| symbol.clone()) == symbol
    }
}

/// Splits a text at its first symbol.
fn first_symbol(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(start) = text[from..].find('<') {
        let start = from + start;
        let (before, rest) = text.split_at(start);
        let end = rest.find('>')?;
        let symbol = &rest[1..end];
        if shape(symbol.trim_end_matches(char::is_numeric)).is_some() {
            return Some((before, symbol, &rest[end + 1..]));
        }
        from = start + 1;
    }
    None
}

/// Removes what recordings lack: managed fields, unless the step has them, and column descriptions.
pub(super) fn strip(value: &mut Value, keeps_managers: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| strip(it, keeps_managers)),
        Value::Object(map) => {
            if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
                match metadata
                    .get_mut("managedFields")
                    .and_then(Value::as_array_mut)
                {
                    // Their order depends on the times.
                    Some(managers) if keeps_managers => managers.sort_by_cached_key(|it| {
                        ["operation", "manager", "subresource", "fieldsV1"]
                            .map(|name| it[name].to_string())
                    }),
                    _ => drop(metadata.remove("managedFields")),
                }
            }
            if let Some(Value::Array(columns)) = map.get_mut("columnDefinitions") {
                for column in columns.iter_mut().filter_map(Value::as_object_mut) {
                    column.remove("description");
                }
            }
            map.values_mut().for_each(|it| strip(it, keeps_managers));
        }
        _ => {}
    }
}

/// Removes managed fields from YAML text.
pub(super) fn without_managers(yaml: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut skipped = None;
    let mut kept = String::new();
    for line in yaml.split_inclusive('\n') {
        let of_list = line.trim_start().starts_with("- ");
        let inside = skipped.is_some_and(|at| indent(line) > at || (indent(line) == at && of_list));
        if inside {
            continue;
        }
        skipped = (line.trim() == "managedFields:").then(|| indent(line));
        if skipped.is_none() {
            kept += line;
        }
    }
    kept
}

/// Types instead of values.
pub(super) fn types(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.iter();
            fields
                .map(|(key, value)| (key.clone(), types(value)))
                .collect()
        }
        Value::Array(items) => items.first().map(types).into_iter().collect(),
        Value::String(_) => "<string>".into(),
        Value::Number(_) => "<number>".into(),
        Value::Bool(_) => "<boolean>".into(),
        Value::Null => "<null>".into(),
    }
}

/// Returns the value at a path of keys and indexes, separated by dots.
pub(super) fn at<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').try_fold(value, |value, part| match value {
        Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
        Value::Object(map) => map.get_mut(part),
        _ => None,
    })
}

#[test]
fn symbols_stand_for_one_value_each() {
    let mut symbols = Symbols::default();
    let uids = [
        "4c2f8d3e-6f0a-4d0b-8c7e-0123456789ab",
        "5c2f8d3e-6f0a-4d0b-8c7e-0123456789ab",
    ];
    assert!(symbols.fits("a <uid1> b <rv2>", &format!("a {} b 7", uids[0])));
    assert!(symbols.fits("<uid1>", uids[0]));
    assert!(!symbols.fits("<uid1>", uids[1]) && !symbols.fits("<uid2>", uids[0]));
    assert!(!symbols.fits("<rv2>", "8") && symbols.fits("<nil> <rv>", "<nil> 8"));
    assert!(!symbols.fits("<time>", "") && !symbols.fits("<time>", "x"));
}
