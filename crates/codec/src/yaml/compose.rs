//! `Composer`: builds JSON trees from YAML events, with anchors, merge keys and limits.

use super::resolve::{Meaning, resolve};
use super::{
    ALIAS_BYTES_MAX, DEPTH_MAX, DOCUMENT_BYTES_MAX, Document, DuplicateKey, YamlError,
    YamlErrorKind,
};
use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// An open collection.
enum Open {
    List(Vec<Value>),
    Map {
        map: Map<String, Value>,
        /// The entries from `<<`, which apply where the map has no value of its own.
        merged: Map<String, Value>,
        /// The key of the next value.
        key: Option<MapKey>,
    },
}

enum MapKey {
    Name(String),
    Merge,
}

/// A finished node.
struct Node {
    value: Value,
    is_merge: bool,
}

pub(super) struct Composer<'t> {
    events: Parser<'t, StrInput<'t>>,
    open: Vec<(Open, usize)>,
    anchors: BTreeMap<usize, Value>,
    alias_bytes: usize,
    duplicates: Vec<DuplicateKey>,
}

impl std::fmt::Debug for Composer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composer")
            .field("depth", &self.open.len())
            .finish_non_exhaustive()
    }
}

impl<'t> Composer<'t> {
    /// The most duplicate keys that are reported.
    const DUPLICATES_MAX: usize = 100;

    pub(super) fn new(text: &'t str) -> Self {
        let options = granit_parser::options! {
            flow_nesting_limit: DEPTH_MAX,
            block_nesting_limit: DEPTH_MAX,
        };
        Self {
            events: Parser::new_from_str_with_options(text, options),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            alias_bytes: 0,
            duplicates: Vec::new(),
        }
    }

