//! The history of templates of StatefulSets and DaemonSets: ControllerRevisions.
//!
//! The data of a revision is a strategic patch of the template, in upstream's form, so that
//! `kubectl rollout history` and `kubectl rollout undo` read it.

use crate::ownership::claim_all;
use crate::unless_outdated;
use kubist_api::apps::v1::ControllerRevision;
use kubist_api::core::v1::PodTemplateSpec;
use kubist_apimachinery::wire::{DecodeContext, RawExtension, Wire as _};
use kubist_apimachinery::{KubeObject, ObjectName, Selector, Str};
use kubist_cache::{Index, IndexHandle, Lister, WriteLog};
use kubist_client::{Api, ApiError, Client};
use kubist_controller::{Controller, Error, controller_reference};
use kubist_informers::SharedInformerFactory;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// So many names are tried for a new revision.
const COLLISIONS_MAX: usize = 8;

/// The revisions of the owners of one kind.
#[derive(Debug)]
pub(crate) struct Revisions {
    lister: Lister<ControllerRevision>,
    by_namespace: IndexHandle<ControllerRevision>,
    writes: WriteLog<ControllerRevision>,
}

/// The history of one owner, oldest first.
#[derive(Debug)]
pub(crate) struct History {
    api: Api<ControllerRevision>,
    pub(crate) revisions: Vec<Arc<ControllerRevision>>,
}

/// What a new revision is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft<'a> {
    pub(crate) template: &'a PodTemplateSpec,
    /// Those of the owner, which the revision gets.
    pub(crate) annotations: &'a BTreeMap<Str, Str>,
    /// The label of a revision with its hash.
    pub(crate) hash_label: &'static str,
}

impl Revisions {
    pub(crate) fn new(factory: &SharedInformerFactory<Client>) -> Self {
        let revisions = factory.informer::<ControllerRevision>();
        Self {
            by_namespace: revisions.add_index(Index::namespace()),
            lister: revisions.lister_unsynced(),
            writes: WriteLog::new(),
        }
    }

    /// Lets a controller know when revisions change.
    pub(crate) fn watched_by(
        &self,
        controller: Controller,
        factory: &SharedInformerFactory<Client>,
    ) -> Controller {
        let revisions = factory.informer::<ControllerRevision>();
        let controller = controller.owns(&revisions);
        controller.reads_own_writes(&revisions, &self.writes)
    }

    /// Returns the history of an owner, after adopting and releasing.
    pub(crate) async fn of<O: KubeObject>(
        &self,
        client: &Client,
        key: &ObjectName,
        owner: &O,
        selector: &Selector,
    ) -> Result<History, Error> {
        let api = Api::namespaced(client.clone(), key.namespace.clone());
        let api = api.with_write_log(&self.writes.for_key(key));
        let candidates = self.lister.by_index(&self.by_namespace, &key.namespace);
        let mut revisions = claim_all(&api, owner, selector, candidates).await?;
        revisions.sort_by_key(|it| {
            let meta = &it.metadata;
            (it.revision, meta.creation_timestamp, meta.name.clone())
        });
        Ok(History { api, revisions })
    }
}

impl History {
    /// Returns the revision of a template as the newest one; it is created, or an old one gets a
    /// new number. None if it changed meanwhile: the newer state will requeue the key.
    pub(crate) async fn current<O: KubeObject>(
        &mut self,
        owner: &O,
        draft: Draft<'_>,
        collisions: &mut i32,
    ) -> Result<Option<Arc<ControllerRevision>>, Error> {
        let newest = self.revisions.last().map_or(0, |it| it.revision);
        let known = self
            .revisions
            .iter()
            .rposition(|it| is_of(it, draft.template));
        let Some(index) = known else {
            let number = newest.saturating_add(1);
            let made = self.create(owner, draft, number, collisions).await?;
            self.revisions.extend(made.clone());
            return Ok(made);
        };
        if index + 1 == self.revisions.len() {
            return Ok(Some(Arc::clone(&self.revisions[index])));
        }
        let mut renewed = ControllerRevision::clone(&self.revisions.remove(index));
        renewed.revision = newest.saturating_add(1);
        let renewed = unless_outdated(self.api.replace(&renewed).await)?.map(Arc::new);
        self.revisions.extend(renewed.clone());
        Ok(renewed)
    }

    /// Creates a revision under a name that is free, counting those that are not.
    async fn create<O: KubeObject>(
        &self,
        owner: &O,
        draft: Draft<'_>,
        number: i64,
        collisions: &mut i32,
    ) -> Result<Option<Arc<ControllerRevision>>, Error> {
        for _ in 0..COLLISIONS_MAX {
            let revision = revision_of(owner, draft, number, *collisions);
            let refused = match self.api.create(&revision).await {
                Ok(revision) => return Ok(Some(Arc::new(revision))),
                Err(error) if crate::is_namespace_ending(&error) => return Ok(None),
                Err(error) => error,
            };
            if !refused.is_already_exists() {
                return Err(refused.into());
            }
            let existing = self.api.get(&revision.metadata.name).await;
            let Some(existing) = unless_outdated(existing)? else {
                return Ok(None);
            };
            let controller = existing.metadata.controller().map(|it| &*it.uid);
            if controller == Some(owner.uid()) && is_of(&existing, draft.template) {
                return Ok(Some(Arc::new(existing)));
            }
            *collisions = collisions.saturating_add(1);
        }
        Err(Error::new("no name is free for a ControllerRevision"))
    }

