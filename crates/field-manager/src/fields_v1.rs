//! FieldsV1: the JSON form of a field set in `metadata.managedFields`.
//!
//! Each element is a member name: `f:` and a field name, `k:` and the key fields as a JSON object,
//! `v:` and a JSON value, `i:` and a position. What is owned itself is an empty object, or has a
//! member `.` beside the members of what is below it. The text is the same, byte for byte, as that
//! of Go's structured-merge-diff. Elements of unknown types are left out, as upstream.

use crate::field_set::FieldSet;
use crate::path_element::{KeyField, PathElement};
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Number, Value};
use std::fmt;

/// The maximum depth of objects in FieldsV1. Field sets are read, compared and dropped recursively,
/// and trees of JSON have the same limit. Upstream's limit is that of Go's JSON decoder, 10,000.
pub const FIELDS_DEPTH_MAX: usize = 127;

/// A text that is no field set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct FieldsV1Error {
    /// What is wrong with it, and where.
    pub message: String,
}

/// Integers beyond this are floats in upstream's field sets.
const EXACT_MAX: u64 = 1 << 53;

impl FieldSet {
    /// Parses FieldsV1. Objects may be nested [`FIELDS_DEPTH_MAX`] deep.
    ///
    /// # Errors
    /// The text is not JSON, not an object, or has a member name that is no path element.
    pub fn from_json(text: &str) -> Result<Self, FieldsV1Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let parsed = reader
            .deserialize_any(NodeVisitor)
            .and_then(|node| reader.end().map(|()| node));
        match parsed {
            Ok(node) => Ok(node.set),
            Err(error) => Err(FieldsV1Error {
                message: error.to_string(),
            }),
        }
    }

    /// Returns the set as FieldsV1.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(512);
        write_node(&mut out, self, false);
        out
    }
}

fn write_node(out: &mut String, set: &FieldSet, is_member: bool) {
    out.push('{');
    let mut separator = "";
    let mut begin = |out: &mut String| {
        out.push_str(separator);
        separator = ",";
    };
    if is_member && !(set.members().is_empty() && set.children().is_empty()) {
        begin(out);
        out.push_str("\".\":{}");
    }
    let mut members = set.members().iter().peekable();
    for (element, child) in set.children() {
        while let Some(member) = members.next_if(|it| *it < element) {
            begin(out);
            write_name(out, member);
            out.push_str(":{}");
        }
        let is_member = members.next_if_eq(&element).is_some();
        begin(out);
        write_name(out, element);
        out.push(':');
        write_node(out, child, is_member);
    }
    for member in members {
        begin(out);
        write_name(out, member);
        out.push_str(":{}");
    }
    out.push('}');
}

/// Writes the name of an element, as a JSON string.
fn write_name(out: &mut String, element: &PathElement) {
    let mut name = String::with_capacity(64);
    match element {
        PathElement::Field(field) => {
            out.push_str("\"f:");
            write_content(out, field, Html::Kept);
            return out.push('"');
        }
        PathElement::Key(fields) => {
            name.push_str("k:{");
            for (index, field) in fields.iter().enumerate() {
                name.push_str(if index > 0 { "," } else { "" });
                write_string(&mut name, &field.name, Html::Kept);
                name.push(':');
                write_value(&mut name, &field.value);
            }
            name.push('}');
        }
        PathElement::Value(value) => {
            name.push_str("v:");
            write_value(&mut name, value);
        }
        PathElement::Index(index) => {
            name.push_str("i:");
            name.push_str(&index.to_string());
        }
    }
    write_string(out, &name, Html::Kept);
}

/// Whether `<`, `>`, `&` and the two line separators are escaped: upstream does so in values and
/// not in names.
#[derive(Clone, Copy, PartialEq)]
enum Html {
    Kept,
    Escaped,
}

fn write_string(out: &mut String, text: &str, html: Html) {
    out.push('"');
    write_content(out, text, html);
    out.push('"');
}

