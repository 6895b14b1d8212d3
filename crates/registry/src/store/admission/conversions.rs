//! The objects of a request as JSON, in any version of their kind.
//!
//! A form is made when it is first asked for, and kept until the object changes.

use super::attributes::Attributes;
use crate::store::Store;
use crate::store::field_managers::{FieldManagers, object_of};
use kubist_api::Kind;
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{AnyObject, Status};
use kubist_field_manager::ObjectType;
use serde_json::Value;
use std::sync::Arc;

/// Which object of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request has no others")]
pub enum Side {
    /// The new one, or the options of a connection.
    New,
    /// The one before.
    Old,
}

/// A form of an object.
pub(crate) struct Tree {
    pub(crate) side: Side,
    api_version: String,
    value: Arc<Value>,
}

impl Attributes<'_> {
    /// Returns an object as JSON in a version such as `apps/v1`: one of the
    /// [equivalents](Self::equivalents), or that of the request. `None` if the request has no such
    /// object.
    ///
    /// # Errors
    /// The object cannot be converted.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the conversion.
    pub async fn json(&self, side: Side, api_version: &str) -> Result<Option<Arc<Value>>, Status> {
        if let (Side::New, Some(options)) = (side, self.connection()) {
            return Ok(Some(Arc::new(to_json_value(options))));
        }
        let same = |it: &&Tree| it.side == side && it.api_version == api_version;
        if let Some(known) = self.trees.lock().iter().find(same) {
            return Ok(Some(Arc::clone(&known.value)));
        }
        let object = match side {
            Side::New => self.object(),
            Side::Old => self.old_object(),
        };
        let Some(object) = object else {
            return Ok(None);
        };
        let value = Arc::new(self.converted(object, api_version).await?);
        self.trees.lock().push(Tree {
            side,
            api_version: api_version.to_owned(),
            value: Arc::clone(&value),
        });
        Ok(Some(value))
    }

    /// Returns the type of the objects in a version, for merges; none if there is no such version.
    pub fn object_type(&self, api_version: &str) -> Option<ObjectType> {
        let kind = self.target().kind.facts().kind;
        match self.store {
            Some(store) => store.field_managers.type_in(api_version, kind),
            None => FieldManagers::built_in().type_in(api_version, kind),
        }
    }

    /// Replaces the new object by one in any version of its kind, and sets its defaults. Ignored
    /// unless plugins may change it.
    ///
    /// # Errors
    /// It is not of the object's kind, or cannot be converted.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the object as it was.
    pub async fn replace(&mut self, new: Value) -> Result<(), Status> {
        let form = self.form();
        let new = match self.store {
            Some(store) if new["apiVersion"] != form.facts().api_version => {
                let scheme = self.stores().kinds.scheme();
                let to = form.facts().api_version;
                store.field_managers.in_version(scheme, new, to).await?
            }
            _ => new,
        };
        let mut object = object_of(&new, form)?;
        if let Some(store) = self.store {
            let api_version = form.facts().api_version;
            store.strategy.prune(&mut *object, api_version, false)?;
            store.strategy.apply_defaults(&mut *object);
        }
        self.put(object);
        Ok(())
    }

    async fn converted(&self, object: &dyn AnyObject, api_version: &str) -> Result<Value, Status> {
        let value = to_json_value(object);
        match self.store {
            Some(store) if value["apiVersion"] != api_version => {
                let scheme = self.stores().kinds.scheme();
                let managers = &store.field_managers;
                managers.in_version(scheme, value, api_version).await
            }
            _ => Ok(value),
        }
    }

    /// Returns the kind of the objects.
    fn form(&self) -> &'static Kind {
        self.store.map_or_else(|| self.target().kind, Store::kind)
    }
}
