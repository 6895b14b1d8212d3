//! `Skim`: the quick structure check of JSON, which accepts or gives up.
//!
//! It checks the same as [`json_shape`](super::json_shape) and locates the metadata, without a
//! general parser. It accepts only text that the shape check accepts too. On anything unusual (an
//! exponent, an escaped field name, a surrogate pair, deep nesting) and on every error it gives up,
//! and the shape check decides. So this pass affects neither what is accepted nor the error
//! messages.

use super::json_shape::Expects;
use crate::wire::json_text::JsonText;
use crate::wire::{FieldType, JsonForm, Schema};

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
        let name = skim.name()?;
        let field = schema.and_then(|schema| schema.index_of(name).map(|at| &schema.fields[at].ty));
        if name == b"metadata" {
            let again = found.replace(skim.members(field, &mut each)?);
            again.is_none().then_some(())?;
        } else {
            skim.member(field, DEPTH_MAX)?;
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
        field: Option<&'static FieldType>,
        each: &mut impl FnMut(&'b [u8], &'b [u8]) -> Option<()>,
    ) -> Option<&'b [u8]> {
        let schema = match (self.token()?, field.map(Expects::of_field)) {
            (b'{', Some(Expects::Object(schema))) => Some(schema),
            (b'{', None) => None,
            _ => return self.word(b"null").map(|()| &[][..]),
        };
        let whole = self.at;
        let mut more = self.enter(b'}')?;
        while more {
            let name = self.name()?;
            let start = self.at;
            let field = schema.and_then(|it| it.index_of(name).map(|at| &it.fields[at].ty));
            self.member(field, DEPTH_MAX - 1)?;
            each(name, self.text.get(start..self.at)?)?;
            more = self.more(b'}')?;
        }
        self.text.get(whole..self.at)
    }

    /// Reads a member name with its colon and white space; none also if the name has escapes.
    #[inline]
    fn name(&mut self) -> Option<&'b [u8]> {
        self.token().filter(|&first| first == b'"')?;
        let start = self.at + 1;
        let plain = self.string()?;
        let name = self.text.get(start..self.at - 1).filter(|_| plain)?;
        self.colon()?;
        self.token()?;
        Some(name)
    }

    /// Reads the value of a member, which may be unknown.
    #[inline]
    fn member(&mut self, field: Option<&'static FieldType>, depth_max: u8) -> Option<()> {
        match field {
            Some(ty) => self.field(ty, depth_max),
            None => self.anything(depth_max),
        }
    }

    /// Does what [`Self::value`] does for a field, for the usual types without a detour.
    fn field(&mut self, ty: &'static FieldType, depth_max: u8) -> Option<()> {
        match (self.token()?, ty) {
            (b'n', _) => self.word(b"null"),
            (b'"', FieldType::Str) => self.string().map(drop),
            (_, FieldType::Message(schema)) => self.message(schema, depth_max),
            (b'[', FieldType::MessageList(schema)) => {
                let depth_max = depth_max.checked_sub(1)?;
                let mut more = self.enter(b']')?;
                while more {
                    self.message(schema, depth_max)?;
                    more = self.more(b']')?;
                }
                Some(())
            }
            _ => self.value(Expects::of_field(ty), depth_max),
        }
    }

    fn message(&mut self, schema: &'static Schema, depth_max: u8) -> Option<()> {
        if schema.form == JsonForm::Object && self.token()? == b'{' {
            return self.object(schema, depth_max);
        }
        self.value(Expects::of_message(schema), depth_max)
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
            let name = self.name()?;
            let field = schema.index_of(name).map(|at| &schema.fields[at].ty);
            self.member(field, depth_max)?;
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
