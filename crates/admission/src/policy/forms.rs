//! The objects of a request, as the expressions of policies see them.

use super::table::PolicyTable;
use crate::asked::{self, Asked};
use crate::expressions::{AccessQuestions, Inputs};
use crate::matching::Matched;
use kubist_apimachinery::Status;
use kubist_authorization::Authorizer;
use kubist_cel::AccessRequest;
use kubist_registry::admission::{Attributes, Side};
use serde_json::Value as Json;
use std::sync::Arc;

/// What the plugins of policies need.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct PolicyParts {
    /// The policies and bindings in force.
    pub table: Arc<PolicyTable>,
    /// Decides what expressions ask about.
    pub authorizer: Arc<dyn Authorizer>,
}

/// The values of variables that do not depend on parameters.
#[derive(Debug)]
pub(super) struct Forms {
    object: Option<Arc<Json>>,
    old_object: Option<Arc<Json>>,
    request: Json,
    resource: AccessRequest,
    namespace: Option<Json>,
}

impl Forms {
    /// Returns the values for a request in the version that a policy matched.
    ///
    /// # Errors
    /// An object cannot be converted.
    pub(super) async fn of(
        attributes: &Attributes<'_>,
        asked: &Asked<'_>,
        matched: &Matched,
        namespace: Option<Json>,
    ) -> Result<Self, Status> {
        let version = asked::api_version(matched);
        Ok(Self {
            object: attributes.json(Side::New, &version).await?,
            old_object: attributes.json(Side::Old, &version).await?,
            request: asked.form(matched).for_expressions(),
            resource: asked.resource_check(),
            namespace,
        })
    }

    /// Reports whether there is a new object.
    pub(super) fn object(&self) -> Option<&Arc<Json>> {
        self.object.as_ref()
    }

    /// Returns the inputs with these parameters.
    pub(super) fn inputs<'a>(
        &'a self,
        params: Option<&'a Json>,
        questions: &'a AccessQuestions,
    ) -> Inputs<'a> {
        Inputs {
            object: self.object.as_deref(),
            old_object: self.old_object.as_deref(),
            params,
            request: &self.request,
            namespace: self.namespace.as_ref(),
            questions: Some(questions),
            resource: &self.resource,
        }
    }
}
