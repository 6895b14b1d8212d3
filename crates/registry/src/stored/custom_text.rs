//! `CustomText`: the stored text of a custom object, which is served without decoding it.
//!
//! Only the form that this server and upstream's write is: members sorted by name, and metadata
//! that ends with the uid, so that the resource version has a place before it. Everything else is
//! decoded.

use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Values that nest more levels are decoded.
const DEPTH_MAX: u32 = 64;
/// What begins the last member of the metadata.
const UID: &str = "\"uid\":\"";

/// A text, and the position of the resource version in it.
#[derive(Clone, Debug)]
pub(crate) struct CustomText {
    text: Bytes,
    place: usize,
}

impl CustomText {
    /// Examines a value. Returns it with its `apiVersion`.
    pub(crate) fn of(value: &Bytes) -> Option<(Self, String)> {
        let text = std::str::from_utf8(value).ok()?.strip_suffix('\n')?;
        let top: Top<'_> = serde_json::from_str(text).ok()?;
        let metadata = top.metadata?.get();
        let uid = metadata.rfind(UID)?;
        // Both are parts of one text.
        let start = (metadata.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
        let this = Self {
            text: value.slice_ref(text.as_bytes()),
            place: start + uid,
        };
        Some((this, top.api_version?))
    }

    /// Returns the text without a resource version.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Appends the object with a resource version; with none if it is 0.
    pub(crate) fn push(&self, revision: u64, out: &mut Vec<u8>) {
        let (before, after) = self.text.split_at(self.place);
        out.reserve(self.text.len() + 48);
        out.extend_from_slice(before);
        if revision > 0 {
            out.extend_from_slice(format!("\"resourceVersion\":\"{revision}\",").as_bytes());
        }
        out.extend_from_slice(after);
    }
}

/// The members of an object.
#[derive(Default)]
struct Top<'a> {
    api_version: Option<String>,
    /// If it has the usual form.
    metadata: Option<&'a RawValue>,
}

impl<'de> serde::Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let (mut top, mut names) = (Top::default(), Names::default());
        while let Some(name) = names.next(&mut members)? {
            match name {
                "apiVersion" => top.api_version = Some(members.next_value()?),
                "metadata" => {
                    let raw: &RawValue = members.next_value()?;
                    let mut json = serde_json::Deserializer::from_str(raw.get());
                    Metadata.deserialize(&mut json).map_err(Error::custom)?;
                    top.metadata = Some(raw);
                }
                _ => members.next_value_seed(Sorted(0))?,
            }
        }
        Ok(top)
    }
}

/// The names of an object's members, each of which must be greater than the one before.
#[derive(Default)]
struct Names {
    last: String,
    is_any_read: bool,
}

impl Names {
    /// Reads the next one.
    fn next<'de, A: MapAccess<'de>>(&mut self, members: &mut A) -> Result<Option<&str>, A::Error> {
        let found = members.next_key_seed(&mut *self)?;
        Ok(found.map(|()| &*self.last))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Names {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for &mut Names {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name after the one before")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        if self.is_any_read && self.last.as_str() >= name {
            return Err(E::custom("members are not sorted"));
        }
        self.is_any_read = true;
        self.last.clear();
        self.last.push_str(name);
        Ok(())
    }
}

/// Metadata of the usual form.
struct Metadata;

impl<'de> DeserializeSeed<'de> for Metadata {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Metadata {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = Names::default();
        while let Some(name) = names.next(&mut members)? {
            match name {
                "annotations" | "labels" => members.next_value_seed(Texts)?,
                "creationTimestamp" | "deletionTimestamp" | "generateName" | "name"
                | "namespace" | "uid" => members.next_value_seed(Text)?,
                "deletionGracePeriodSeconds" | "generation" => {
                    members.next_value::<i64>()?;
                }
                "finalizers" => {
                    members.next_value::<Vec<String>>()?;
                }
                "managedFields" | "ownerReferences" => members.next_value_seed(Sorted(0))?,
                _ => return Err(Error::custom("another member")),
            }
        }
        match &*names.last {
            "uid" => Ok(()),
            _ => Err(Error::custom("no uid")),
        }
    }
}

/// A string.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
}

/// An object of strings.
struct Texts;

impl<'de> DeserializeSeed<'de> for Texts {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Texts {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = Names::default();
        while names.next(&mut members)?.is_some() {
            members.next_value_seed(Text)?;
        }
        Ok(())
    }
}

/// Any value whose objects have sorted members, at this depth.
#[derive(Clone, Copy)]
struct Sorted(u32);

impl<'de> DeserializeSeed<'de> for Sorted {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0 > DEPTH_MAX {
            return Err(Error::custom("too deep"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sorted {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Self(self.0 + 1))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = Names::default();
        while names.next(&mut members)?.is_some() {
            members.next_value_seed(Self(self.0 + 1))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CustomText;
    use bytes::Bytes;

    fn shown(text: &'static str) -> Option<String> {
        let (text, version) = CustomText::of(&Bytes::from_static(text.as_bytes()))?;
        assert_eq!(version, "example.com/v1");
        let mut out = Vec::new();
        text.push(7, &mut out);
        Some(String::from_utf8(out).expect("it is text"))
    }

    #[test]
    fn a_stored_text_is_shown_with_its_version() {
        let text = concat!(
            r#"{"apiVersion":"example.com/v1","kind":"Example","metadata":{"annotations":{"a":""#,
            r#"\"uid\":\""},"name":"a","ownerReferences":[{"name":"b","uid":"1"}],"uid":"2"},"#,
            r#""spec":{"metadata":{"uid":"3"},"z":[null,1.5,true]}}"#,
            "\n"
        );
        let expected = text
            .trim_end()
            .replace(r#""uid":"2""#, r#""resourceVersion":"7","uid":"2""#);
        assert_eq!(shown(text), Some(expected));
    }

    #[test]
    fn texts_of_another_form_are_decoded() {
        let usual = concat!(
            r#"{"apiVersion":"example.com/v1","kind":"E","metadata":{"name":"a","uid":"2"},"#,
            "\"spec\":{}}\n"
        );
        assert!(shown(usual).is_some());
        for (from, to) in [
            ("\n", ""),
            (r#""spec":{}"#, r#""spec":{},"a":1"#),
            (r#""spec":{}"#, r#""spec":{"b":1,"a":1}"#),
            (r#""spec":{}"#, r#""spec":{"a":1,"a":1}"#),
            (r#""spec":{}"#, r#""spec":{"#),
            (r#""name":"a""#, r#""name":null"#),
            (r#""name":"a""#, r#""labels":{"a":1}"#),
            (r#""name":"a""#, r#""other":"a""#),
            (r#""uid":"2""#, r#""resourceVersion":"1","uid":"2""#),
            (r#","uid":"2""#, ""),
        ] {
            let text = usual.replace(from, to).leak();
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