    /// Returns the next document; none at the end of the stream.
    pub(super) fn document(&mut self) -> Result<Option<Document>, YamlError> {
        let (mut begin, mut line, mut root) = (0, 1, Value::Null);
        while let Some(next) = self.events.next_event() {
            let (event, span) = next.map_err(|error| syntax(&error))?;
            if span.start.byte_offset().unwrap_or(0) > begin + DOCUMENT_BYTES_MAX {
                return Err(at(
                    &span,
                    YamlErrorKind::TooLong {
                        max: DOCUMENT_BYTES_MAX,
                    },
                ));
            }
            match event {
                Event::DocumentStart(..) => {
                    begin = span.start.byte_offset().unwrap_or(0);
                    line = span.start.line();
                    self.anchors.clear();
                    self.alias_bytes = 0;
                }
                Event::DocumentEnd => {
                    if span.end.byte_offset().unwrap_or(0) > begin + DOCUMENT_BYTES_MAX {
                        return Err(at(
                            &span,
                            YamlErrorKind::TooLong {
                                max: DOCUMENT_BYTES_MAX,
                            },
                        ));
                    }
                    let duplicates = std::mem::take(&mut self.duplicates);
                    return Ok(Some(Document {
                        value: root,
                        duplicates,
                        line,
                    }));
                }
                Event::StreamEnd => break,
                event => {
                    if let Some(node) = self.event(event, &span)? {
                        root = node;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Processes an event; returns the root once it is complete.
    fn event(&mut self, event: Event<'t>, span: &Span) -> Result<Option<Value>, YamlError> {
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                (scalar(&text, plain, tag.as_deref(), span)?, anchor)
            }
            Event::Alias(anchor) => (self.alias(anchor, span)?, 0),
            Event::SequenceStart(_, anchor, _) => {
                self.open.push((Open::List(Vec::new()), anchor));
                return Ok(None);
            }
            Event::MappingStart(_, anchor, _) => {
                let map = Open::Map {
                    map: Map::new(),
                    merged: Map::new(),
                    key: None,
                };
                self.open.push((map, anchor));
                return Ok(None);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some((open, anchor)) = self.open.pop() else {
                    return Ok(None);
                };
                let value = match open {
                    Open::List(list) => Value::Array(list),
                    Open::Map {
                        map, mut merged, ..
                    } => {
                        merged.extend(map);
                        Value::Object(merged)
                    }
                };
                (
                    Node {
                        value,
                        is_merge: false,
                    },
                    anchor,
                )
            }
            _ => return Ok(None),
        };
        if anchor != 0 {
            self.pay(&node.value, span)?;
            self.anchors.insert(anchor, node.value.clone());
        }
        self.place(node, span)
    }

    fn alias(&mut self, anchor: usize, span: &Span) -> Result<Node, YamlError> {
        let value = self.anchors.get(&anchor).cloned();
        let value = value.ok_or_else(|| at(span, YamlErrorKind::Recursive))?;
        self.pay(&value, span)?;
        Ok(Node {
            value,
            is_merge: false,
        })
    }

    /// Counts an alias expansion against the document's limit.
    fn pay(&mut self, value: &Value, span: &Span) -> Result<(), YamlError> {
        self.alias_bytes = self.alias_bytes.saturating_add(weight(value));
        if self.alias_bytes > ALIAS_BYTES_MAX {
            return Err(at(span, YamlErrorKind::Aliases));
        }
        Ok(())
    }

    /// Adds a finished node to its collection.
    fn place(&mut self, node: Node, span: &Span) -> Result<Option<Value>, YamlError> {
        match self.open.last_mut() {
            None => return Ok(Some(node.value)),
            Some((Open::List(list), _)) => list.push(node.value),
            Some((Open::Map { map, merged, key }, _)) => match key.take() {
                None if node.is_merge => *key = Some(MapKey::Merge),
                None => {
                    let name = key_name(node.value).ok_or_else(|| at(span, YamlErrorKind::Key))?;
                    if map.contains_key(&name) && self.duplicates.len() < Self::DUPLICATES_MAX {
                        let line = span.start.line();
                        self.duplicates.push(DuplicateKey {
                            line,
                            key: name.clone(),
                        });
                    }
                    *key = Some(MapKey::Name(name));
                }
                Some(MapKey::Name(name)) => {
                    map.insert(name, node.value);
                }
                Some(MapKey::Merge) => {
                    merge(merged, node.value).map_err(|kind| at(span, kind))?;
                }
            },
        }
        Ok(None)
    }
}

/// Of several merged maps, the first one with a key wins.
fn merge(merged: &mut Map<String, Value>, value: Value) -> Result<(), YamlErrorKind> {
    let maps = match value {
        Value::Object(_) => vec![value],
        Value::Array(maps) => maps,
        _ => return Err(YamlErrorKind::Merge),
    };
    for map in maps {
        let Value::Object(map) = map else {
            return Err(YamlErrorKind::Merge);
        };
        for (key, value) in map {
            merged.entry(key).or_insert(value);
        }
    }
    Ok(())
}

/// JSON keys are strings: numbers and booleans are converted.
fn key_name(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Estimates the bytes of a copy. The depth is bounded by [`DEPTH_MAX`] and the cost of aliases.
fn weight(value: &Value) -> usize {
    32 + match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(weight).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| key.len() + weight(value))
            .sum(),
        _ => 0,
    }
}

fn scalar(text: &str, plain: bool, tag: Option<&Tag>, span: &Span) -> Result<Node, YamlError> {
    let tag = tag.map(|tag| {
        let core = tag.suffix_in_namespace("tag:yaml.org,2002:");
        core.map_or_else(|| tag.suffix().to_owned(), std::borrow::Cow::into_owned)
    });
    let meaning = match tag.as_deref() {
        None if plain => resolve(text),
        None | Some("" | "str") => Meaning::Text,
        Some("binary") => return binary(text, span),
        Some(tag @ ("int" | "float" | "bool" | "null")) => tagged(text, tag).ok_or_else(|| {
            let (tag, text) = (tag.to_owned(), text.to_owned());
            at(span, YamlErrorKind::Tag { tag, text })
        })?,
        Some(_) if plain => resolve(text),
        Some(_) => Meaning::Text,
    };
    let value = match meaning {
        Meaning::Null => Value::Null,
        Meaning::Bool(value) => value.into(),
        Meaning::Int(value) => value.into(),
        Meaning::Uint(value) => value.into(),
        Meaning::Float(value) => float(value).ok_or_else(|| {
            at(
                span,
                YamlErrorKind::NotFinite {
                    text: text.to_owned(),
                },
            )
        })?,
        Meaning::Timestamp | Meaning::Merge | Meaning::Text => text.into(),
    };
    Ok(Node {
        value,
        is_merge: meaning == Meaning::Merge,
    })
}

/// Converts whole floats to integers, as Go's JSON encoder does.
#[expect(
    clippy::cast_possible_truncation,
    reason = "checked to be whole and in range"
)]
fn float(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

fn tagged(text: &str, tag: &str) -> Option<Meaning> {
    #[expect(clippy::cast_precision_loss, reason = "that is what the tag asks for")]
    match (tag, resolve(text)) {
        ("int", found @ (Meaning::Int(_) | Meaning::Uint(_)))
        | ("float", found @ Meaning::Float(_))
        | ("bool", found @ Meaning::Bool(_))
        | ("null", found @ Meaning::Null) => Some(found),
        ("float", Meaning::Int(value)) => Some(Meaning::Float(value as f64)),
        _ => None,
    }
}

fn binary(text: &str, span: &Span) -> Result<Node, YamlError> {
    let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    base64::engine::general_purpose::STANDARD
        .decode(compact)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map(|text| Node {
            value: text.into(),
            is_merge: false,
        })
        .ok_or_else(|| {
            let (tag, text) = ("binary".to_owned(), text.to_owned());
            at(span, YamlErrorKind::Tag { tag, text })
        })
}

fn at(span: &Span, kind: YamlErrorKind) -> YamlError {
    YamlError {
        line: span.start.line(),
        column: span.start.col() + 1,
        kind,
    }
}

fn syntax(error: &ScanError) -> YamlError {
    let marker = error.marker();
    let kind = YamlErrorKind::Syntax(error.info());
    YamlError {
        line: marker.line(),
        column: marker.col() + 1,
        kind,
    }
}
