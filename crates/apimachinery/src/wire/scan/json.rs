//! Scanning of JSON: one structure check of the whole text (the quick pass, or the parser for
//! unusual text), then a cursor over the metadata.

use super::{Irregular, Scan, Span, json_shape, json_skim, within};
use crate::wire::json_text::plain_run;
use crate::wire::{DecodeContext, Schema, WireError, WireErrorKind, merge_json};
use crate::{ObjectMeta, ObjectName};
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// Iterates over the members of an object or the items of an array in well-formed text. On other
/// text it stops early or returns slices that are not values, but does not panic.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    /// Creates a cursor at the first member of `value`, which begins with a bracket.
    pub(super) fn new(value: &'b [u8]) -> Self {
        Self {
            rest: value.get(1..).unwrap_or_default(),
        }
    }

    /// Returns the next key and value of an object; the key with its quotes.
    pub(super) fn next_member(&mut self) -> Option<(&'b [u8], &'b [u8])> {
        let key = self.next_item()?;
        self.skip_space();
        self.rest = self.rest.strip_prefix(b":")?;
        self.skip_space();
        Some((key, self.take_value()?))
    }

    /// Returns the next item of an array.
    pub(super) fn next_item(&mut self) -> Option<&'b [u8]> {
        self.skip_space();
        if let Some(rest) = self.rest.strip_prefix(b",") {
            self.rest = rest;
            self.skip_space();
        }
        self.take_value()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Returns the value at the start of the rest; none at a closing bracket or the end.
    fn take_value(&mut self) -> Option<&'b [u8]> {
        let length = match self.rest.first()? {
            b'"' => string_length(self.rest)?,
            b'{' | b'[' => container_length(self.rest)?,
            b'}' | b']' => return None,
            _ => {
                let ends = |byte: &u8| {
                    matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace()
                };
                self.rest.iter().position(ends).unwrap_or(self.rest.len())
            }
        };
        let (value, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(value)
    }
}

/// Returns the length of the string at the start of `text`, including its quotes.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += plain_run(text.get(at..)?);
        match *text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the length of the object or array at the start of `text`.
fn container_length(text: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (0, 0usize);
    loop {
        match text.get(at)? {
            b'"' => at += string_length(&text[at..])? - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// Returns the contents of a string token without escapes.
pub(super) fn plain(token: &[u8]) -> Option<&str> {
    let inner = token.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        None
    } else {
        std::str::from_utf8(inner).ok()
    }
}

/// Returns the contents of a string token.
pub(super) fn unescaped(token: &[u8]) -> Option<Cow<'_, str>> {
    match plain(token) {
        Some(text) => Some(Cow::Borrowed(text)),
        None => serde_json::from_slice(token).ok().map(Cow::Owned),
    }
}

pub(super) fn is_key(token: &[u8], name: &str) -> bool {
    unescaped(token).is_some_and(|key| key == name)
}

/// Iterates over the values of a member, which may be repeated; null counts as absent.
pub(super) fn members<'b>(object: &'b [u8], name: &str) -> impl Iterator<Item = &'b [u8]> {
    let is_object = object.first() == Some(&b'{');
    let mut cursor = Cursor::new(if is_object { object } else { &[] });
    let all = std::iter::from_fn(move || cursor.next_member());
    all.filter_map(move |(key, value)| (value != b"null" && is_key(key, name)).then_some(value))
}

fn type_name(value: &[u8]) -> &'static str {
    match value.first() {
        Some(b'"') => "string",
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b't' | b'f') => "bool",
        Some(b'n') => "null",
        _ => "number",
    }
}

fn mismatch(path: &str, value: &[u8], expected: &str) -> WireError {
    WireError {
        path: path.to_owned(),
        kind: WireErrorKind::TypeMismatch {
            found: type_name(value).to_owned(),
            expected: expected.to_owned(),
            message: "ObjectMeta",
        },
    }
}

fn check_utf8(bytes: &[u8]) -> Result<(), WireError> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(_) => Err(WireErrorKind::NotUtf8.into()),
    }
}

/// Returns the metadata objects of text with valid structure (well-formed, if no kind is known):
/// usually one, none if it is absent or null, and each of several, which the decoder merges. If the
/// quick pass fails, the parser reports the error.
fn metadata_checked<'b>(
    bytes: &'b [u8],
    schema: Option<&'static Schema>,
) -> Result<Vec<&'b [u8]>, WireError> {
    match schema {
        Some(schema) => json_shape::check(bytes, schema)?,
        None => {
            serde_json::from_slice::<IgnoredAny>(bytes)
                .map_err(|error| json_shape::syntax(&error))?;
        }
    }
    let object = bytes.trim_ascii();
    if object.first() != Some(&b'{') {
        return Err(mismatch("", object, "object"));
    }
    let found: Vec<_> = members(object, "metadata").collect();
    match found.iter().find(|value| value.first() != Some(&b'{')) {
        Some(wrong) => Err(mismatch("metadata", wrong, "object")),
        None => Ok(found),
    }
}

pub(super) fn scan(
    bytes: &[u8],
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    check_utf8(bytes)?;
    match scan_quickly(bytes, schema, cx) {
        Some(result) => result,
        None => scan_checked(bytes, schema, cx),
    }
}

