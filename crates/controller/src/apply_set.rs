//! `ApplySet`: objects that are applied together, and pruned when they are not applied any more.
//!
//! It follows the specification of KEP-3659, so that `kubectl apply --applyset` and other tools
//! understand its labels: the parent, any object, says which kinds and namespaces the members are
//! in, and each member has the parent's id. A tool does not touch the set of another tool.

mod error;
mod parent;
#[cfg(test)]
mod tests;

pub use error::ApplySetError;
pub use parent::ApplySetParent;

use kubist_apimachinery::wire::{DecodeContext, Encode};
use kubist_apimachinery::{
    ApiResource, DeleteOptions, ListOptions, Object as _, ObjectName, PatchOptions, Preconditions,
    Str, Unstructured,
};
use kubist_cache::Metadata;
use kubist_client::{Api, ApiError, Client, Patch, RestMapper};
use parent::Membership;
use serde_json::json;
use std::collections::BTreeSet;

/// The label of members: the id of their parent.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// The most objects in one set. It bounds the memory of a call and the parent's annotations.
const MEMBERS_MAX: usize = 10_000;

/// A member: its kind and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct Member {
    /// The kind, as in the parent's annotation: `Deployment.apps`, `ConfigMap`.
    pub kind: String,
    /// The namespace and name.
    pub name: ObjectName,
}

/// What an apply did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApplySetOutcome {
    /// The objects that were applied, in the given order.
    pub applied: Vec<Member>,
    /// The former members that were deleted.
    pub pruned: Vec<Member>,
}

/// A set of objects to apply, with what was applied before and is missing now deleted.
///
/// ```
/// # use kubist_api::core::v1::ConfigMap;
/// # use kubist_client::{Client, RestMapper};
/// # use kubist_controller::{ApplySet, ApplySetError, ApplySetParent};
/// # async fn example(client: Client, owner: ConfigMap) -> Result<(), ApplySetError> {
/// let mapper = RestMapper::new(client.clone());
/// let parent = ApplySetParent::of(&owner);
/// let mut set = ApplySet::new(client, mapper, parent, "bucket-operator/v1.2.0");
/// let mut settings = ConfigMap::default();
/// settings.metadata.name = "settings".into();
/// set.add(&settings)?;
/// let outcome = set.apply().await?;
/// println!("{} applied, {} pruned", outcome.applied.len(), outcome.pruned.len());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ApplySet {
    client: Client,
    mapper: RestMapper,
    parent: ApplySetParent,
    tooling: Str,
    options: PatchOptions,
    members: Vec<Unstructured>,
}

/// A member that is about to be applied.
struct Wanted {
    resource: ApiResource,
    namespace: Str,
    object: Unstructured,
}

impl ApplySet {
    /// Creates an empty set. `tooling` names the program and its version, `name/version`; the name
    /// must stay the same, and is also the field manager.
    pub fn new(
        client: Client,
        mapper: RestMapper,
        parent: ApplySetParent,
        tooling: impl Into<Str>,
    ) -> Self {
        let tooling = tooling.into();
        let manager = tooling.split('/').next().unwrap_or_default();
        let mut options = PatchOptions::managed_by(manager);
        options.force = Some(true);
        Self {
            client,
            mapper,
            parent,
            tooling,
            options,
            members: Vec::new(),
        }
    }

    /// Sets the options of the applies. Default: the tool's name as field manager, with `force`,
    /// as is usual for controllers.
    #[must_use]
    pub fn options(mut self, options: PatchOptions) -> Self {
        self.options = options;
        self
    }

    /// Adds an object, of which only the fields that are set are applied; see
    /// [`Api::apply`](kubist_client::Api::apply). In a namespaced kind without a namespace it is
    /// applied in the parent's.
    ///
    /// # Errors
    /// It cannot be encoded, or the set has 10,000 members already.
    pub fn add(&mut self, object: &impl Encode) -> Result<(), ApplySetError> {
        let named = |reason: String| ApplySetError::Object {
            name: object.object_name(),
            reason,
        };
        if self.members.len() == MEMBERS_MAX {
            let reason = format!("the set has {MEMBERS_MAX} members, the most that are possible");
            return Err(named(reason));
        }
        let text = object.encode_wanted(false);
        let text = text.map_err(|error| named(error.to_string()))?;
        let tree = Unstructured::from_json(&text, &mut DecodeContext::new());
        self.members
            .push(tree.map_err(|error| named(error.to_string()))?);
        Ok(())
    }

