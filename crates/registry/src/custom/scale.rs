//! The scale of a custom object: replicas and selector, at the paths in its definition.

use crate::custom::json_path::JsonPath;
use kubist_api::autoscaling::v1::Scale;
use kubist_apimachinery::{CustomObject, FieldError, FieldPath, Status, Str, json_type};
use kubist_field_manager::PathElement;
use serde_json::Value;

/// The paths of the scale fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    spec_replicas: Place,
    status_replicas: Place,
    selector: Option<Place>,
}

/// A path, with its text in the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    text: String,
    path: JsonPath,
}

impl ScalePaths {
    /// Returns the path of the desired replicas.
    pub(crate) fn replicas_path(&self) -> Option<Vec<PathElement>> {
        let names = self.spec_replicas.path.names()?;
        Some(names.into_iter().map(PathElement::from).collect())
    }
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        Some(Self {
            text: text.to_owned(),
            path: JsonPath::parse(text)?,
        })
    }

    /// Returns the value at the path, converted by `read`; `None` if it is missing.
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

    /// Returns the value at the path; `None` if it is missing. A value of another type is an error
    /// with upstream's message.
    fn expect<'a>(
        &self,
        object: &'a CustomObject,
        expected: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Option<&'a Value>, String> {
        let names = self.path.names().unwrap_or_default();
        let Some((last, way)) = names.split_last() else {
            return Ok(None);
        };
        let instead = |found: &Value, expected: &str| {
            let (path, is) = (&self.text, go_type(found));
            let found = go_print(found);
            format!("{path} accessor error: {found} is of the type {is}, expected {expected}")
        };
        let mut map = object.content();
        for name in way {
            match map.get(*name) {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::Object(inner)) => map = inner,
                Some(other) => return Err(instead(other, "map[string]interface{}")),
            }
        }
        match map.get(*last) {
            Some(found) if !fits(found) => Err(instead(found, expected)),
            found => Ok(found),
        }
    }

    /// Validates a number of replicas.
    fn check_number(&self, object: &CustomObject, errors: &mut Vec<FieldError>) {
        let at = FieldPath::new(&self.text);
        match self.expect(object, "int64", Value::is_i64) {
            Err(why) => errors.push(FieldError::invalid(&at, 0, why)),
            Ok(found) => {
                let number = found.and_then(Value::as_i64).unwrap_or_default();
                let why = if number < 0 {
                    "should be a non-negative integer"
                } else if number > i64::from(i32::MAX) {
                    "should be less than or equal to 2147483647"
                } else {
                    return;
                };
                errors.push(FieldError::invalid(&at, number, why));
            }
        }
    }

    fn number(&self, object: &CustomObject) -> Result<Option<i32>, Status> {
        let number = |value: &Value| i32::try_from(value.as_i64()?).ok();
        self.read(object, "int32", number)
    }
}

impl ScalePaths {
    /// Parses the paths of a definition; `None` if a required path is invalid.
    pub(crate) fn parse(spec: &str, status: &str, selector: Option<&str>) -> Option<Self> {
        Some(Self {
            spec_replicas: Place::parse(spec)?,
            status_replicas: Place::parse(status)?,
            selector: selector.and_then(Place::parse),
        })
    }

    /// Fills in a scale. Returns whether the object has the desired number of replicas. A missing
    /// status is zero and a missing selector is empty, as upstream.
    ///
    /// # Errors
    /// A number of replicas is not a number, or the selector is not a string.
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

    /// Returns the errors of the desired number of replicas.
    pub(crate) fn check_spec(&self, object: &CustomObject) -> Vec<FieldError> {
        let mut errors = Vec::new();
        self.spec_replicas.check_number(object, &mut errors);
        errors
    }

    /// Returns the errors of the current number of replicas and of the selector.
    pub(crate) fn check_status(&self, object: &CustomObject) -> Vec<FieldError> {
        let mut errors = Vec::new();
        self.status_replicas.check_number(object, &mut errors);
        if let Some(place) = &self.selector
            && let Err(why) = place.expect(object, "string", Value::is_string)
        {
            errors.push(FieldError::invalid(&FieldPath::new(&place.text), "", why));
        }
        errors
    }

    /// Sets the desired number of replicas.
    ///
    /// # Errors
    /// A parent of its field is something else than an object, which upstream does not expect.
    pub(crate) fn set(&self, object: &mut CustomObject, replicas: i32) -> Result<(), Status> {
        let set = self.spec_replicas.path.set(object, Value::from(replicas));
        set.map_err(Status::unmapped_error)
    }

    /// Returns the error for a read of the scale of an object without the desired number of
    /// replicas, as upstream documents it.
    pub(crate) fn missing(&self) -> Status {
        let path = &self.spec_replicas.text;
        Status::internal_error(format_args!(
            "the spec replicas field {path:?} does not exist"
        ))
    }

    /// Returns the error for an update of the scale that leaves the desired number of replicas
    /// missing.
    pub(crate) fn required_on_update(&self) -> Status {
        let path = &self.spec_replicas.text;
        Status::bad_request(format!("the spec replicas field {path:?} cannot be empty"))
    }
}

/// Returns Go's name for the type of a value.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Returns a value as Go prints it.
fn go_print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_print).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, value)| format!("{key}:{}", go_print(value)));
            let mut entries: Vec<String> = entries.collect();
            entries.sort();
            format!("map[{}]", entries.join(" "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::{KindFacts, Schema};
    use serde_json::json;

    static WIDGET: Schema = CustomObject::schema_of(KindFacts {
        group: "example.com",
        version: "v1",
        kind: "Widget",
        api_version: "example.com/v1",
    });

    fn mistakes(content: Value) -> Vec<String> {
        let mut widget = CustomObject::new(&WIDGET);
        if let Value::Object(content) = content {
            *widget.content_mut() = content;
        }
        let paths = ScalePaths::parse(".spec.replicas", ".status.replicas", Some(".status.chosen"));
        let paths = paths.expect("they are paths");
        let all = [paths.check_spec(&widget), paths.check_status(&widget)];
        all.concat().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn replicas_are_numbers_of_pods() {
        for fine in [
            json!({}),
            json!({"spec": {}}),
            json!({"spec": null, "status": null}),
            json!({"spec": {"replicas": 2}, "status": {"replicas": 1, "chosen": "a=b"}}),
        ] {
            assert_eq!(mistakes(fine.clone()), Vec::<String>::new(), "{fine}");
        }
        for (content, mistake) in [
            (
                json!({"spec": 7}),
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 7 is of the \
                 type int64, expected map[string]interface{}",
            ),
            (
                json!({"spec": {"replicas": null}}),
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: <nil> is of \
                 the type <nil>, expected int64",
            ),
            (
                json!({"spec": {"replicas": "x"}}),
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the \
                 type string, expected int64",
            ),
            (
                json!({"spec": {"replicas": 1.5}}),
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the \
                 type float64, expected int64",
            ),
            (
                json!({"spec": {"replicas": -1}}),
                ".spec.replicas: Invalid value: -1: should be a non-negative integer",
            ),
            (
                json!({"spec": {"replicas": 3_000_000_000_i64}}),
                ".spec.replicas: Invalid value: 3000000000: should be less than or equal to \
                 2147483647",
            ),
            (
                json!({"status": {"chosen": 7}}),
                ".status.chosen: Invalid value: \"\": .status.chosen accessor error: 7 is of the \
                 type int64, expected string",
            ),
        ] {
            assert_eq!(mistakes(content), [mistake]);
        }
    }
}