/// Returns the same result with the quick pass; none if the text is unusual or malformed.
pub(super) fn scan_quickly(
    bytes: &[u8],
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Option<Result<Scan, WireError>> {
    let (mut scan, mut irregular) = Default::default();
    let metadata = json_skim::metadata(bytes, Some(schema), |key, value| {
        let key = std::str::from_utf8(key).ok()?;
        take_member(bytes, key, value, &mut scan, &mut irregular).ok()
    })?;
    Some(finish(bytes, &[metadata], scan, irregular, cx))
}

pub(super) fn scan_checked(
    bytes: &[u8],
    schema: &'static Schema,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    let metadata = metadata_checked(bytes, Some(schema))?;
    let (mut scan, mut irregular) = Default::default();
    for object in &metadata {
        let mut cursor = Cursor::new(object);
        while let Some((key, value)) = cursor.next_member() {
            let Some(key) = unescaped(key) else { continue };
            take_member(bytes, &key, value, &mut scan, &mut irregular)?;
        }
    }
    finish(bytes, &metadata, scan, irregular, cx)
}

fn finish(
    bytes: &[u8],
    metadata: &[&[u8]],
    mut scan: Scan,
    irregular: Irregular,
    cx: &mut DecodeContext,
) -> Result<Scan, WireError> {
    scan.spans.body = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    if irregular.any() {
        let meta = meta(metadata, cx)?;
        scan.rewrite(bytes.len(), irregular, &meta);
    }
    Ok(scan)
}

fn take_member(
    bytes: &[u8],
    key: &str,
    value: &[u8],
    scan: &mut Scan,
    irregular: &mut Irregular,
) -> Result<(), WireError> {
    let spans = &mut scan.spans;
    let null = value == b"null";
    let expect = |first: u8, expected: &str| {
        if null || value.first() == Some(&first) {
            return Ok(());
        }
        Err(mismatch(&format!("metadata.{key}"), value, expected))
    };
    let part = if null {
        Span::default()
    } else {
        Span::within(bytes, value)
    };
    let scalar = match key {
        "name" => &mut spans.name,
        "namespace" => &mut spans.namespace,
        "uid" => &mut spans.uid,
        "resourceVersion" => &mut spans.resource_version,
        "labels" => {
            expect(b'{', "map[string]string")?;
            irregular.parts.labels |= is_repeated(spans.labels);
            irregular.parts.labels |= !null && !regular_pairs(value, key)?;
            (spans.labels, spans.json.labels) = (part, true);
            return Ok(());
        }
        "annotations" => {
            expect(b'{', "map[string]string")?;
            irregular.parts.annotations |= is_repeated(spans.annotations);
            irregular.parts.annotations |= !null && !regular_pairs(value, key)?;
            (spans.annotations, spans.json.annotations) = (part, true);
            return Ok(());
        }
        "ownerReferences" => {
            expect(b'[', "[]v1.OwnerReference")?;
            irregular.parts.owners |= is_repeated(spans.owners) || value.contains(&b'\\');
            (spans.owners, spans.json.owners) = (part, true);
            return Ok(());
        }
        "deletionTimestamp" => {
            spans.terminating |= !null;
            return expect(b'"', "Time");
        }
        _ => return Ok(()),
    };
    expect(b'"', "string")?;
    irregular.scalars |= is_repeated(*scalar);
    *scalar = Span::default();
    if !null {
        match plain(value) {
            Some(text) => *scalar = Span::within(bytes, text.as_bytes()),
            None => irregular.scalars = true,
        }
    }
    Ok(())
}

/// Reports whether a member is repeated. Then the decoder determines the result: maps merge, `null`
/// changes nothing.
fn is_repeated(before: Span) -> bool {
    before != Span::default()
}

/// Reports whether pairs can be read in place: no escapes, sorted, no repeated keys.
fn regular_pairs(object: &[u8], name: &str) -> Result<bool, WireError> {
    let mut cursor = Cursor::new(object);
    let (mut last, mut regular) = (None, true);
    while let Some((key, value)) = cursor.next_member() {
        if value.first() != Some(&b'"') {
            if value != b"null" {
                return Err(mismatch(&format!("metadata.{name}"), value, "string"));
            }
            regular = false;
            continue;
        }
        regular &= plain(key).is_some() && plain(value).is_some() && last < Some(key);
        last = Some(key);
    }
    Ok(regular)
}

pub(super) fn metadata(bytes: &[u8], cx: &mut DecodeContext) -> Result<ObjectMeta, WireError> {
    check_utf8(bytes)?;
    match json_skim::metadata(bytes, None, |_, _| Some(())) {
        Some(object) => meta(&[object], cx),
        None => meta(&metadata_checked(bytes, None)?, cx),
    }
}

/// Scans all metadata objects together.
fn meta(objects: &[&[u8]], cx: &mut DecodeContext) -> Result<ObjectMeta, WireError> {
    let mut meta = ObjectMeta::default();
    for object in objects.iter().filter(|object| !object.is_empty()) {
        merge_json(&mut meta, object, cx).map_err(|error| *within(Box::new(error), "metadata"))?;
    }
    Ok(meta)
}

/// Returns the resource version, if the text can be read that far.
pub(super) fn version_in(bytes: &[u8]) -> Option<String> {
    let metadata = members(bytes.trim_ascii(), "metadata").last()?;
    let version = members(metadata, "resourceVersion").filter_map(unescaped);
    version.last().map(Cow::into_owned)
}

/// Returns the namespace and name, if the text can be read that far.
pub(super) fn name_in(bytes: &[u8]) -> Option<ObjectName> {
    let metadata = members(bytes.trim_ascii(), "metadata").last()?;
    let text = |name| members(metadata, name).filter_map(unescaped).last();
    let [namespace, name] = ["namespace", "name"].map(|name| text(name).unwrap_or_default());
    Some(ObjectName::new(namespace, name))
}
