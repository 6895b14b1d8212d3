//! Custom objects without the fields that their schema does not declare.
//!
//! Upstream removes such fields from every object that it reads or writes. Kubist stores them, and
//! they have no owners.

use super::Rest;
use crate::store::field_managers::object_of;
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{AnyObject, Status};
use kubist_field_manager::{ObjectType, remove_undeclared};
use serde_json::Value;

impl Rest {
    /// Returns a custom object without its undeclared fields; none if it has none.
    pub(super) fn without_undeclared(
        &self,
        object: &dyn AnyObject,
    ) -> Result<Option<Box<dyn AnyObject>>, Status> {
        let declared = self.declared(to_json_value(object));
        let declared = declared.map(|it| object_of(&it, self.body_kind()));
        declared.transpose()
    }

    /// Returns a custom object, as JSON, without its undeclared fields; none if it has none.
    pub(super) fn declared(&self, mut object: Value) -> Option<Value> {
        let kind = self.body_kind();
        if !kind.is_custom() || object.is_null() {
            return None;
        }
        let before = object.clone();
        let ObjectType { schema, root } = self.store().field_managers.object_type(kind);
        remove_undeclared(&schema, &root, &mut object);
        (object != before).then_some(object)
    }
}