    /// Deletes the oldest revisions beyond the limit; those that are in use stay.
    pub(crate) async fn truncate(&self, live: &BTreeSet<&str>, limit: i32) -> Result<(), ApiError> {
        let unused = self.revisions.iter();
        let unused: Vec<_> = unused
            .filter(|it| !live.contains(&*it.metadata.name))
            .collect();
        let kept = usize::try_from(limit).unwrap_or(unused.len());
        let surplus = unused.len().saturating_sub(kept);
        for revision in &unused[..surplus] {
            match self.api.delete(&revision.metadata.name).await {
                Err(error) if !error.is_not_found() && !error.is_conflict() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the template of a revision.
pub(crate) fn template_of(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let mut data: Value = serde_json::from_slice(&revision.data.raw).ok()?;
    let template = data.get_mut("spec")?.get_mut("template")?;
    template.as_object_mut()?.remove("$patch");
    let text = serde_json::to_vec(template).ok()?;
    PodTemplateSpec::from_json(&text, &mut DecodeContext::default()).ok()
}

/// Reports whether a revision is of this template.
pub(crate) fn is_of(revision: &ControllerRevision, template: &PodTemplateSpec) -> bool {
    template_of(revision).is_some_and(|it| it == *template)
}

fn revision_of<O: KubeObject>(
    owner: &O,
    draft: Draft<'_>,
    number: i64,
    collisions: i32,
) -> ControllerRevision {
    let data = data_of(draft.template);
    let hash = hash(&data, collisions);
    let mut revision = ControllerRevision {
        data: RawExtension { raw: data.into() },
        revision: number,
        ..ControllerRevision::default()
    };
    let meta = &mut revision.metadata;
    meta.name = format!("{}-{hash}", owner.name()).into();
    meta.namespace = owner.namespace().into();
    meta.labels = draft.template.metadata.labels.clone();
    meta.labels.insert(draft.hash_label.into(), hash.into());
    meta.annotations = draft.annotations.clone();
    meta.owner_references = vec![controller_reference(owner)];
    revision
}

/// The patch that restores a template.
fn data_of(template: &PodTemplateSpec) -> Vec<u8> {
    let mut template: Value = serde_json::from_slice(&template.to_json()).unwrap_or_default();
    if let Some(fields) = template.as_object_mut() {
        fields.insert("$patch".to_owned(), json!("replace"));
    }
    json!({"spec": {"template": template}}).to_string().into()
}

/// Returns a short hash without vowels, so that it forms no words: FNV-1, as upstream's.
fn hash(data: &[u8], collisions: i32) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash: u32 = 0x811c_9dc5;
    for byte in data.iter().copied().chain(collisions.to_string().bytes()) {
        hash = hash.wrapping_mul(0x0100_0193) ^ u32::from(byte);
    }
    let letter = |digit: u8| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()]);
    hash.to_string().bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::apps::v1::StatefulSet;

    #[test]
    fn a_revision_holds_the_template_as_a_patch() {
        let mut set = StatefulSet::default();
        set.metadata.name = "db".into();
        set.metadata.uid = "u".into();
        let labels = [("app".into(), "db".into())];
        set.spec.template.metadata.labels = labels.into();
        set.spec.template.spec.node_name = "here".into();
        let draft = Draft {
            template: &set.spec.template,
            annotations: &BTreeMap::new(),
            hash_label: "hash",
        };
        let revision = revision_of(&set, draft, 3, 0);
        let text = String::from_utf8_lossy(&revision.data.raw).into_owned();
        let begins = "{\"spec\":{\"template\":{\"$patch\":\"replace\",\"metadata\":{";
        assert!(text.starts_with(begins), "{text}");
        assert_eq!(template_of(&revision).as_ref(), Some(&set.spec.template));
        let hash = &revision.metadata.labels["hash"];
        assert_eq!(revision.metadata.name, format!("db-{hash}"));
        assert_eq!(revision.metadata.labels["app"], "db");
        let other = revision_of(&set, draft, 3, 1);
        assert_ne!(other.metadata.name, revision.metadata.name);
        assert!(is_of(&other, &set.spec.template));
        assert!(!is_of(&other, &PodTemplateSpec::default()));
    }

    /// Computed with Go's `fnv.New32`, and upstream's `SafeEncodeString`.
    #[test]
    fn hashes_are_upstreams() {
        assert_eq!(hash(b"{\"spec\":{}}", 0), "59c9b4d596");
        assert_eq!(hash(b"", 12), "988b8f48d");
    }
}
