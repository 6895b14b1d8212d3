//! Messages that are one JSON scalar: times, durations, quantities, int-or-string.

use super::protobuf_encode::prepend_int;
use super::raw_field::{delimited, tag};
use super::{
    DecodeContext, Field, FieldFlags as F, FieldType, JsonForm, JsonScalar, Message, ReverseWriter,
    Schema, Slot, View, Wire, WireError, WireErrorKind, int32, raw_fields, skip_field, varint,
};
use crate::{Duration, IntOrString, MicroTime, Quantity, Str, Time, schema};
use std::fmt::Display;
use std::str::FromStr;

schema!(pub TIME = "Time", "io.k8s.apimachinery.pkg.apis.meta.v1.Time", JsonForm::Scalar, None, [
    Field::new("seconds", 1, FieldType::I64, F::NONE),
    Field::new("nanos", 2, FieldType::I32, F::NONE),
]);
schema!(pub MICRO_TIME = "MicroTime", "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    JsonForm::Scalar, None, [
    Field::new("seconds", 1, FieldType::I64, F::NONE),
    Field::new("nanos", 2, FieldType::I32, F::NONE),
]);
schema!(pub DURATION = "Duration", "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
    JsonForm::Scalar, None, [Field::new("duration", 1, FieldType::I64, F::NONE)]);
schema!(pub QUANTITY = "Quantity", "io.k8s.apimachinery.pkg.api.resource.Quantity",
    JsonForm::Scalar, None, [Field::new("string", 1, FieldType::Str, F::NONE)]);
schema!(pub INT_OR_STRING = "IntOrString", "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    JsonForm::Scalar, None, [
    Field::new("type", 1, FieldType::I64, F::NONE),
    Field::new("intVal", 2, FieldType::I32, F::NONE),
    Field::new("strVal", 3, FieldType::Str, F::NONE),
]);

/// The parts of `Message` common to all scalars, which have no fields.
macro_rules! scalar_message {
    ($type:ty, $schema:ident, { $($method:item)* }) => {
        impl Message for $type {
            fn schema(&self) -> &'static Schema {
                &$schema
            }
            fn slot(&mut self, _: usize) -> Option<Slot<'_>> {
                None
            }
            fn view(&self, _: usize) -> Option<View<'_>> {
                None
            }
            $($method)*
        }
        impl Wire for $type {
            const SCHEMA: &'static Schema = &$schema;
            crate::decode_into_default!();
        }
    };
}

fn wanted(what: &str, scalar: &JsonScalar<'_>) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type {what}",
        scalar.type_name()
    )
}

/// Parses a scalar that JSON has as a string.
fn parsed<T: FromStr<Err: Display>>(scalar: &JsonScalar<'_>) -> Result<T, String> {
    match scalar {
        JsonScalar::Str(text) => text.parse().map_err(|error: T::Err| error.to_string()),
        other => Err(wanted("string", other)),
    }
}

fn seconds_and_nanos(bytes: &[u8], cx: &DecodeContext) -> Result<(i64, i32), WireError> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, value, after) = number_field(rest).map_err(|kind| cx.fail(kind))?;
        match number {
            1 => seconds = value.cast_signed(),
            2 => nanos = int32(value),
            _ => {}
        }
        rest = after;
    }
    Ok((seconds, nanos))
}

/// Reads a field; returns its number, its value (0 if it is no varint) and the bytes after it.
fn number_field(bytes: &[u8]) -> Result<(u32, u64, &[u8]), WireErrorKind> {
    let (number, wire_type, rest) = tag(bytes)?;
    if wire_type == 0 {
        let (value, rest) = varint(rest)?;
        return Ok((number, value, rest));
    }
    Ok((number, 0, skip_field(number, wire_type, rest)?))
}

fn text(bytes: &[u8], wanted: u32, cx: &mut DecodeContext) -> Result<Str, WireError> {
    let mut found: &[u8] = &[];
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, value, after) = text_field(rest).map_err(|kind| cx.fail(kind))?;
        if number == wanted {
            found = value;
        }
        rest = after;
    }
    match std::str::from_utf8(found) {
        Ok(text) => Ok(cx.str(text)),
        Err(_) => Err(cx.fail(WireErrorKind::NotUtf8)),
    }
}

/// Reads a field; returns its number, its contents (empty if it has no length) and the bytes after
/// it.
fn text_field(bytes: &[u8]) -> Result<(u32, &[u8], &[u8]), WireErrorKind> {
    let (number, wire_type, rest) = tag(bytes)?;
    if wire_type == 2 {
        let (value, rest) = delimited(rest)?;
        return Ok((number, value, rest));
    }
    Ok((number, &[], skip_field(number, wire_type, rest)?))
}

