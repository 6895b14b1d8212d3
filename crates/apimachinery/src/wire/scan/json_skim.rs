//! `Skim`: the quick structure check of JSON, which accepts or gives up.
//!
//! It checks the same as [`json_shape`](super::json_shape) and locates the metadata, without a
//! general parser. It accepts only text that the shape check accepts too. On anything unusual (an
//! exponent, an escaped field name, a surrogate pair, deep nesting) and on every error it gives up,
//! and the shape check decides. So this pass affects neither what is accepted nor the error
//! messages.

use super::json_shape::Expects;
use crate::wire::Schema;

/// The maximum depth; the shape check handles deeper text, and its parser stops at 127 levels of
/// known fields.
const DEPTH_MAX: u8 = 100;

/// The most digits of a number; the shape check handles longer ones. None of these is out of range.
const DIGITS_MAX: usize = 18;

/// The number of fields that are tried in order before the name is looked up.
const FIELDS_AHEAD: usize = 8;

/// Returns the value of `metadata` in UTF-8 text that is a well-formed object in which (if a schema
/// is given) each field has the right JSON type. The value is empty if it is absent or null. None
/// means that the pass gave up.
///
/// `each` is called with the name and value of each metadata member, and may give up too.
pub(super) fn metadata<'b>(
    text: &'b [u8],
    schema: Option<&'static Schema>,
    mut each: impl FnMut(&'b [u8], &'b [u8]) -> Option<()>,
) -> Option<&'b [u8]> {
    if let Some(schema) = schema
        && !matches!(Expects::of_message(schema), Expects::Object(_))
    {
        return None;
    }
    let mut skim = Skim { text, at: 0 };
    let mut found = None;
    skim.token().filter(|&first| first == b'{')?;
    let (mut more, mut hint) = (skim.enter(b'}')?, 0);
    while more {
        let (name, expects) = skim.name(schema, &mut hint)?;
        if name == b"metadata" {
            let again = found.replace(skim.members(expects, &mut each)?);
            again.is_none().then_some(())?;
        } else {
            skim.value(expects, DEPTH_MAX)?;
        }
        more = skim.more(b'}')?;
    }
    match skim.token() {
        None => Some(found.unwrap_or_default()),
        Some(_) => None,
    }
}

/// A position in the text. Each method is called at the first byte of what it reads and moves after
/// it; after `None` the position is meaningless.
struct Skim<'b> {
    text: &'b [u8],
    at: usize,
}

impl<'b> Skim<'b> {
    /// Returns the next byte that is not white space, without consuming it.
    fn token(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Consumes an opening bracket; returns whether there is an item.
    fn enter(&mut self, close: u8) -> Option<bool> {
        self.at += 1;
        let empty = self.token()? == close;
        self.at += usize::from(empty);
        Some(!empty)
    }

    /// Consumes a comma or the closing bracket; returns whether there is another item.
    fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.token()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    /// Reads an object and passes its members on; null is empty.
    fn members(
        &mut self,
        expects: Expects,
        each: &mut impl FnMut(&'b [u8], &'b [u8]) -> Option<()>,
    ) -> Option<&'b [u8]> {
        let schema = match (self.token()?, expects) {
            (b'{', Expects::Object(schema)) => Some(schema),
            (b'{', Expects::Anything) => None,
            _ => return self.word(b"null").map(|()| &[][..]),
        };
        let whole = self.at;
        let (mut more, mut hint) = (self.enter(b'}')?, 0);
        while more {
            let (name, expects) = self.name(schema, &mut hint)?;
            let start = self.at;
            self.value(expects, DEPTH_MAX - 1)?;
            each(name, self.text.get(start..self.at)?)?;
            more = self.more(b'}')?;
        }
        self.text.get(whole..self.at)
    }

    /// Reads a member name with its colon and white space, and returns the expected type of its
    /// value; none also if the name has escapes.
    fn name(
        &mut self,
        schema: Option<&'static Schema>,
        hint: &mut usize,
    ) -> Option<(&'b [u8], Expects)> {
        self.token().filter(|&first| first == b'"')?;
        let start = self.at + 1;
        let ahead = schema.and_then(|schema| field_ahead(schema, *hint, self.text.get(start..)?));
        let (name, index) = if let Some((index, length)) = ahead {
            self.at = start + length + 1;
            (self.text.get(start..start + length)?, Some(index))
        } else {
            let plain = self.string()?;
            let name = self.text.get(start..self.at - 1).filter(|_| plain)?;
            (name, schema.and_then(|schema| field_named(schema, name)))
        };
        self.colon()?;
        self.token()?;
        let (Some(schema), Some(index)) = (schema, index) else {
            return Some((name, Expects::Anything));
        };
        *hint = index + 1;
        Some((name, Expects::of_field(&schema.fields[index].ty)))
    }

    fn colon(&mut self) -> Option<()> {
        self.token().filter(|&byte| byte == b':')?;
        self.at += 1;
        Some(())
    }

