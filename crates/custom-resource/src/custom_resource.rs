//! `CustomResource`: a kind that was derived from a spec.

use crate::DefinitionError;
use crate::definition::definition;
use crate::facts::Facts;
use kubist_api::apiextensions::v1::CustomResourceDefinition;
use kubist_apimachinery::{KubeObject, ObjectMeta};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// A kind that `#[derive(CustomResource)]` generated from the struct of its spec. Do not implement
/// it by hand.
pub trait CustomResource: KubeObject + Serialize + DeserializeOwned {
    /// The spec.
    type Spec: Serialize + DeserializeOwned + JsonSchema + fmt::Debug + Send + Sync + 'static;

    /// The status; `()` if the kind has none.
    type Status: Serialize + DeserializeOwned + JsonSchema + fmt::Debug + Send + Sync + 'static;

    #[doc(hidden)]
    const FACTS: Facts;

    #[doc(hidden)]
    fn from_parts(metadata: ObjectMeta, spec: Self::Spec, status: Option<Self::Status>) -> Self;

    /// Returns the name of the definition: `figs.example.com`.
    fn definition_name() -> String {
        format!("{}.{}", Self::PLURAL, Self::GROUP)
    }

    /// Returns the definition, with this version alone; see
    /// [`merge_definitions`](crate::merge_definitions) for several.
    ///
    /// # Errors
    /// The types have no structural schema.
    fn try_definition() -> Result<CustomResourceDefinition, DefinitionError> {
        definition::<Self>()
    }

    /// Same as [`Self::try_definition`].
    ///
    /// # Panics
    /// The types have no structural schema. That depends on the types alone, so a test that calls
    /// it once finds it.
    fn definition() -> CustomResourceDefinition {
        match Self::try_definition() {
            Ok(definition) => definition,
            Err(error) => panic!("{} has no definition: {error}", Self::KIND),
        }
    }
}
