//! `JsonPath`: the path of a field in a custom object, in the syntax of definitions.
//!
//! Supports the simple JSONPath of columns, scales and selectable fields: names, quoted names in
//! brackets, indexes, `[*]`, and `[?(@.name=="text")]`. Other expressions are invalid.

use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{CustomObject, ObjectMeta};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The path of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
    All,
    Where { field: String, equals: String },
}

impl JsonPath {
    /// Parses a path such as `.spec.replicas`; `None` if it is invalid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        rest = rest.strip_prefix('{').unwrap_or(rest);
        rest = rest.strip_suffix('}').unwrap_or(rest);
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let step;
            (step, rest) = match rest.strip_prefix('[') {
                Some(inner) => bracket(inner)?,
                None => name(rest.strip_prefix('.').unwrap_or(rest))?,
            };
            steps.push(step);
        }
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// Returns the names in a path that consists of names only.
    pub(crate) fn names(&self) -> Option<Vec<&str>> {
        let name = |step: &'_ Step| match step {
            Step::Name(_) => true,
            Step::Index(_) | Step::All | Step::Where { .. } => false,
        };
        self.0.iter().all(name).then(|| {
            let names = self.0.iter().filter_map(|step| match step {
                Step::Name(name) => Some(name.as_str()),
                _ => None,
            });
            names.collect()
        })
    }

    /// Returns the value at the path; `None` if it is missing or null.
    pub(crate) fn find<'a>(&self, object: &'a CustomObject) -> Option<Cow<'a, Value>> {
        let (first, rest) = self.0.split_first()?;
        let Step::Name(first) = first else {
            return None;
        };
        if first == "metadata" {
            let metadata = metadata(&object.metadata);
            return walk(&metadata, rest).cloned().map(Cow::Owned);
        }
        walk(object.content().get(first)?, rest).map(Cow::Borrowed)
    }

    /// Sets the value at a path that consists of names only, and creates missing parent objects.
    ///
    /// # Errors
    /// A parent is something else than an object; the error is upstream's text.
    pub(crate) fn set(&self, object: &mut CustomObject, value: Value) -> Result<(), String> {
        let names = self.names().unwrap_or_default();
        let Some((last, way)) = names.split_last() else {
            return Ok(());
        };
        let mut map = object.content_mut();
        for (depth, name) in way.iter().enumerate() {
            let next = map.entry(*name);
            let Value::Object(inner) = next.or_insert_with(|| Value::Object(Map::new())) else {
                let parent = way[..=depth].join(".");
                return Err(format!(
                    "value cannot be set because .{parent} is not a map[string]interface{{}}"
                ));
            };
            map = inner;
        }
        map.insert((*last).to_owned(), value);
        Ok(())
    }
}

fn metadata(metadata: &ObjectMeta) -> Value {
    to_json_value(metadata)
}

fn name(text: &str) -> Option<(Step, &str)> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (!name.is_empty()).then(|| (Step::Name(name.replace('\\', "")), rest))
}

/// Parses a step in brackets, after the opening bracket.
fn bracket(text: &str) -> Option<(Step, &str)> {
    if let Some(inner) = text.strip_prefix("?(@.") {
        let (condition, rest) = inner.split_once(")]")?;
        let (field, equals) = condition.split_once("==")?;
        return Some((
            Step::Where {
                field: field.trim().to_owned(),
                equals: unquoted(equals.trim())?.to_owned(),
            },
            rest,
        ));
    }
    let (inner, rest) = text.split_once(']')?;
    let step = match inner {
        "*" => Step::All,
        inner => match inner.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Name(unquoted(inner)?.to_owned()),
        },
    };
    Some((step, rest))
}

fn unquoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        text.strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote))
    })
}

fn walk<'a>(mut value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    for step in steps {
        value = match step {
            Step::Name(name) => value.get(name)?,
            Step::Index(index) => value.get(index)?,
            // A column shows the first of several values.
            Step::All => match value {
                Value::Array(items) => items.first()?,
                Value::Object(map) => map.values().next()?,
                _ => return None,
            },
            Step::Where { field, equals } => {
                let items = value.as_array()?;
                let holds = |item: &&Value| {
                    item.get(field).and_then(Value::as_str) == Some(equals.as_str())
                };
                items.iter().find(holds)?
            }
        };
    }
    (!value.is_null()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{KindFacts, Schema};
    use serde_json::json;

    static WIDGET: Schema = CustomObject::schema_of(KindFacts {
        group: "example.com",
        version: "v1",
        kind: "Widget",
        api_version: "example.com/v1",
    });

    fn widget() -> CustomObject {
        let mut widget = CustomObject::new(&WIDGET);
        widget.metadata.name = "w".into();
        let content = json!({
            "spec": {"size": 3, "tags": ["a", "b"], "a.b": true},
            "status": {"conditions": [
                {"type": "Ready", "status": "False"}, {"type": "Up", "status": "True"},
            ]},
        });
        if let Value::Object(content) = content {
            *widget.content_mut() = content;
        }
        widget
    }

    #[test]
    fn paths_find_what_definitions_mean() {
        let widget = widget();
        let find = |path: &str| JsonPath::parse(path)?.find(&widget).map(Cow::into_owned);
        for (path, expected) in [
            (".spec.size", json!(3)),
            ("{.spec.size}", json!(3)),
            ("$.spec.tags[1]", json!("b")),
            (".spec.tags[*]", json!("a")),
            (".spec['a.b']", json!(true)),
            (".metadata.name", json!("w")),
            (
                ".status.conditions[?(@.type==\"Up\")].status",
                json!("True"),
            ),
        ] {
            assert_eq!(find(path), Some(expected), "{path}");
        }
        for nothing in [
            "",
            ".",
            ".spec.none",
            ".spec.size.x",
            ".spec.tags[9]",
            "[",
            ".a[?(x)]",
        ] {
            assert_eq!(find(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_value_is_put_where_it_belongs() {
        let mut widget = widget();
        for path in [".spec.replicas", ".more.deep.replicas"] {
            let path = JsonPath::parse(path).expect("it is a path");
            path.set(&mut widget, json!(7)).expect("it has a place");
            assert_eq!(path.find(&widget).map(Cow::into_owned), Some(json!(7)));
        }
    }
    #[test]
    fn a_value_has_no_place_in_what_is_no_object() {
        let mut widget = widget();
        widget.content_mut().insert("gone".to_owned(), Value::Null);
        let path = JsonPath::parse(".gone.deep.replicas").expect("it is a path");
        let refused = path.set(&mut widget, json!(7));
        let why = "value cannot be set because .gone is not a map[string]interface{}";
        assert_eq!(refused, Err(why.to_owned()));
    }
}
