//! Values as JSON, for what expressions create.

use super::{Key, Value, convert};
use crate::error::EvalError;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value as Json};

impl Value<'_> {
    /// Returns the value as JSON. Bytes are base64; times and durations are text.
    ///
    /// # Errors
    /// It is or contains a value that JSON cannot have, such as a type or a map with keys that are
    /// no strings.
    pub fn to_json(&self) -> Result<Json, EvalError> {
        Ok(match self {
            Self::Null | Self::Optional(None) => Json::Null,
            Self::Bool(it) => Json::Bool(*it),
            Self::Int(it) => Json::from(*it),
            Self::Uint(it) => Json::from(*it),
            Self::Double(it) => Number::from_f64(*it).map_or(Json::Null, Json::Number),
            Self::String(it) => Json::from(it.as_str()),
            Self::Bytes(it) => Json::from(STANDARD.encode(it.as_slice())),
            Self::Timestamp(_) | Self::Duration(_) => match convert::to_string(self)? {
                Value::String(text) => Json::from(text.as_str()),
                _ => return Err(self.has_no_json()),
            },
            Self::List(list) => {
                let items = list.iter().map(|it| it?.to_json());
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Map(map) => {
                let mut members = Map::new();
                for key in map.keys() {
                    let Some(Key::String(name)) = Key::new(&key) else {
                        return Err(key.has_no_json());
                    };
                    let value = map.find(&key)?.unwrap_or_default();
                    members.insert(name.as_str().to_owned(), value.to_json()?);
                }
                Json::Object(members)
            }
            Self::Optional(Some(inner)) => inner.to_json()?,
            Self::Preserved(json) => (*json).clone(),
            Self::Type(_) | Self::Opaque(_) => return Err(self.has_no_json()),
        })
    }

    fn has_no_json(&self) -> EvalError {
        EvalError::failed(format!(
            "type conversion error from '{}' to 'google.protobuf.Value'",
            self.type_name()
        ))
    }
}
