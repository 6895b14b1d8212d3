//! `FieldManagers`: the field managers of one resource, each made at its first use.

use crate::store::custom_version::CustomVersion;
use crate::stored::scheme::Scheme;
use crate::strategy::BoxFuture;
use crate::strategy::context::RequestContext;
use crate::strategy::conversion_memo::{ConversionMemo, Wanted};
use hashbrown::HashMap;
use kubist_api::{Kind, find_kind_by_api_version};
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, Status, Str};
use kubist_field_manager::schema::{Schema, TypeRef};
use kubist_field_manager::{
    ConvertError, FieldFilter, FieldManager, ManagedKind, ObjectConverter, ObjectType, ReplicasPath,
};
use parking_lot::RwLock;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Converts custom objects in the form of JSON.
pub(crate) trait ConvertVersions: fmt::Debug + Send + Sync {
    /// Returns an object in another version.
    ///
    /// # Errors
    /// The message for the client.
    fn convert(&self, wanted: Wanted) -> BoxFuture<'_, Result<Value, String>>;
}

/// The types of built-in kinds, by kind. A kind is converted at its first write.
static BUILT_IN: LazyLock<RwLock<HashMap<usize, ObjectType>>> = LazyLock::new(RwLock::default);

/// The field managers of a resource, by version and subresource.
#[derive(Debug)]
pub(crate) struct FieldManagers {
    /// The versions of a custom resource; `None` for built-in resources.
    custom: Option<BTreeMap<Str, CustomVersion>>,
    /// Converts the objects of a custom resource whose versions differ in more than their name.
    conversion: Option<Arc<dyn ConvertVersions>>,
    made: RwLock<HashMap<(usize, &'static str), Arc<FieldManager>>>,
}

impl FieldManagers {
    /// Returns those of a built-in resource.
    pub(crate) fn built_in() -> Arc<Self> {
        Arc::new(Self {
            custom: None,
            conversion: None,
            made: RwLock::default(),
        })
    }

    /// Returns those of a custom resource with these versions. `conversion`: converts between them
    /// if they differ in more than their name.
    pub(crate) fn custom(
        versions: BTreeMap<Str, CustomVersion>,
        conversion: Option<Arc<dyn ConvertVersions>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            custom: Some(versions),
            conversion,
            made: RwLock::default(),
        })
    }

    /// Returns the field manager of the objects of a kind, written through a subresource.
    pub(crate) fn get(
        &self,
        kind: &'static Kind,
        subresource: &'static str,
        filters: impl FnOnce() -> BTreeMap<Str, FieldFilter>,
    ) -> Result<Arc<FieldManager>, Status> {
        let key = (address(kind), subresource);
        if let Some(made) = self.made.read().get(&key) {
            return Ok(Arc::clone(made));
        }
        let facts = kind.facts();
        let empty = new_object(kind)?;
        let made = Arc::new(FieldManager::new(ManagedKind {
            object_type: self.object_type(kind),
            api_version: facts.api_version.into(),
            kind: facts.kind.into(),
            subresource: subresource.into(),
            filters: filters(),
            empty,
        }));
        Ok(Arc::clone(self.made.write().entry(key).or_insert(made)))
    }

    /// Returns the versions of a custom resource.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Str> + '_ {
        self.custom.iter().flat_map(BTreeMap::keys).cloned()
    }

    /// Returns the type of the objects of a kind.
    fn object_type(&self, kind: &'static Kind) -> ObjectType {
        let custom = self.custom.as_ref().filter(|_| kind.is_custom());
        match custom.and_then(|versions| versions.get(kind.facts().api_version)) {
            Some(of_version) => of_version.object_type().clone(),
            None => built_in(kind),
        }
    }

    /// Returns the type of the objects in a version; none if there is no such version.
    pub(crate) fn type_in(&self, api_version: &str, kind: &str) -> Option<ObjectType> {
        match &self.custom {
            Some(versions) => Some(versions.get(api_version)?.object_type().clone()),
            None => find_kind_by_api_version(api_version, kind).map(built_in),
        }
    }

    /// Returns where the objects of a version have the replicas that a scale sets.
    pub(crate) fn replicas_path(&self, api_version: &str, kind: &str) -> ReplicasPath {
        if let Some(versions) = &self.custom {
            return match versions.get(api_version).map(CustomVersion::replicas) {
                None => ReplicasPath::NoVersion,
                Some(None) => ReplicasPath::NoScale,
                Some(Some(path)) => ReplicasPath::At(path.to_vec()),
            };
        }
        match find_kind_by_api_version(api_version, kind) {
            Some(_) => ReplicasPath::At(vec!["spec".into(), "replicas".into()]),
            None => ReplicasPath::NoVersion,
        }
    }

    /// Returns an object in the form of JSON in another version of its kind.
    ///
    /// # Errors
    /// There is no such version, or the conversion fails.
    pub(crate) async fn in_version(
        &self,
        scheme: &Scheme,
        mut object: Value,
        to: &str,
    ) -> Result<Value, Status> {
        let unknown = || Status::internal_error(format_args!("there is no version {to}"));
        if let Some(versions) = &self.custom {
            versions.get(to).ok_or_else(unknown)?;
            if let Some(conversion) = &self.conversion {
                let wanted = Wanted {
                    object,
                    to: to.into(),
                };
                let converted = conversion.convert(wanted).await;
                return converted.map_err(Status::internal_error);
            }
            if let Some(members) = object.as_object_mut() {
                members.insert("apiVersion".to_owned(), to.into());
            }
            return Ok(object);
        }
        let text = |name: &str| object[name].as_str().unwrap_or_default();
        let find = |version| find_kind_by_api_version(version, text("kind")).ok_or_else(unknown);
        let (from, to) = (find(text("apiVersion"))?, find(to)?);
        let typed = object_of(&object, from)?;
        Ok(to_json_value(&*scheme.convert(typed, from, to)?))
    }

    /// Returns the converter of the versions of a kind.
    pub(crate) fn converter<'a>(
        &'a self,
        scheme: &'a Scheme,
        memo: &'a ConversionMemo,
    ) -> impl ObjectConverter + 'a {
        Versions {
            managers: self,
            scheme,
            memo,
        }
    }

    /// Computes something that may need conversions: `compute` is repeated with the conversions
    /// that it lacked, which it finds in the memo of the request.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the conversions.
    pub(crate) async fn with_conversions<T>(
        &self,
        cx: &RequestContext,
        mut compute: impl FnMut() -> Result<T, Status> + Send,
    ) -> Result<T, Status> {
        let Some(conversion) = &self.conversion else {
            return compute();
        };
        let memo = &*cx.conversions;
        memo.clear();
        loop {
            let computed = compute();
            let missing = memo.take_missing();
            if missing.is_empty() {
                return computed;
            }
            drop(computed);
            for wanted in missing {
                let converted = conversion.convert(wanted.clone()).await;
                memo.add(wanted, converted);
            }
        }
    }
}

