//! The scale of a custom object: replicas and selector, where its definition says they are.

use super::FieldPath;
use kubist_api::autoscaling::v1::Scale;
use kubist_apimachinery::{CustomObject, Status, Str, json_type};
use serde_json::Value;

/// Where the numbers of a scale are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    spec_replicas: Place,
    status_replicas: Place,
    selector: Option<Place>,
}

/// A path, and how the definition writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    text: String,
    path: FieldPath,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        Some(Self {
            text: text.to_owned(),
            path: FieldPath::parse(text)?,
        })
    }

    /// What is there, if anything is.
    fn read<T>(
        &self,
        object: &CustomObject,
        expected: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, Status> {
        let Some(value) = self.path.find(object) else {
            return Ok(None);
        };
        read(&value).map(Some).ok_or_else(|| {
            let (path, found) = (&self.text, json_type(&value));
            let why = format_args!("{path} accessor error: it is a {found}, expected {expected}");
            Status::internal_error(why)
        })
    }

    fn number(&self, object: &CustomObject) -> Result<Option<i32>, Status> {
        let number = |value: &Value| i32::try_from(value.as_i64()?).ok();
        self.read(object, "int32", number)
    }
}

impl ScalePaths {
    /// The paths of a definition; None if one that is needed is no path.
    pub(super) fn parse(spec: &str, status: &str, selector: Option<&str>) -> Option<Self> {
        Some(Self {
            spec_replicas: Place::parse(spec)?,
            status_replicas: Place::parse(status)?,
            selector: selector.and_then(Place::parse),
        })
    }

    /// Fills in a scale. Whether the object says how many replicas it wants; the status and the
    /// selector may be missing, and are zero and empty then, as upstream.
    ///
    /// # Errors
    /// What is there is no number, or the selector is no text.
    pub(crate) fn read(&self, object: &CustomObject, scale: &mut Scale) -> Result<bool, Status> {
        let wanted = self.spec_replicas.number(object)?;
        scale.spec.replicas = wanted.unwrap_or_default();
        scale.status.replicas = self.status_replicas.number(object)?.unwrap_or_default();
        if let Some(place) = &self.selector {
            let text = |value: &Value| value.as_str().map(Str::from);
            let selector = place.read(object, "string", text)?;
            scale.status.selector = selector.unwrap_or_default();
        }
        Ok(wanted.is_some())
    }

    /// Sets the number of replicas that are wanted.
    pub(crate) fn set(&self, object: &mut CustomObject, replicas: i32) {
        self.spec_replicas.path.set(object, Value::from(replicas));
    }

    /// The answer to a read of the scale of an object that does not say how many it wants: an
    /// error, as upstream documents it.
    pub(crate) fn missing(&self) -> Status {
        let path = &self.spec_replicas.text;
        Status::internal_error(format_args!(
            "the spec replicas field {path:?} does not exist"
        ))
    }

    /// The answer to an update of such an object that does not say it either.
    pub(crate) fn still_missing(&self) -> Status {
        let path = &self.spec_replicas.text;
        Status::bad_request(format!("the spec replicas field {path:?} cannot be empty"))
    }
}
