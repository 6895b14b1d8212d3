//! The scale of a custom object: replicas and selector, where its definition says they are.

use super::FieldPath;
use kubist_api::autoscaling::v1::Scale;
use kubist_apimachinery::{CustomObject, Str};
use serde_json::Value;

/// Where the numbers of a scale are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScalePaths {
    pub(crate) spec_replicas: FieldPath,
    pub(crate) status_replicas: FieldPath,
    pub(crate) selector: Option<FieldPath>,
}

impl ScalePaths {
    /// Fills in a scale. None if the object does not say how many replicas it wants.
    pub(crate) fn read(&self, object: &CustomObject, scale: &mut Scale) -> Option<()> {
        let number = |path: &FieldPath| {
            let found = path.find(object)?.as_i64()?;
            i32::try_from(found).ok()
        };
        scale.spec.replicas = number(&self.spec_replicas)?;
        scale.status.replicas = number(&self.status_replicas).unwrap_or_default();
        let selector = self.selector.as_ref().and_then(|path| path.find(object));
        let selector = selector.and_then(|it| it.as_str().map(Str::from));
        scale.status.selector = selector.unwrap_or_default();
        Some(())
    }

    /// Sets the number of replicas that are wanted.
    pub(crate) fn set(&self, object: &mut CustomObject, replicas: i32) {
        self.spec_replicas.set(object, Value::from(replicas));
    }
}
