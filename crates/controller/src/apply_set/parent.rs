//! The parent of an apply set, and what it says of the members.

use super::ApplySetError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{
    ApiResource, GroupKind, Object, ObjectName, PatchOptions, Str, Unstructured,
};
use kubist_cache::Metadata;
use kubist_client::{Api, Client, Patch};
use ring::digest::{SHA256, digest};
use serde_json::json;
use std::collections::BTreeSet;

const ID: &str = "applyset.kubernetes.io/id";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
/// What early versions of the specification had in place of [`KINDS`]: plural names.
const RESOURCES: &str = "applyset.kubernetes.io/contains-group-resources";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";

/// The object that stands for a set. It must exist; for a controller it is the object that it
/// reconciles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplySetParent {
    resource: ApiResource,
    pub(super) namespace: Str,
    name: Str,
    id: Str,
}

/// The kinds and namespaces of members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Membership {
    kinds: BTreeSet<String>,
    /// Those other than the parent's.
    namespaces: BTreeSet<Str>,
}

impl Membership {
    /// Of members, each with kind and namespace.
    pub(super) fn of<'a>(members: impl Iterator<Item = (String, &'a str)>, parent: &str) -> Self {
        let mut this = Self::default();
        for (kind, namespace) in members {
            this.kinds.insert(kind);
            if !namespace.is_empty() && namespace != parent {
                this.namespaces.insert(namespace.into());
            }
        }
        this
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = GroupKind> {
        self.kinds.iter().map(|it| {
            let (kind, group) = it.split_once('.').unwrap_or((it, ""));
            GroupKind {
                group: group.into(),
                kind: kind.into(),
            }
        })
    }

    /// Returns all namespaces, the parent's first if it has one.
    pub(super) fn namespaces(&self, parent: &Str) -> Vec<Str> {
        let own = Some(parent.clone()).filter(|it| !it.is_empty());
        own.into_iter()
            .chain(self.namespaces.iter().cloned())
            .collect()
    }

    fn of_annotation(text: &str) -> impl Iterator<Item = &str> {
        text.split(',').map(str::trim).filter(|it| !it.is_empty())
    }
}

impl ApplySetParent {
    /// Makes an object that was read from a server the parent.
    pub fn of<O: Ingest>(object: &O) -> Self {
        let resource = ApiResource::of::<O::Kind>();
        Self::new(resource, object.namespace(), object.name())
    }

    /// Names an object of any kind as the parent. The namespace of a cluster-scoped one is empty.
    pub fn new(resource: ApiResource, namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        let (namespace, name) = (namespace.into(), name.into());
        let (kind, group) = (&resource.kind, &resource.group);
        let text = format!("{name}.{namespace}.{kind}.{group}");
        let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()));
        Self {
            id: format!("applyset-{hash}-v1").into(),
            resource,
            namespace,
            name,
        }
    }

    /// Returns the id, which is the value of the members' label.
    pub fn id(&self) -> &Str {
        &self.id
    }

    fn object_name(&self) -> ObjectName {
        ObjectName::new(self.namespace.clone(), self.name.clone())
    }

    /// Reads what the parent says of its members. A parent without a set has none yet.
    pub(super) async fn read(
        &self,
        client: &Client,
        tooling: &str,
    ) -> Result<Membership, ApplySetError> {
        let (resource, namespace) = (&self.resource, self.namespace.clone());
        let api: Api<Metadata<()>> = Api::dynamic_namespaced(client.clone(), resource, namespace);
        let found = api.get(&self.name).await?;
        self.membership(&found, tooling)
    }

    pub(super) fn membership(
        &self,
        found: &impl Object,
        tooling: &str,
    ) -> Result<Membership, ApplySetError> {
        let annotations = found.annotations();
        let annotation = |name: &str| annotations.get(name).unwrap_or_default();
        let invalid = |reason: String| Err(ApplySetError::Parent { reason });
        match found.labels().get(ID) {
            None => return Ok(Membership::default()),
            Some(id) if *id != *self.id => {
                return invalid(format!("its label {ID} is {id:?}, not {:?}", &*self.id));
            }
            Some(_) => {}
        }
        let (theirs, ours) = (annotation(TOOLING), tooling);
        let name = |text: &str| text.split('/').next().map(str::to_owned);
        if name(theirs) != name(ours) {
            return Err(ApplySetError::OtherTool {
                parent: self.object_name(),
                theirs: theirs.to_owned(),
                ours: ours.to_owned(),
            });
        }
        if annotations.get(KINDS).is_none() && annotations.get(RESOURCES).is_some() {
            return invalid(format!(
                "it has the annotation {RESOURCES} of an older form; apply it once with the tool \
                 that wrote it, or replace it by {KINDS}"
            ));
        }
        Ok(Membership {
            kinds: Membership::of_annotation(annotation(KINDS))
                .map(str::to_owned)
                .collect(),
            namespaces: Membership::of_annotation(annotation(NAMESPACES))
                .map(Str::from)
                .collect(),
        })
    }

    /// Writes what the parent says of its members.
    pub(super) async fn write(
        &self,
        client: &Client,
        tooling: &str,
        members: &Membership,
    ) -> Result<(), ApplySetError> {
        let kinds: Vec<&str> = members.kinds.iter().map(String::as_str).collect();
        let namespaces: Vec<&str> = members.namespaces.iter().map(|it| &**it).collect();
        let patch = json!({
            "apiVersion": self.resource.group_version().to_string(),
            "kind": &*self.resource.kind,
            "metadata": {
                "name": &*self.name,
                "labels": {ID: &*self.id},
                "annotations": {
                    TOOLING: tooling,
                    KINDS: kinds.join(","),
                    NAMESPACES: namespaces.join(","),
                },
            },
        });
        let manager = tooling.split('/').next().unwrap_or_default();
        let mut options = PatchOptions::managed_by(format!("{manager}-applyset"));
        options.force = Some(true);
        let (resource, namespace) = (&self.resource, self.namespace.clone());
        let api: Api<Unstructured> = Api::dynamic_namespaced(client.clone(), resource, namespace);
        let patch = Patch::Apply(patch);
        api.patch_with(&self.name, &patch, &options).await?;
        Ok(())
    }
}
