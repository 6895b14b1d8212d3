//! The errors of Go's JSON decoder for JSON that does not match a schema. Clients and tests compare
//! these texts.
//!
//! It runs only after the actual decoder has refused well-formed JSON, in a single pass. Input that
//! Go accepts and the actual decoder refuses has no error here.

mod cbor;
mod convert;
mod names;

use cbor::Root;
pub(crate) use cbor::first_error as cbor_error;
pub(crate) use convert::first_error as conversion_error;
use kubist_apimachinery::wire::{FieldType, JsonForm, Schema};
use kubist_apimachinery::{ByteString, Duration, MicroTime, ParseQuantityError, Quantity, Time};
pub(crate) use names::go_type;
use names::{Name, Target};

/// Maximum nesting: deeper than any message that the decoder accepts.
const DEPTH_MAX: usize = 200;

/// Returns the error that Go's decoder reports, if it would report one.
pub(crate) fn first_error(json: &[u8], schema: &'static Schema) -> Option<String> {
    let target = Target::plain(FieldType::Message(schema));
    match Walk::new(json).all(target) {
        Ok(first) => first,
        Err(Stop::Refused(words)) => Some(words),
        Err(Stop::Lost) => None,
    }
}

/// Why the walk ends early.
enum Stop {
    /// A type with its own decoder refused its value: Go stops here.
    Refused(String),
    /// The text is not the expected JSON.
    Lost,
}

type Step<T = ()> = Result<T, Stop>;

struct Walk<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    /// The fields on the path to the value, including embedded structs.
    path: Vec<&'static str>,
    /// The struct that has the last of them.
    owner: Option<&'static str>,
    /// Go continues after a value of the wrong type, and reports the first one.
    first: Option<String>,
    /// What is decoded, if that was CBOR, whose decoder has words of its own.
    cbor: Option<Root>,
}

