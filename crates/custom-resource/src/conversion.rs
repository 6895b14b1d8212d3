//! `Conversions`: converts objects between the versions of a kind, through one of them.
//!
//! The version in the middle is the hub, the others are spokes: with `n` versions there are `n - 1`
//! pairs of functions, as in controller-runtime. It is what a conversion webhook calls.

use crate::CustomResource;
use kubist_apimachinery::wire::{DecodeContext, WireError};
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;

/// A version that converts to the hub.
pub trait ConvertTo<Hub> {
    /// The failure; [`Infallible`](std::convert::Infallible) if there is none.
    type Error: Error + Send + Sync + 'static;

    /// Converts this object to the hub. Labels and annotations may change, other metadata is that
    /// of the original, whatever is returned.
    ///
    /// # Errors
    /// The object has no equivalent.
    fn convert_to(&self) -> Result<Hub, Self::Error>;
}

/// A version that converts from the hub.
pub trait ConvertFrom<Hub>: Sized {
    /// The failure; [`Infallible`](std::convert::Infallible) if there is none.
    type Error: Error + Send + Sync + 'static;

    /// Converts an object of the hub to this version.
    ///
    /// # Errors
    /// The object has no equivalent.
    fn convert_from(hub: &Hub) -> Result<Self, Self::Error>;
}

/// An object was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The object is not of one of the known versions, or has another kind.
    #[error("{api_version:?} {kind:?} is not a version of {expected}; known are {known:?}")]
    UnknownVersion {
        /// The `apiVersion`.
        api_version: String,
        /// The `kind`.
        kind: String,
        /// The kind that is converted.
        expected: &'static str,
        /// The known values of `apiVersion`.
        known: Vec<&'static str>,
    },
    /// The object does not fit its version's type.
    #[error("the object is not a valid {api_version}")]
    Decode {
        /// The `apiVersion` of the object.
        api_version: &'static str,
        /// The reason.
        #[source]
        source: WireError,
    },
    /// The conversion failed.
    #[error("it cannot be converted between {api_version} and the hub")]
    Convert {
        /// The `apiVersion` of the spoke.
        api_version: &'static str,
        /// The reason, from [`ConvertTo`] or [`ConvertFrom`].
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The converted object has no JSON form.
    #[error("the converted object cannot be encoded")]
    Encode(#[source] serde_json::Error),
}

/// The versions of a kind with the functions between them.
///
/// ```no_run
/// # use kubist_custom_resource::{ConversionError, Conversions};
/// # use kubist_custom_resource::{ConvertFrom, ConvertTo, CustomResource};
/// # fn convert<FigV1, FigV2>(object: serde_json::Value) -> Result<(), ConversionError>
/// # where
/// #     FigV2: CustomResource,
/// #     FigV1: CustomResource + ConvertTo<FigV2> + ConvertFrom<FigV2>,
/// # {
/// let conversions = Conversions::<FigV2>::new().spoke::<FigV1>();
/// let converted = conversions.convert(object, "example.com/v1")?;
/// # Ok(())
/// # }
/// ```
pub struct Conversions<Hub> {
    spokes: Vec<Spoke<Hub>>,
    hub: PhantomData<fn() -> Hub>,
}

struct Spoke<Hub> {
    api_version: &'static str,
    to_hub: fn(&Value) -> Result<Hub, ConversionError>,
    from_hub: fn(&Hub) -> Result<Value, ConversionError>,
}

impl<Hub: CustomResource> fmt::Debug for Conversions<Hub> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversions")
            .field("versions", &self.versions())
            .finish()
    }
}

impl<Hub: CustomResource> Default for Conversions<Hub> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Hub: CustomResource> Conversions<Hub> {
    /// Creates the conversions of a kind with its hub alone.
    pub fn new() -> Self {
        let hub = Spoke {
            api_version: Hub::API_VERSION,
            to_hub: decode::<Hub>,
            from_hub: |hub| serde_json::to_value(hub).map_err(ConversionError::Encode),
        };
        Self {
            spokes: vec![hub],
            hub: PhantomData,
        }
    }

    /// Adds another version of the same kind.
    #[must_use]
    pub fn spoke<S>(mut self) -> Self
    where
        S: CustomResource + ConvertTo<Hub> + ConvertFrom<Hub>,
    {
        const {
            assert!(
                same(S::GROUP, Hub::GROUP) && same(S::KIND, Hub::KIND),
                "a spoke must be a version of the hub's kind: the same group and kind"
            );
            assert!(
                !same(S::VERSION, Hub::VERSION),
                "a spoke must be another version than the hub"
            );
        };
        self.spokes.retain(|it| it.api_version != S::API_VERSION);
        self.spokes.push(Spoke {
            api_version: S::API_VERSION,
            to_hub: |object| decode::<S>(object)?.convert_to().map_err(failed::<S, _>),
            from_hub: |hub| {
                let spoke = S::convert_from(hub).map_err(failed::<S, _>)?;
                serde_json::to_value(&spoke).map_err(ConversionError::Encode)
            },
        });
        self
    }

    /// Returns the known values of `apiVersion`, the hub's first.
    pub fn versions(&self) -> Vec<&'static str> {
        self.spokes.iter().map(|it| it.api_version).collect()
    }

    /// Converts a whole object to the version `to` (an `apiVersion`). An object that already has it
    /// is returned unchanged. Metadata stays as it is, except for labels and annotations, as
    /// servers require. Fields that its type does not know are lost.
    ///
    /// # Errors
    /// A version is unknown, the object does not fit its type, or the conversion fails.
    pub fn convert(&self, object: Value, to: &str) -> Result<Value, ConversionError> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (from, kind) = (text("apiVersion"), text("kind"));
        let source = self.find(from, kind)?;
        let target = self.find(to, kind)?;
        if from == to {
            return Ok(object);
        }
        let mut converted = (target.from_hub)(&(source.to_hub)(&object)?)?;
        keep_metadata(object, &mut converted);
        Ok(converted)
    }

    fn find(&self, api_version: &str, kind: &str) -> Result<&Spoke<Hub>, ConversionError> {
        let found = self.spokes.iter().find(|it| it.api_version == api_version);
        found
            .filter(|_| kind == Hub::KIND)
            .ok_or_else(|| ConversionError::UnknownVersion {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                expected: Hub::KIND,
                known: self.versions(),
            })
    }
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

fn decode<K: CustomResource>(object: &Value) -> Result<K, ConversionError> {
    let text = object.to_string();
    K::from_json(text.as_bytes(), &mut DecodeContext::new()).map_err(|source| {
        ConversionError::Decode {
            api_version: K::API_VERSION,
            source,
        }
    })
}

fn failed<K: CustomResource, E: Error + Send + Sync + 'static>(error: E) -> ConversionError {
    ConversionError::Convert {
        api_version: K::API_VERSION,
        source: Box::new(error),
    }
}

/// Puts back the original metadata, with the converted labels and annotations.
fn keep_metadata(mut original: Value, converted: &mut Value) {
    let Some(mut kept) = original.get_mut("metadata").map(Value::take) else {
        if let Value::Object(converted) = converted {
            converted.remove("metadata");
        }
        return;
    };
    if let Value::Object(kept) = &mut kept {
        for name in ["labels", "annotations"] {
            match converted
                .get_mut("metadata")
                .and_then(|it| it.get_mut(name))
            {
                Some(value) => {
                    kept.insert(name.to_owned(), value.take());
                }
                None => {
                    kept.remove(name);
                }
            }
        }
    }
    if let Value::Object(converted) = converted {
        converted.insert("metadata".to_owned(), kept);
    }
}
