//! `Unstructured`: an object as a JSON tree, for kinds without a Rust type.
//!
//! It is for custom resources and for tools that work with any kind. It keeps every field,
//! interprets only `apiVersion`, `kind` and `metadata`, and has no protobuf form.

use crate::wire::{DecodeContext, Encode, EncodeError, Encoding, WireError, WireErrorKind};
use crate::{
    ApiResource, GroupVersion, GroupVersionKind, KeyValueSource, KeyValues, LAST_APPLIED, Object,
    Owner, OwnerSource, Owners,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// An object of any kind.
///
/// ```
/// use kubist_apimachinery::{Object, Unstructured};
/// let object: Unstructured = serde_json::from_str(
///     r#"{"apiVersion": "example.com/v1", "kind": "Fig", "metadata": {"name": "f"}, "spec": 1}"#,
/// )?;
/// assert_eq!((object.name(), object.kind()), ("f", "Fig"));
/// assert_eq!(object.pointer("/spec").unwrap(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
#[expect(clippy::exhaustive_structs, reason = "it is its tree and nothing else")]
pub struct Unstructured {
    /// The whole object.
    pub object: Map<String, Value>,
}

impl Unstructured {
    /// Creates an object of this kind with only a name.
    pub fn new(resource: &ApiResource, name: &str) -> Self {
        let mut this = Self::default();
        this.set_kind(resource);
        this.set_metadata("name", name);
        this
    }

    /// Decodes JSON text.
    ///
    /// # Errors
    /// The text is not JSON, or not an object.
    pub fn from_json(bytes: &[u8], cx: &mut DecodeContext) -> Result<Self, WireError> {
        let (length, max) = (bytes.len(), cx.limits().bytes_max);
        if length > max {
            return Err(WireErrorKind::TooLong { length, max }.into());
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|error| {
            WireError::from(WireErrorKind::Syntax {
                reason: error.to_string(),
                line: error.line(),
                column: error.column(),
            })
        })?;
        match value {
            Value::Object(object) => Ok(Self { object }),
            other => Err(mismatch("", "object", &other)),
        }
    }

    /// Same as [`Self::from_json`], and validates the types of `metadata`, `name` and `namespace`.
    /// A missing kind is filled in, as for the items of built-in lists.
    ///
    /// # Errors
    /// The text is not JSON, or not an object with metadata.
    pub fn from_item(
        bytes: &[u8],
        resource: &ApiResource,
        cx: &mut DecodeContext,
    ) -> Result<Self, WireError> {
        let mut this = Self::from_json(bytes, cx)?;
        match this.object.get("metadata") {
            None | Some(Value::Null) => {}
            Some(Value::Object(metadata)) => {
                for key in ["name", "namespace", "uid", "resourceVersion"] {
                    if let Some(other) = metadata.get(key).filter(|it| !it.is_string()) {
                        return Err(mismatch(&format!("metadata.{key}"), "string", other));
                    }
                }
            }
            Some(other) => return Err(mismatch("metadata", "object", other)),
        }
        if !this.object.contains_key("kind") {
            this.set_kind(resource);
        }
        Ok(this)
    }

    /// Returns `apiVersion`; empty if it is missing.
    pub fn api_version(&self) -> &str {
        text(self.object.get("apiVersion"))
    }

    /// Returns `kind`; empty if it is missing.
    pub fn kind(&self) -> &str {
        text(self.object.get("kind"))
    }

    /// Returns the group, version and kind; none if `apiVersion` is malformed.
    pub fn gvk(&self) -> Option<GroupVersionKind> {
        let version: GroupVersion = self.api_version().parse().ok()?;
        Some(version.with_kind(self.kind()))
    }

    /// Returns the value at an RFC 6901 pointer such as `/spec/replicas`.
    pub fn pointer(&self, path: &str) -> Option<&Value> {
        let (first, rest) = path.strip_prefix('/')?.split_once('/').map_or_else(
            || (&path[1..], None),
            |(first, _)| (first, Some(&path[1 + first.len()..])),
        );
        let value = self
            .object
            .get(&first.replace("~1", "/").replace("~0", "~"))?;
        rest.map_or(Some(value), |rest| value.pointer(rest))
    }

    /// Returns `metadata`, if it is an object.
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.object.get("metadata")?.as_object()
    }

    /// Returns `metadata` for changes; replaces it by an object if it is missing or not one.
    ///
    /// # Panics
    /// Never.
    pub fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        let metadata = self.object.entry("metadata").or_insert(Value::Null);
        if !metadata.is_object() {
            *metadata = Value::Object(Map::new());
        }
        metadata
            .as_object_mut()
            .expect("it was made an object above")
    }

    /// Sets a string field of the metadata, such as `namespace`.
    pub fn set_metadata(&mut self, key: &str, value: &str) {
        self.metadata_mut().insert(key.to_owned(), value.into());
    }

    /// Sets `apiVersion` and `kind`.
    pub fn set_kind(&mut self, resource: &ApiResource) {
        let version = resource.group_version().to_string();
        self.object.insert("apiVersion".to_owned(), version.into());
        self.object
            .insert("kind".to_owned(), resource.kind.as_str().into());
    }

    /// Removes `metadata.managedFields` and the annotation [`LAST_APPLIED`], and the annotations if
    /// none remain. Client-side `kubectl apply` needs that annotation: do not replace a stored
    /// object by one without it.
    pub fn drop_managed_fields(&mut self) {
        let Some(Value::Object(metadata)) = self.object.get_mut("metadata") else {
            return;
        };
        metadata.remove("managedFields");
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
            && annotations.remove(LAST_APPLIED).is_some()
            && annotations.is_empty()
        {
            metadata.remove("annotations");
        }
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.metadata().map_or("", |it| text(it.get(key)))
    }

    fn pairs(&self, key: &str) -> KeyValues<'_> {
        match self.metadata().and_then(|it| it.get(key)) {
            Some(Value::Object(map)) => KeyValues::Dyn(map),
            _ => KeyValues::Empty,
        }
    }
}