/// Returns an object of a kind, without content.
pub(crate) fn new_object(kind: &Kind) -> Result<Box<dyn AnyObject>, Status> {
    let missing = || Status::internal_error(format_args!("{} is no object", kind.facts().kind));
    kind.new_object().ok_or_else(missing)
}

fn address(kind: &'static Kind) -> usize {
    std::ptr::from_ref(kind).addr()
}

/// Returns the type of a built-in kind.
fn built_in(kind: &'static Kind) -> ObjectType {
    let key = address(kind);
    if let Some(known) = BUILT_IN.read().get(&key) {
        return known.clone();
    }
    let mut schema = Schema::from_wire([kind.schema()]);
    for known in BUILT_IN.read().values() {
        schema.share_types(&known.schema);
    }
    let made = ObjectType {
        schema: Arc::new(schema),
        root: TypeRef::of_wire(kind.schema()),
    };
    BUILT_IN.write().entry(key).or_insert(made).clone()
}

/// Returns an object in the form of JSON as an object of its kind. The message of an error is that
/// of the value, as upstream.
pub(crate) fn object_of(value: &Value, kind: &'static Kind) -> Result<Box<dyn AnyObject>, Status> {
    let mut object = new_object(kind)?;
    let json = serde_json::to_vec(value).map_err(Status::internal_error)?;
    let merged = merge_json(&mut *object, &json, &mut DecodeContext::new());
    merged.map_err(|error| Status::unmapped_error(error.kind.to_string()))?;
    Ok(object)
}

/// Returns what upstream says of a version that a custom resource does not have.
pub(crate) fn invalid_version(api_version: &str) -> String {
    format!("request to convert CR to an invalid group/version: {api_version}")
}

/// Converts between the versions of a kind.
struct Versions<'a> {
    managers: &'a FieldManagers,
    scheme: &'a Scheme,
    memo: &'a ConversionMemo,
}

impl ObjectConverter for Versions<'_> {
    fn convert(&self, object: &Value, to: &str) -> Result<(Value, ObjectType), ConvertError> {
        if let Some(versions) = &self.managers.custom {
            // As upstream, the owners of a version that is gone are an error here: it ends an
            // apply, and an update drops all owners.
            let gone = || ConvertError::Failed(invalid_version(to));
            let of_version = versions.get(to).ok_or_else(gone)?;
            let from = object["apiVersion"].as_str().unwrap_or_default();
            let is_named = self.managers.conversion.is_none() || from == to;
            if !is_named && versions.contains_key(from) {
                let missing = || ConvertError::Failed("a conversion is missing".to_owned());
                let converted = self.memo.find(object, to).ok_or_else(missing)?;
                let converted = converted.map_err(ConvertError::Failed)?;
                return Ok((converted, of_version.object_type().clone()));
            }
            let mut converted = object.clone();
            if let Some(members) = converted.as_object_mut() {
                members.insert("apiVersion".to_owned(), to.into());
            }
            return Ok((converted, of_version.object_type().clone()));
        }
        let text = |name: &str| object[name].as_str().unwrap_or_default();
        let kind = text("kind");
        let find = |version| find_kind_by_api_version(version, kind);
        let to = find(to).ok_or(ConvertError::NoVersion)?;
        let from = find(text("apiVersion")).ok_or(ConvertError::NoVersion)?;
        let failed = |status: Status| ConvertError::Failed(status.message.to_string());
        let typed = object_of(object, from).map_err(failed)?;
        let converted = self.scheme.convert(typed, from, to).map_err(failed)?;
        Ok((to_json_value(&*converted), built_in(to)))
    }
}