scalar_message!(Time, TIME, {
    fn scalar(&self) -> JsonScalar<'_> {
        if self.is_zero() {
            return JsonScalar::Null;
        }
        JsonScalar::Str(self.to_string().into())
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        *self = parsed(&scalar)?;
        Ok(())
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        if !self.is_zero() {
            prepend_int(2, 0, out);
            prepend_int(1, self.unix(), out);
        }
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        if !bytes.is_empty() {
            *self = Self::from_unix(seconds_and_nanos(bytes, cx)?.0);
        }
        Ok(())
    }
});

scalar_message!(MicroTime, MICRO_TIME, {
    fn scalar(&self) -> JsonScalar<'_> {
        if self.is_zero() {
            return JsonScalar::Null;
        }
        JsonScalar::Str(self.to_string().into())
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        *self = parsed(&scalar)?;
        Ok(())
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        if !self.is_zero() {
            prepend_int(2, i64::from(self.nanos()), out);
            prepend_int(1, self.unix(), out);
        }
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        if !bytes.is_empty() {
            let (seconds, nanos) = seconds_and_nanos(bytes, cx)?;
            *self = Self::from_unix(seconds, nanos);
        }
        Ok(())
    }
});

scalar_message!(Duration, DURATION, {
    fn scalar(&self) -> JsonScalar<'_> {
        JsonScalar::Str(self.to_string().into())
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        *self = parsed(&scalar)?;
        Ok(())
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        prepend_int(1, self.as_nanos(), out);
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        *self = Self::from_nanos(seconds_and_nanos(bytes, cx)?.0);
        Ok(())
    }
});

/// Formats a number as it was probably written, because a quantity keeps its text, including an
/// exponent.
fn number(value: f64) -> String {
    const DIGITS_BELOW: f64 = 1e20;
    match serde_json::Number::from_f64(value) {
        Some(number) if value.abs() >= DIGITS_BELOW => number.to_string(),
        _ => value.to_string(),
    }
}

scalar_message!(Quantity, QUANTITY, {
    fn scalar(&self) -> JsonScalar<'_> {
        JsonScalar::Str(self.as_str().into())
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        let text = match scalar {
            JsonScalar::Str(text) => text,
            JsonScalar::Int(value) => value.to_string().into(),
            JsonScalar::Float(value) => number(value).into(),
            other => return Err(wanted("Quantity", &other)),
        };
        let parsed = text.trim().parse();
        *self = parsed.map_err(|error: crate::ParseQuantityError| error.to_string())?;
        Ok(())
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        out.prepend_delimited(1, self.as_str().as_bytes());
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        let text = text(bytes, 1, cx)?;
        *self = Self::try_from(text).map_err(|error| {
            cx.fail(WireErrorKind::Invalid {
                reason: error.to_string(),
            })
        })?;
        Ok(())
    }
});

scalar_message!(IntOrString, INT_OR_STRING, {
    fn scalar(&self) -> JsonScalar<'_> {
        match self {
            Self::Int(value) => JsonScalar::Int(i64::from(*value)),
            Self::String(text) => JsonScalar::Str(text.as_str().into()),
        }
    }
    fn set_scalar(&mut self, scalar: JsonScalar<'_>) -> Result<(), String> {
        *self = match &scalar {
            JsonScalar::Int(value) => match i32::try_from(*value) {
                Ok(value) => Self::Int(value),
                Err(_) => {
                    return Err(format!(
                        "json: cannot unmarshal number {value} into Go value of type int32"
                    ));
                }
            },
            JsonScalar::Str(text) => Self::String(Str::from(&**text)),
            other => return Err(wanted("int32", other)),
        };
        Ok(())
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        let (kind, number, text) = match self {
            Self::Int(value) => (0, *value, ""),
            Self::String(text) => (1, 0, text.as_str()),
        };
        out.prepend_delimited(3, text.as_bytes());
        prepend_int(2, i64::from(number), out);
        prepend_int(1, kind, out);
    }
    fn merge_scalar(&mut self, bytes: &[u8], cx: &mut DecodeContext) -> Result<(), WireError> {
        let (mut is_string, mut value) = (false, 0);
        for field in raw_fields(bytes) {
            let field = field.map_err(|kind| cx.fail(kind))?;
            match field.number {
                1 => is_string = field.varint == 1,
                2 => value = int32(field.varint),
                _ => {}
            }
        }
        *self = if is_string {
            Self::String(text(bytes, 3, cx)?)
        } else {
            Self::Int(value)
        };
        Ok(())
    }
});