impl Object for Unstructured {
    fn name(&self) -> &str {
        self.metadata_text("name")
    }
    fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }
    fn uid(&self) -> &str {
        self.metadata_text("uid")
    }
    fn resource_version(&self) -> &str {
        self.metadata_text("resourceVersion")
    }
    fn labels(&self) -> KeyValues<'_> {
        self.pairs("labels")
    }
    fn annotations(&self) -> KeyValues<'_> {
        self.pairs("annotations")
    }
    fn owners(&self) -> Owners<'_> {
        match self.metadata().and_then(|it| it.get("ownerReferences")) {
            Some(Value::Array(owners)) => Owners::Dyn(owners),
            _ => Owners::List(&[]),
        }
    }
    fn is_terminating(&self) -> bool {
        !self.metadata_text("deletionTimestamp").is_empty()
    }
}

impl Encode for Unstructured {
    const PROTOBUF: bool = false;

    fn encode(&self, _encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
        Ok(serde_json::to_vec(&self.object)?)
    }

    /// Encodes it unchanged: it has no fields that were not given.
    fn encode_wanted(&self, _with_status: bool) -> Result<Vec<u8>, EncodeError> {
        self.encode(Encoding::Json)
    }
}

/// Skips values that are not strings.
impl KeyValueSource for Map<String, Value> {
    fn value(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    fn pair(&self, index: usize) -> Option<(&str, &str)> {
        let pairs = self
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)));
        pairs.into_iter().nth(index)
    }
}

impl OwnerSource for Vec<Value> {
    fn owner(&self, index: usize) -> Option<Owner<'_>> {
        let owner = self.get(index)?;
        Some(Owner {
            api_version: text(owner.get("apiVersion")),
            kind: text(owner.get("kind")),
            name: text(owner.get("name")),
            uid: text(owner.get("uid")),
            controller: owner.get("controller") == Some(&Value::Bool(true)),
        })
    }
}