/// Writes what is between the quotation marks.
fn write_content(out: &mut String, text: &str, html: Html) {
    let is_plain = |byte: u8| match byte {
        b'"' | b'\\' | 0..=0x1f => false,
        b'<' | b'>' | b'&' | 0x80.. => html == Html::Kept,
        _ => true,
    };
    if text.bytes().all(is_plain) {
        return out.push_str(text);
    }
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if html == Html::Escaped => {
                write_escape(out, character);
            }
            '\0'..='\x1f' => write_escape(out, character),
            _ => out.push(character),
        }
    }
}

fn write_escape(out: &mut String, character: char) {
    let code = u32::from(character);
    for shift in [12, 8, 4, 0] {
        if shift == 12 {
            out.push_str("\\u");
        }
        out.extend(char::from_digit(code >> shift & 0xf, 16));
    }
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text, Html::Escaped),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_string(out, name, Html::Escaped);
                out.push(':');
                write_value(out, value);
            }
            out.push('}');
        }
    }
}

/// Floats have an exponent, of at least two digits, below 1e-6 and from 1e21.
fn write_number(out: &mut String, number: &Number) {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        return out.push_str(&number.to_string());
    };
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return out.push_str(&float.to_string());
    }
    let text = format!("{float:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if exponent.starts_with('-') { '-' } else { '+' };
    let digits = exponent.trim_start_matches('-');
    out.extend([mantissa, "e"]);
    out.push(sign);
    out.push_str(if digits.len() < 2 { "0" } else { "" });
    out.push_str(digits);
}

/// What an object of FieldsV1 says: what is owned below, and whether its element itself is owned.
struct Node {
    set: FieldSet,
    is_member: bool,
}

impl<'de> serde::Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of FieldsV1")
    }

    /// Upstream's reader takes null for an empty object.
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node {
            set: FieldSet::default(),
            is_member: true,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut node = Node {
            set: FieldSet::default(),
            is_member: false,
        };
        let (mut is_leaf, mut is_sorted) = (true, true);
        let mut members: Vec<(PathElement, Node)> = Vec::new();
        while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if name == "." {
                node.is_member = true;
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let Some(element) = parse_name(&name).map_err(A::Error::custom)? else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            is_leaf = false;
            let below: Node = map.next_value()?;
            is_sorted &= members.last().is_none_or(|(last, _)| *last <= element);
            members.push((element, below));
        }
        if !is_sorted {
            // Inserting in the order of the text could move the rest each time.
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        for (element, below) in members {
            if below.is_member {
                node.set.insert_member(element.clone());
            }
            node.set.set_child(element, below.set);
        }
        node.is_member |= is_leaf;
        Ok(node)
    }
}

/// Parses the name of an element; none if its type is unknown.
fn parse_name(name: &str) -> Result<Option<PathElement>, String> {
    let Some((kind, text)) = name.split_at_checked(2) else {
        return Err("key must be 2 characters long:".to_owned());
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|it| it.to_string());
    Ok(Some(match kind {
        "f:" => PathElement::from(text),
        "v:" => PathElement::value(as_float(json(text)?)),
        "k:" => {
            let Value::Object(fields) = json(text)? else {
                return Err(format!("key is no object: {name}"));
            };
            let fields = fields.into_iter().map(|(name, value)| KeyField {
                name: name.into(),
                value: as_float(value),
            });
            PathElement::Key(fields.collect())
        }
        "i:" => PathElement::Index(text.parse().map_err(|_| format!("no position: {name}"))?),
        _ if kind.ends_with(':') => return Ok(None),
        _ => return Err(format!("missing colon: {name}")),
    }))
}

/// Upstream reads all numbers of field sets as floats, which matters for large integers only.
fn as_float(value: Value) -> Value {
    match &value {
        Value::Number(number)
            if number
                .as_i64()
                .is_none_or(|it| it.unsigned_abs() > EXACT_MAX)
                && !number.is_f64() =>
        {
            let float = number.as_f64().and_then(Number::from_f64);
            float.map_or(value, Value::Number)
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests;