    fn value(&mut self, expects: Expects, depth_max: u8) -> Option<()> {
        use Expects::{Anything, Bool, Bytes, List, Map, Number, Object, Scalar, Text};
        match (self.token()?, expects) {
            (b'"', Text | Bytes | Scalar(_) | Anything) => self.string().map(drop),
            (b'{', Object(schema)) => self.object(schema, depth_max),
            (b'{', Map(leaf)) => self.pairs(leaf.expects(), depth_max),
            (b'{', Anything) => self.pairs(Anything, depth_max),
            (b'[', List(leaf)) => self.items(leaf.expects(), depth_max),
            (b'[', Bytes) => self.items(Number, depth_max),
            (b'[', Anything) => self.items(Anything, depth_max),
            (b'-' | b'0'..=b'9', Number | Scalar(_) | Anything) => self.number(),
            (b't', Bool | Anything) => self.word(b"true"),
            (b'f', Bool | Anything) => self.word(b"false"),
            (b'n', _) => self.word(b"null"),
            _ => None,
        }
    }

    fn object(&mut self, schema: &'static Schema, depth_max: u8) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        let (mut more, mut hint) = (self.enter(b'}')?, 0);
        while more {
            let (_, expects) = self.name(Some(schema), &mut hint)?;
            self.value(expects, depth_max)?;
            more = self.more(b'}')?;
        }
        Some(())
    }

    fn pairs(&mut self, expects: Expects, depth_max: u8) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        let mut more = self.enter(b'}')?;
        while more {
            self.token().filter(|&first| first == b'"')?;
            self.string()?;
            self.colon()?;
            self.value(expects, depth_max)?;
            more = self.more(b'}')?;
        }
        Some(())
    }

    fn items(&mut self, expects: Expects, depth_max: u8) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        let mut more = self.enter(b']')?;
        while more {
            self.value(expects, depth_max)?;
            more = self.more(b']')?;
        }
        Some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text.get(self.at..)?.strip_prefix(word)?;
        self.at += word.len();
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.text.get(self.at) == Some(&b'-'));
        let zero = self.text.get(self.at) == Some(&b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return None;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        match self.text.get(self.at)? {
            b'e' | b'E' => None,
            _ => Some(()),
        }
    }

    /// Returns the number of digits, if it is within the limit.
    fn digits(&mut self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        let count = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        self.at += count;
        (1..=DIGITS_MAX).contains(&count).then_some(count)
    }

    /// Reports whether the string has no escapes.
    fn string(&mut self) -> Option<bool> {
        let mut plain = true;
        let mut at = self.at + 1;
        loop {
            let rest = self.text.get(at..)?;
            let run = plain_run(rest);
            at += run;
            match *rest.get(run)? {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    at += escape_length(&rest[run..])?;
                }
                _ => return None,
            }
        }
        self.at = at + 1;
        Some(plain)
    }
}

/// Returns the index of the field whose name and a quote begin `text`, and the length of the name.
/// Fields mostly come in order, with gaps. No field name needs escapes.
fn field_ahead(schema: &Schema, hint: usize, text: &[u8]) -> Option<(usize, usize)> {
    let first = text.first()?;
    let ahead = schema.fields.get(hint..)?.iter().take(FIELDS_AHEAD);
    for (index, field) in ahead.enumerate() {
        let name = field.json.as_bytes();
        if name.first() == Some(first)
            && text.get(name.len()) == Some(&b'"')
            && text.starts_with(name)
        {
            return Some((hint + index, name.len()));
        }
    }
    None
}

/// Returns the index of the field with this name.
fn field_named(schema: &Schema, name: &[u8]) -> Option<usize> {
    let json = |&index: &u16| schema.fields[usize::from(index)].json.as_bytes();
    let found = schema.by_name.binary_search_by(|it| json(it).cmp(name));
    found.ok().map(|found| usize::from(schema.by_name[found]))
}

/// Returns the length of the escape at the start of `text`.
fn escape_length(text: &[u8]) -> Option<usize> {
    match text.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = text.get(2..6)?;
            let surrogate = matches!(digits, [b'd' | b'D', b'8'..=u8::MAX, ..]);
            (!surrogate && digits.iter().all(u8::is_ascii_hexdigit)).then_some(6)
        }
        _ => None,
    }
}

/// Returns the number of bytes before a quote, a backslash or a control character.
#[inline]
pub(super) fn plain_run(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // Each subtraction sets the high bit of bytes below the subtrahend; in the first one, a
        // flipped bit moves the quote (0x22) next to the control characters. Bytes above the first
        // match may be wrong because of borrows, and are ignored.
        let low = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
        let found = (low | backslash) & !word & (ONES << 7);
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    let tail = rest.iter().position(stops).unwrap_or(rest.len());
    text.len() - rest.len() + tail
}

#[cfg(test)]
mod tests;
