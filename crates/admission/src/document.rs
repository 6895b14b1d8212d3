//! `Document`: a configuration as it is written, before its kind is known.

use kubist_apimachinery::FieldError;
use kubist_codec::yaml;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;

/// Why a document is not the configuration that it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocumentError(String);

impl DocumentError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// Returns an error with all of these, or nothing if there are none.
    pub(crate) fn unless_empty(errors: &[FieldError]) -> Result<(), Self> {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        match crate::aggregate::aggregate(&texts) {
            Some(text) => Err(Self(text)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A configuration whose kind is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct Document(Value);

/// Parses the only document of a text, in YAML or JSON.
pub(crate) fn read_document(text: &[u8]) -> Result<Document, DocumentError> {
    let documents = yaml::parse_all(text).map_err(|error| DocumentError(error.to_string()))?;
    let mut documents = documents.into_iter();
    let (Some(only), None) = (documents.next(), documents.next()) else {
        return Err(DocumentError::new("expected one document"));
    };
    Ok(Document(only.value))
}

/// Returns a document as a type, if it has this kind in one of these versions.
pub(crate) fn typed<T: DeserializeOwned>(
    document: Document,
    versions: &[&str],
    kind: &str,
) -> Result<T, DocumentError> {
    let kinds: Vec<(&str, &str)> = versions.iter().map(|it| (*it, kind)).collect();
    document.of_kinds(&kinds)
}

impl Document {
    pub(crate) fn new(value: Value) -> Self {
        Self(value)
    }

    /// Reports whether it does not say what it is.
    pub(crate) fn is_unversioned(&self) -> bool {
        self.0.get("apiVersion").is_none() && self.0.get("kind").is_none()
    }

    /// Reports whether it has a field.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some()
    }

    /// Returns it as a type, if it has one of these versions and kinds. Unknown fields are refused.
    pub(crate) fn of_kinds<T: DeserializeOwned>(
        mut self,
        kinds: &[(&str, &str)],
    ) -> Result<T, DocumentError> {
        let Value::Object(fields) = &mut self.0 else {
            return Err(DocumentError::new("expected an object"));
        };
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (version, kind) = (text("apiVersion"), text("kind"));
        if !kinds.contains(&(&*version, &*kind)) {
            let known: Vec<String> = kinds.iter().map(|(v, k)| format!("{k} of {v}")).collect();
            return Err(DocumentError(format!(
                "no kind {kind:?} is registered for version {version:?}: expected {}",
                known.join(" or ")
            )));
        }
        self.unversioned()
    }

    /// Returns it as a type that has no version.
    pub(crate) fn unversioned<T: DeserializeOwned>(self) -> Result<T, DocumentError> {
        serde_json::from_value(self.0).map_err(|error| DocumentError(error.to_string()))
    }
}
