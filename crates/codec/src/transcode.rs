//! `Transcoder`: converts protobuf to JSON by the schema, without building an object.
//!
//! The text is byte for byte that of decoding and encoding. Bytes that are not canonical protobuf
//! (a repeated field, keys out of order, packed numbers, another wire type) or not valid are
//! [`Irregular`]; the caller then decodes them. It needs the schema of the message and does not
//! cover custom objects. Decision 65 has the figures.

mod fields;
mod memo;
mod scalar;
mod text;

use fields::{Cursor, Found, Part, entry_of, is_repeated};
use kubist_apimachinery::wire::{Entry, Field, FieldFlags, FieldType, JsonForm, Schema, int32};
use memo::{Key, Memo};
use text::{push_bytes, push_double, push_int, push_text};

/// The maximum depth of messages.
const DEPTH_MAX: usize = 64;

/// The bytes are not canonical; decoding shows whether they are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the protobuf is not in canonical form")]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct Irregular;

/// Converts protobuf to JSON. It reuses its memory for the next message, and up to 1 MiB of what
/// messages have in common.
#[derive(Debug, Default)]
pub struct Transcoder {
    /// The positions of the fields of the current messages, by schema index.
    parts: Vec<Found>,
    memo: Memo,
}

type Written = Result<(), Irregular>;

impl Transcoder {
    /// Appends the JSON of a bare message to `out`, without `kind` and `apiVersion`, which protobuf
    /// does not have either.
    ///
    /// # Errors
    /// The bytes are [`Irregular`]; `out` holds partial output.
    pub fn transcode(
        &mut self,
        schema: &'static Schema,
        protobuf: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Irregular> {
        self.parts.clear();
        let mut writer = Writer {
            parts: &mut self.parts,
            memo: &mut self.memo,
            all: protobuf,
            depth: 0,
        };
        let whole = writer.whole()?;
        writer.message(schema, Some(whole), out)
    }
}

struct Writer<'a> {
    parts: &'a mut Vec<Found>,
    memo: &'a mut Memo,
    all: &'a [u8],
    depth: usize,
}

