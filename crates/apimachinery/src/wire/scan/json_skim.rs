//! `Skim`: the quick structure check of JSON, which accepts or gives up.
//!
//! It checks the same as [`json_shape`](super::json_shape) and locates the metadata, without a
//! general parser. It accepts only text that the shape check accepts too. On anything unusual (an
//! exponent, an escaped field name, a surrogate pair, deep nesting) and on every error it gives up,
//! and the shape check decides. So this pass affects neither what is accepted nor the error
//! messages.

use super::json_shape::Expects;
use crate::wire::Schema;
use crate::wire::json_text::JsonText;

/// The maximum depth; the shape check handles deeper text, and its parser stops at 127 levels of
/// known fields.
const DEPTH_MAX: u8 = 100;

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
    let mut skim = JsonText { text, at: 0 };
    let mut found = None;
    skim.token().filter(|&first| first == b'{')?;
    let mut more = skim.enter(b'}')?;
    while more {
        let (name, expects) = skim.name(schema)?;
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

impl<'b> JsonText<'b> {
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
        let mut more = self.enter(b'}')?;
        while more {
            let (name, expects) = self.name(schema)?;
            let start = self.at;
            self.value(expects, DEPTH_MAX - 1)?;
            each(name, self.text.get(start..self.at)?)?;
            more = self.more(b'}')?;
        }
        self.text.get(whole..self.at)
    }

    /// Reads a member name with its colon and white space, and returns the expected type of its
    /// value; none also if the name has escapes.
    fn name(&mut self, schema: Option<&'static Schema>) -> Option<(&'b [u8], Expects)> {
        self.token().filter(|&first| first == b'"')?;
        let start = self.at + 1;
        let plain = self.string()?;
        let name = self.text.get(start..self.at - 1).filter(|_| plain)?;
        let index = schema.and_then(|schema| schema.index_of(name));
        self.colon()?;
        self.token()?;
        let (Some(schema), Some(index)) = (schema, index) else {
            return Some((name, Expects::Anything));
        };
        Some((name, Expects::of_field(&schema.fields[index].ty)))
    }

    fn value(&mut self, expects: Expects, depth_max: u8) -> Option<()> {
        use Expects::{Anything, Bool, Bytes, List, Map, Number, Object, Scalar, Text};
        match (self.token()?, expects) {
            (_, Anything) => self.anything(depth_max),
            (b'"', Text | Bytes | Scalar(_)) => self.string().map(drop),
            (b'{', Object(schema)) => self.object(schema, depth_max),
            (b'{', Map(leaf)) => self.pairs(leaf.expects(), depth_max),
            (b'[', List(leaf)) => self.items(leaf.expects(), depth_max),
            (b'[', Bytes) => self.items(Number, depth_max),
            (b'-' | b'0'..=b'9', Number | Scalar(_)) => self.number(),
            (b't', Bool) => self.word(b"true"),
            (b'f', Bool) => self.word(b"false"),
            (b'n', _) => self.word(b"null"),
            _ => None,
        }
    }

    fn object(&mut self, schema: &'static Schema, depth_max: u8) -> Option<()> {
        let depth_max = depth_max.checked_sub(1)?;
        let mut more = self.enter(b'}')?;
        while more {
            let (_, expects) = self.name(Some(schema))?;
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
}

#[cfg(test)]
mod tests;