impl<'t> Walk<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            path: Vec::new(),
            owner: None,
            first: None,
            cbor: None,
        }
    }

    fn all(mut self, target: Target) -> Step<Option<String>> {
        self.value(target)?;
        Ok(self.first)
    }

    fn value(&mut self, mut target: Target) -> Step {
        if let FieldType::Message(schema) = target.ty {
            match schema.form {
                JsonForm::Object => {}
                JsonForm::Scalar => return self.scalar(schema),
                JsonForm::Transparent => match schema.fields.first() {
                    Some(field) => {
                        target = Target {
                            ty: field.ty,
                            name: Name::Of(schema),
                        }
                    }
                    None => return self.skip(),
                },
                // The decoders of these types accept any JSON, or their errors have no path.
                JsonForm::Raw | JsonForm::Union => return self.skip(),
            }
        }
        match self.peek()? {
            b'{' => self.object(target),
            b'[' => self.array(target),
            _ => self.literal(target),
        }
    }

    fn object(&mut self, target: Target) -> Step {
        let (schema, item) = match target.ty {
            FieldType::Message(schema) => (Some(schema), None),
            FieldType::StrMap | FieldType::BytesMap | FieldType::MessageMap(_) => {
                (None, target.item())
            }
            _ => {
                self.wrong("object", &target.go_name());
                return self.skip();
            }
        };
        self.enter()?;
        let (fields, owner) = (self.path.len(), self.owner);
        loop {
            match self.peek()? {
                b'}' => break,
                b',' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let key = self.key()?;
            match (schema, item) {
                (Some(schema), _) => match names::field(schema, &key) {
                    Some(field) => {
                        // Upstream decodes the metadata of a custom resource separately.
                        if !names::is_custom(schema) {
                            self.path.extend(field.embedded);
                            self.path.push(field.json);
                            self.owner = Some(schema.name);
                        }
                        self.value(field.target)?;
                    }
                    None => self.skip()?,
                },
                (None, Some(item)) => self.value(item)?,
                (None, None) => self.skip()?,
            }
            self.path.truncate(fields);
            self.owner = owner;
        }
        self.leave();
        Ok(())
    }

    fn array(&mut self, target: Target) -> Step {
        let item = target.item();
        let bytes = matches!(target.ty, FieldType::Bytes);
        let list = matches!(
            target.ty,
            FieldType::StrList
                | FieldType::BoolList
                | FieldType::I32List
                | FieldType::I64List
                | FieldType::BytesList
                | FieldType::MessageList(_)
        );
        if !bytes && !list {
            let into = cbor::into_array(self.cbor, target);
            self.wrong("array", &into.unwrap_or_else(|| target.go_name()));
            return self.skip();
        }
        self.enter()?;
        loop {
            match (self.peek()?, item) {
                (b']', _) => break,
                (b',', _) => self.at += 1,
                (_, Some(item)) if list => self.value(item)?,
                _ => self.byte()?,
            }
        }
        self.leave();
        Ok(())
    }

    /// A number as an item of a byte list.
    fn byte(&mut self) -> Step {
        let raw = self.raw()?;
        let fits = std::str::from_utf8(raw).is_ok_and(|text| text.parse::<u8>().is_ok());
        if !fits && let Some(found) = found(raw, true) {
            self.wrong(&found, "uint8");
        }
        Ok(())
    }

    fn literal(&mut self, target: Target) -> Step {
        let raw = self.raw()?;
        let text = std::str::from_utf8(raw).map_err(|_| Stop::Lost)?;
        let first = raw.first().copied().unwrap_or_default();
        let number = first.is_ascii_digit() || first == b'-';
        if !number && !matches!(first, b'"' | b't' | b'f' | b'n') {
            return Err(Stop::Lost);
        }
        let (fits, numeric) = match target.ty {
            FieldType::Bool => (matches!(first, b't' | b'f'), false),
            FieldType::Str => (first == b'"', false),
            FieldType::Bytes if first == b'"' => {
                self.base64(&unquoted(raw)?);
                (true, false)
            }
            FieldType::I32 => (text.parse::<i32>().is_ok(), true),
            FieldType::I64 => (text.parse::<i64>().is_ok(), true),
            FieldType::F64 => (
                number && text.parse::<f64>().is_ok_and(f64::is_finite),
                true,
            ),
            _ => (false, false),
        };
        if !fits && let Some(found) = found(raw, numeric || self.cbor.is_some()) {
            self.wrong(&found, &target.go_name());
        }
        Ok(())
    }

    fn base64(&mut self, text: &str) {
        if let Err(index) = ByteString::parse_base64(text) {
            let words = format!("illegal base64 data at input byte {index}");
            self.first.get_or_insert(words);
        }
    }

    /// A time, duration, quantity or int-or-string, which decodes itself.
    fn scalar(&mut self, schema: &'static Schema) -> Step {
        let raw = self.raw()?;
        let Some(found) = found(raw, schema.name == "IntOrString" || self.cbor.is_some()) else {
            return Ok(());
        };
        let string = raw.first() == Some(&b'"');
        let refusal = match schema.name {
            "Quantity" => refused_quantity(raw),
            "IntOrString" => {
                let text = std::str::from_utf8(raw).map_err(|_| Stop::Lost)?;
                let fits = string || text.parse::<i32>().is_ok();
                (!fits).then(|| self.mismatch(&found, "int32"))
            }
            _ if !string => Some(self.mismatch(&found, "string")),
            "Time" => unquoted(raw)?
                .parse::<Time>()
                .err()
                .map(|it| it.to_string()),
            "MicroTime" => {
                let parsed = unquoted(raw)?.parse::<MicroTime>();
                parsed.err().map(|it| it.to_string())
            }
            "Duration" => {
                let parsed = unquoted(raw)?.parse::<Duration>();
                parsed.err().map(|it| it.to_string())
            }
            _ => None,
        };
        refusal.map_or(Ok(()), |words| Err(Stop::Refused(words)))
    }

    fn wrong(&mut self, found: &str, go_name: &str) {
        if self.first.is_none() {
            self.first = Some(self.mismatch(found, go_name));
        }
    }

    fn mismatch(&self, found: &str, go_name: &str) -> String {
        if let Some(root) = self.cbor {
            return root.mismatch(found, self.path.first().copied(), go_name);
        }
        let place = match self.owner {
            Some(owner) => format!("struct field {owner}.{}", self.path.join(".")),
            None => "value".to_owned(),
        };
        format!("json: cannot unmarshal {found} into Go {place} of type {go_name}")
    }

    /// Enters an array or object, past its opening bracket.
    fn enter(&mut self) -> Step {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Stop::Lost);
        }
        self.at += 1;
        Ok(())
    }

    /// Leaves it, past its closing bracket.
    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn skip(&mut self) -> Step {
        self.raw().map(drop)
    }

    /// Returns the text of the next value.
    fn raw(&mut self) -> Step<&'t [u8]> {
        self.space();
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.next()? {
                b'"' => self.string()?,
                b'{' | b'[' => open += 1,
                b'}' | b']' => open = open.checked_sub(1).ok_or(Stop::Lost)?,
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.word(),
            }
            if open == 0 {
                return self.text.get(start..self.at).ok_or(Stop::Lost);
            }
        }
    }

    /// Skips the rest of a string.
    fn string(&mut self) -> Step {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    /// Skips the rest of a number or literal.
    fn word(&mut self) {
        let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
        while self.text.get(self.at).is_some_and(|&byte| !ends(byte)) {
            self.at += 1;
        }
    }

    fn key(&mut self) -> Step<String> {
        let key = unquoted(self.raw()?)?;
        match self.peek()? {
            b':' => self.at += 1,
            _ => return Err(Stop::Lost),
        }
        Ok(key)
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Step<u8> {
        self.space();
        self.text.get(self.at).copied().ok_or(Stop::Lost)
    }

    fn next(&mut self) -> Step<u8> {
        let byte = self.text.get(self.at).copied().ok_or(Stop::Lost)?;
        self.at += 1;
        Ok(byte)
    }
}

/// Returns Go's name of a JSON value; `None` for null, which every type accepts. A number is quoted
/// where a number was expected.
fn found(raw: &[u8], numeric: bool) -> Option<String> {
    let name = match raw.first() {
        Some(b'n') => return None,
        Some(b'"') => "string",
        Some(b't' | b'f') => "bool",
        Some(b'{') => "object",
        Some(b'[') => "array",
        _ if numeric => return Some(format!("number {}", String::from_utf8_lossy(raw))),
        _ => "number",
    };
    Some(name.to_owned())
}

fn unquoted(raw: &[u8]) -> Step<String> {
    serde_json::from_slice(raw).map_err(|_| Stop::Lost)
}

/// Go accepts any JSON as the text of a quantity.
fn refused_quantity(raw: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(raw);
    let quoted = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let number = raw
        .first()
        .is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    if quoted.is_none() && !number {
        return Some(ParseQuantityError::Format.to_string());
    }
    let parsed = quoted.unwrap_or(&text).trim().parse::<Quantity>();
    parsed.err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests;