impl Writer<'_> {
    fn whole(&self) -> Result<Part, Irregular> {
        Part::new(0, self.all.len())
    }

    /// Writes a message; `None` is an absent one.
    fn message(&mut self, schema: &'static Schema, at: Option<Part>, out: &mut Vec<u8>) -> Written {
        let all = self.all;
        match schema.form {
            JsonForm::Object => self.memoized(schema, at, out, |this, out| {
                this.nested(schema, at, out, Self::object)
            }),
            JsonForm::Scalar => scalar::push(schema, at.map(|at| at.of(all)), out),
            JsonForm::Raw => self.memoized(schema, at, out, |_, out| {
                scalar::push_raw(schema, at.map(|at| at.of(all)), out)
            }),
            JsonForm::Transparent => self.nested(schema, at, out, |this, schema, base, out| {
                let field = schema.fields.first().ok_or(Irregular)?;
                let part = this.parts[base];
                this.value(field, &part, out)
            }),
            JsonForm::Union => self.nested(schema, at, out, Self::union),
        }
    }

    /// Copies a message that was written before, or writes it.
    fn memoized(
        &mut self,
        schema: &'static Schema,
        at: Option<Part>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Self, &mut Vec<u8>) -> Written,
    ) -> Written {
        let all = self.all;
        let Some(key) = at.and_then(|at| Key::new(schema, self.depth, at.of(all))) else {
            return write(self, out);
        };
        if let Some(json) = self.memo.get(&key) {
            out.extend_from_slice(json);
            return Ok(());
        }
        let start = out.len();
        write(self, out)?;
        self.memo.note(&key, &out[start..]);
        Ok(())
    }

    /// Locates the fields of a message and writes it.
    fn nested(
        &mut self,
        schema: &'static Schema,
        at: Option<Part>,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Self, &'static Schema, usize, &mut Vec<u8>) -> Written,
    ) -> Written {
        if self.depth == DEPTH_MAX {
            return Err(Irregular);
        }
        self.depth += 1;
        let base = self.parts.len();
        self.parts.resize(base + schema.fields.len(), Found::NONE);
        if let Some(at) = at {
            self.find(schema, schema.order, at, base)?;
        }
        write(self, schema, base, out)?;
        self.parts.truncate(base);
        self.depth -= 1;
        Ok(())
    }

    /// Locates the fields of a message, or of a group in it.
    fn find(
        &mut self,
        schema: &'static Schema,
        order: &'static [Entry],
        at: Part,
        base: usize,
    ) -> Written {
        let mut cursor = Cursor::new(self.all, at);
        let mut hint = 0;
        while let Some(field) = cursor.next()? {
            match entry_of(schema, order, field.number, hint) {
                None => {}
                Some((position, Entry::Field(index))) => {
                    hint = position;
                    let index = usize::from(index);
                    let ty = &schema.fields[index].ty;
                    if field.wire_type != fields::wire_type(ty) {
                        return Err(Irregular);
                    }
                    self.parts[base + index].extend(field, is_repeated(ty))?;
                }
                Some((position, Entry::Group { entries, .. })) => {
                    hint = position + 1;
                    if field.wire_type != fields::DELIMITED {
                        return Err(Irregular);
                    }
                    self.find(schema, entries, field.contents, base)?;
                }
            }
        }
        Ok(())
    }

    fn object(&mut self, schema: &'static Schema, base: usize, out: &mut Vec<u8>) -> Written {
        out.push(b'{');
        let mut first = true;
        for (index, field) in schema.fields.iter().enumerate() {
            let part = self.parts[base + index];
            if part.is_none() && is_left_out(field) {
                continue;
            }
            if !self.is_written(field, &part)? {
                continue;
            }
            if !first {
                out.push(b',');
            }
            first = false;
            // Field names need no escapes.
            out.push(b'"');
            out.extend_from_slice(field.json.as_bytes());
            out.extend_from_slice(b"\":");
            self.entry(field, &part, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Writes the field that represents the union: an object before a list before a bool.
    fn union(&mut self, schema: &'static Schema, base: usize, out: &mut Vec<u8>) -> Written {
        let fields = || schema.fields.iter().zip(base..);
        for (field, at) in fields().filter(|(field, _)| !matches!(field.ty, FieldType::Bool)) {
            let part = self.parts[at];
            if !self.is_zero(field, &part)? {
                return self.value(field, &part, out);
            }
        }
        if let Some((field, at)) = fields().find(|it| matches!(it.0.ty, FieldType::Bool)) {
            let part = self.parts[at];
            return self.value(field, &part, out);
        }
        out.extend_from_slice(b"null");
        Ok(())
    }

    /// Reports whether JSON includes this field.
    fn is_written(&self, field: &Field, part: &Found) -> Result<bool, Irregular> {
        let flags = field.flags;
        if flags.has(FieldFlags::PROTOBUF_ONLY) {
            return Err(Irregular);
        }
        if flags.has(FieldFlags::OMIT_ZERO) && self.is_zero(field, part)? {
            return Ok(false);
        }
        if !flags.has(FieldFlags::OMIT_EMPTY) {
            return Ok(true);
        }
        match field.ty {
            FieldType::Message(schema) if !is_optional(field, schema) => Ok(true),
            FieldType::Message(_) if !flags.has(FieldFlags::POINTER) => Ok(true),
            _ => Ok(!self.is_zero(field, part)?),
        }
    }

    /// Reports whether the field has Go's zero value.
    fn is_zero(&self, field: &Field, part: &Found) -> Result<bool, Irregular> {
        if part.is_none() {
            return Ok(true);
        }
        let pointer = field.flags.has(FieldFlags::POINTER);
        Ok(match field.ty {
            FieldType::Bool | FieldType::I32 | FieldType::I64 => {
                !pointer && number(field, part) == 0
            }
            FieldType::F64 => !pointer && self.double(part)? == 0.0,
            FieldType::Str | FieldType::Bytes => !pointer && part.contents.is_none(),
            FieldType::Message(schema) if is_optional(field, schema) => {
                !pointer && part.contents.is_none()
            }
            // Only decoding checks whether all of its fields are zero.
            FieldType::Message(_) => return Err(Irregular),
            _ => false,
        })
    }

    /// Writes a field that is included even if it is zero.
    fn entry(&mut self, field: &Field, part: &Found, out: &mut Vec<u8>) -> Written {
        let pointer = field.flags.has(FieldFlags::POINTER);
        let null = match field.ty {
            FieldType::Bool | FieldType::I32 | FieldType::I64 | FieldType::F64 | FieldType::Str => {
                pointer && part.is_none()
            }
            FieldType::Message(schema) => {
                is_optional(field, schema) && self.is_zero(field, part)?
            }
            FieldType::Bytes => self.is_zero(field, part)?,
            FieldType::MessageList(_) if part.is_none() => {
                let items = field.json == "items" && field.flags.has(FieldFlags::REQUIRED);
                out.extend_from_slice(if items { b"[]" } else { b"null" });
                return Ok(());
            }
            _ => part.is_none(),
        };
        if null {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        self.value(field, part, out)
    }

    fn value(&mut self, field: &Field, part: &Found, out: &mut Vec<u8>) -> Written {
        match field.ty {
            FieldType::Bool => {
                let value = number(field, part) != 0;
                out.extend_from_slice(if value { b"true" } else { b"false" });
            }
            FieldType::I32 | FieldType::I64 => push_int(number(field, part), out),
            FieldType::F64 => push_double(self.double(part)?, out)?,
            FieldType::Str => push_text(part.contents.of(self.all), out)?,
            FieldType::Bytes => push_bytes(part.contents.of(self.all), out),
            FieldType::Message(schema) => {
                let at = (!part.is_none()).then_some(part.contents);
                self.message(schema, at, out)?;
            }
            FieldType::StrMap | FieldType::BytesMap | FieldType::MessageMap(_) => {
                self.map(field, part, out)?;
            }
            _ => self.list(field, part, out)?,
        }
        Ok(())
    }

    fn list(&mut self, field: &Field, part: &Found, out: &mut Vec<u8>) -> Written {
        out.push(b'[');
        let mut cursor = Cursor::new(self.all, part.whole);
        let mut first = true;
        while let Some(item) = cursor.next()? {
            if !first {
                out.push(b',');
            }
            first = false;
            match field.ty {
                FieldType::StrList => push_text(item.contents.of(self.all), out)?,
                FieldType::BytesList => push_bytes(item.contents.of(self.all), out),
                FieldType::MessageList(schema) => {
                    self.message(schema, Some(item.contents), out)?;
                }
                FieldType::BoolList => {
                    let value = number(field, &item) != 0;
                    out.extend_from_slice(if value { b"true" } else { b"false" });
                }
                _ => push_int(number(field, &item), out),
            }
        }
        out.push(b']');
        Ok(())
    }

    fn map(&mut self, field: &Field, part: &Found, out: &mut Vec<u8>) -> Written {
        let all = self.all;
        out.push(b'{');
        let mut cursor = Cursor::new(all, part.whole);
        let mut before: Option<&[u8]> = None;
        while let Some(entry) = cursor.next()? {
            let (mut key, mut value) = (Part::NONE, None);
            let mut inner = Cursor::new(all, entry.contents);
            while let Some(half) = inner.next()? {
                match (half.number, half.wire_type) {
                    (1, fields::DELIMITED) if key.is_none() && value.is_none() => {
                        key = half.contents;
                    }
                    (2, fields::DELIMITED) if value.is_none() => value = Some(half.contents),
                    _ => return Err(Irregular),
                }
            }
            let key = key.of(all);
            if let Some(before) = before {
                if before >= key {
                    return Err(Irregular);
                }
                out.push(b',');
            }
            before = Some(key);
            push_text(key, out)?;
            out.push(b':');
            let bytes = value.map_or(&[][..], |it| it.of(all));
            match field.ty {
                FieldType::StrMap => push_text(bytes, out)?,
                FieldType::BytesMap => push_bytes(bytes, out),
                FieldType::MessageMap(schema) => self.message(schema, value, out)?,
                _ => return Err(Irregular),
            }
        }
        out.push(b'}');
        Ok(())
    }

    fn double(&self, part: &Found) -> Result<f64, Irregular> {
        match part.whole.of(self.all).last_chunk::<8>() {
            Some(bytes) => Ok(f64::from_le_bytes(*bytes)),
            None if part.is_none() => Ok(0.0),
            None => Err(Irregular),
        }
    }
}

/// Returns a number of the field's type; 0 if it is absent.
fn number(field: &Field, found: &Found) -> i64 {
    match field.ty {
        FieldType::I32 | FieldType::I32List => i64::from(int32(found.value)),
        _ => found.value.cast_signed(),
    }
}

/// Reports whether JSON omits this field if protobuf does, which holds for most fields.
fn is_left_out(field: &Field) -> bool {
    let flags = field.flags;
    let message = matches!(field.ty, FieldType::Message(_));
    flags.has(FieldFlags::OMIT_EMPTY)
        && !flags.has(FieldFlags::PROTOBUF_ONLY)
        && (flags.has(FieldFlags::POINTER) || !message)
}

/// Reports whether a message can be absent: pointers, and times, which as Go values are absent when
/// zero.
fn is_optional(field: &Field, schema: &'static Schema) -> bool {
    field.flags.has(FieldFlags::POINTER) || scalar::is_time(schema)
}
