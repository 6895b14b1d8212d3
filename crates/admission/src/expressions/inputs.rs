//! `Inputs`: what one request binds to the variables of expressions.

use super::access::AccessQuestions;
use kubist_cel::{
    AccessRequest, Activation, EvalError, Value, admission, authorizer_value, resource_check_value,
};
use serde_json::Value as Json;
use std::sync::Arc;

/// The values of variables. An absent object is null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    pub(crate) object: Option<&'a Json>,
    pub(crate) old_object: Option<&'a Json>,
    pub(crate) params: Option<&'a Json>,
    pub(crate) request: &'a Json,
    pub(crate) namespace: Option<&'a Json>,
    /// What expressions ask the authorizer; none where there is no authorizer for them.
    pub(crate) questions: Option<&'a AccessQuestions>,
    /// The resource of the request, for the authorizer.
    pub(crate) resource: &'a AccessRequest,
}

impl<'a> Inputs<'a> {
    /// Binds the values. What an expression may not use is bound too: it does not compile.
    pub(super) fn activation(&self) -> Activation<'a> {
        let activation = Activation::new()
            .bind_result(admission::OBJECT, viewed(self.object))
            .bind_result(admission::OLD_OBJECT, viewed(self.old_object))
            .bind_result(admission::PARAMS, viewed(self.params))
            .bind_result(admission::REQUEST, viewed(Some(self.request)))
            .bind_result(admission::NAMESPACE, viewed(self.namespace));
        let Some(questions) = self.questions else {
            return activation;
        };
        let questions: Arc<dyn kubist_cel::Authorizer> = Arc::new(questions.clone());
        let resource = resource_check_value(Arc::clone(&questions), self.resource.clone());
        activation
            .bind(admission::REQUEST_RESOURCE, resource)
            .bind(admission::AUTHORIZER, authorizer_value(questions))
    }
}

fn viewed(json: Option<&Json>) -> Result<Value<'_>, EvalError> {
    json.map_or(Ok(Value::Null), Value::dynamic)
}