impl<'de> Deserialize<'de> for Unstructured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(object) => Ok(Self { object }),
            other => {
                let found = json_type(&other);
                Err(D::Error::custom(format!("expected object, found {found}")))
            }
        }
    }
}

impl fmt::Debug for Unstructured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unstructured").field(&self.object).finish()
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn mismatch(path: &str, expected: &str, found: &Value) -> WireError {
    WireError {
        path: path.to_owned(),
        kind: WireErrorKind::TypeMismatch {
            found: json_type(found).to_owned(),
            expected: expected.to_owned(),
            message: "Unstructured",
        },
    }
}

/// Returns the name of a value's type in Go's JSON decoder.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIG: &str = r#"{"apiVersion":"example.com/v1","kind":"Fig","metadata":{
        "name":"f","namespace":"n","uid":"u","resourceVersion":"7","deletionTimestamp":"2024",
        "labels":{"a":"b","bad":1},"annotations":null,
        "ownerReferences":[{"kind":"Tree","uid":"t"},{"name":"x","controller":true}]},
        "spec":{"a/b":[1,2]}}"#;

    fn figs() -> ApiResource {
        ApiResource {
            group: "example.com".into(),
            version: "v1".into(),
            kind: "Fig".into(),
            plural: "figs".into(),
            singular: "fig".into(),
            namespaced: true,
        }
    }

    #[test]
    fn metadata_is_read_through_the_object_trait() {
        let fig = Unstructured::from_item(FIG.as_bytes(), &figs(), &mut DecodeContext::new());
        let fig = fig.unwrap();
        assert_eq!(fig.object_name().to_string(), "n/f");
        assert_eq!((fig.uid(), fig.resource_version()), ("u", "7"));
        assert!(fig.is_terminating() && fig.annotations().is_empty());
        assert_eq!(fig.labels().iter().collect::<Vec<_>>(), [("a", "b")]);
        assert_eq!(fig.labels().get("bad"), None);
        assert_eq!(fig.owners().iter().count(), 2);
        assert_eq!(fig.owners().controller().unwrap().name, "x");
        assert_eq!(fig.gvk().unwrap().to_string(), "example.com/v1, Kind=Fig");
        assert_eq!(fig.pointer("/spec/a~1b/1").unwrap(), 2);
        assert_eq!(fig.pointer("/kind").unwrap(), "Fig");
        assert_eq!(fig.pointer("kind"), None);
    }

    #[test]
    fn a_body_that_is_not_an_object_is_refused_with_its_position() {
        let read = |json: &str| {
            let cx = &mut DecodeContext::new();
            Unstructured::from_item(json.as_bytes(), &figs(), cx).map_err(|it| it.to_string())
        };
        assert_eq!(read("[]"), Err("expected object, found array".to_owned()));
        let error = read(r#"{"metadata":{"name":1}}"#);
        assert_eq!(
            error,
            Err("metadata.name: expected string, found number".to_owned())
        );
        let error = read(r#"{"metadata":"x"}"#);
        assert_eq!(
            error,
            Err("metadata: expected object, found string".to_owned())
        );
        assert!(read("{").unwrap_err().contains("line 1 column 1"));
    }

    #[test]
    fn items_of_a_list_get_the_kind_of_the_resource() {
        let cx = &mut DecodeContext::new();
        let fig = Unstructured::from_item(br#"{"spec":{}}"#, &figs(), cx).unwrap();
        assert_eq!((fig.api_version(), fig.kind()), ("example.com/v1", "Fig"));
        let mut made = Unstructured::new(&figs(), "f");
        made.set_metadata("namespace", "n");
        let bytes = made.encode(Encoding::Json).expect("it is JSON");
        assert_eq!(Unstructured::from_json(&bytes, cx).unwrap(), made);
    }
}