    /// Applies all members, and deletes the former ones that are not among them.
    ///
    /// The parent is written first, with the kinds and namespaces of old and new members, so that
    /// a call that ends early leaves no member that the next one does not find; and again at the
    /// end. Nothing is deleted unless everything was applied. Repeating a call is safe.
    ///
    /// Cancel safety: dropping the future leaves the set as after an error; the next call goes on.
    ///
    /// # Errors
    /// The first object that could not be applied, or another [`ApplySetError`].
    pub async fn apply(&self) -> Result<ApplySetOutcome, ApplySetError> {
        let wanted = self.wanted().await?;
        let members = wanted
            .iter()
            .map(|it| (kind_of(&it.resource), &*it.namespace));
        let now = Membership::of(members, &self.parent.namespace);
        let before = self.parent.read(&self.client, &self.tooling).await?;
        let both = now.union(&before);
        if before != both {
            self.write_parent(&both).await?;
        }
        let mut outcome = ApplySetOutcome::default();
        let mut applied = BTreeSet::new();
        for Wanted {
            resource,
            namespace,
            object,
        } in &wanted
        {
            let api: Api<Unstructured> =
                Api::dynamic_namespaced(self.client.clone(), resource, namespace.clone());
            let patch = Patch::Apply(object.object.clone().into());
            let written = api.patch_with(object.name(), &patch, &self.options).await;
            let member = member(resource, namespace, object.name());
            let written = written.map_err(|source| failed(&member, source))?;
            applied.insert(Str::from(written.uid()));
            outcome.applied.push(member);
        }
        outcome.pruned = self.prune(&before, &applied).await?;
        if both != now {
            self.write_parent(&now).await?;
        }
        Ok(outcome)
    }

    /// Maps the members to resources, and gives them their label and namespace.
    async fn wanted(&self) -> Result<Vec<Wanted>, ApplySetError> {
        let mut wanted = Vec::with_capacity(self.members.len());
        let mut seen = BTreeSet::new();
        for object in &self.members {
            let name = object.object_name();
            let invalid = |reason: &str| ApplySetError::Object {
                name: name.clone(),
                reason: reason.to_owned(),
            };
            let gvk = object.gvk().ok_or_else(|| invalid("it has no kind"))?;
            let resource = self.mapper.of_kind(&gvk).await?;
            let namespace = match (resource.namespaced, &*name.namespace) {
                (false, _) => Str::default(),
                (true, "") if self.parent.namespace.is_empty() => {
                    return Err(invalid("it has no namespace, and neither has the parent"));
                }
                (true, "") => self.parent.namespace.clone(),
                (true, namespace) => namespace.into(),
            };
            if !seen.insert(member(&resource, &namespace, &name.name)) {
                return Err(invalid("it is in the set twice"));
            }
            let mut object = object.clone();
            let labels = object.metadata_mut().entry("labels").or_insert(json!({}));
            let labels = labels
                .as_object_mut()
                .ok_or_else(|| invalid("its labels are no map"))?;
            labels.insert(PART_OF.to_owned(), self.parent.id().as_str().into());
            wanted.push(Wanted {
                resource,
                namespace,
                object,
            });
        }
        Ok(wanted)
    }

    /// Deletes the members that were not applied.
    async fn prune(
        &self,
        before: &Membership,
        applied: &BTreeSet<Str>,
    ) -> Result<Vec<Member>, ApplySetError> {
        let mut pruned = Vec::new();
        let selected = ListOptions {
            label_selector: format!("{PART_OF}={}", self.parent.id())
                .parse()
                .map_err(|_| ApplySetError::Parent {
                    reason: "its id is no label value".to_owned(),
                })?,
            ..ListOptions::default()
        };
        for kind in before.kinds() {
            let resource = match self.mapper.of_group_kind(&kind).await {
                Ok(resource) => resource,
                // Its definition is gone, and its objects with it.
                Err(error) if error.is_no_match() => continue,
                Err(error) => return Err(error.into()),
            };
            let namespaces = if resource.namespaced {
                before.namespaces(&self.parent.namespace)
            } else {
                vec![Str::default()]
            };
            for namespace in namespaces {
                let api: Api<Metadata<()>> =
                    Api::dynamic_namespaced(self.client.clone(), &resource, namespace);
                for object in api.list(&selected).await?.items {
                    let member = member(&resource, object.namespace(), object.name());
                    if applied.contains(object.uid()) || object.is_terminating() {
                        continue;
                    }
                    delete(&api, &object, self.options.post.dry_run)
                        .await
                        .map_err(|source| failed(&member, source))?;
                    pruned.push(member);
                }
            }
        }
        Ok(pruned)
    }

    async fn write_parent(&self, members: &Membership) -> Result<(), ApplySetError> {
        if self.options.post.dry_run {
            return Ok(());
        }
        let parent = &self.parent;
        parent.write(&self.client, &self.tooling, members).await
    }
}

/// Deletes an object, unless it was deleted or created again meanwhile.
async fn delete(
    api: &Api<Metadata<()>>,
    object: &Metadata<()>,
    dry_run: bool,
) -> Result<(), ApiError> {
    let options = DeleteOptions {
        preconditions: Some(Box::new(Preconditions {
            uid: Some(object.uid().into()),
            resource_version: None,
        })),
        propagation_policy: Some("Background".into()),
        dry_run: dry_run.then(|| "All".into()).into_iter().collect(),
        ..DeleteOptions::default()
    };
    match api.delete_with(object.name(), &options).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        deleted => deleted.map(drop),
    }
}

fn failed(member: &Member, source: ApiError) -> ApplySetError {
    ApplySetError::Member {
        member: Box::new(member.clone()),
        source: Box::new(source),
    }
}

fn member(resource: &ApiResource, namespace: &str, name: &str) -> Member {
    Member {
        kind: kind_of(resource),
        name: ObjectName::new(namespace, name),
    }
}

/// Returns the kind as the specification writes it.
fn kind_of(resource: &ApiResource) -> String {
    match &*resource.group {
        "" => resource.kind.to_string(),
        group => format!("{}.{group}", resource.kind),
    }
}
