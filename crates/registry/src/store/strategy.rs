//! `Strategy`: what one kind does differently from all others, on its way into storage.
//!
//! The store knows the road (defaults, admission, preparation, checks, write); a strategy fills
//! in the steps. It is told an object at a time and does no input or output, except for
//! [`admit`](Strategy::admit) and [`admit_update`](Strategy::admit_update), which may look up other
//! objects. Metadata is the store's business:
//! strategies neither check nor set it, except where a kind has rules of its own.
//!
//! Objects are of the kind's storage version. [`KindStrategy`](crate::KindStrategy) is the same
//! trait for one Rust type.

use crate::{NameRule, RequestContext};
use kubist_apimachinery::{AnyObject, DeleteOptions, FieldError, Status, Time};
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What one kind does differently. Every method has a default that fits a kind without
/// peculiarities; `spec` and `status` are found by name.
pub trait Strategy: fmt::Debug + Send + Sync + 'static {
    /// Fills in what the user left out. Runs on create, on update, and on patched objects; must
    /// change nothing when run again.
    fn apply_defaults(&self, object: &mut dyn AnyObject) {
        let _ = object;
    }

    /// Upstream's mutating and validating admission for this kind, after defaults and before
    /// preparation. Runs on every attempt of a write.
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut dyn AnyObject,
        old: Option<&'a dyn AnyObject>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether a change that is valid may be made, as other objects are. Upstream's validating
    /// admission of updates, where that says what the checks must have said first.
    fn admit_update<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a dyn AnyObject,
        old: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Prepares a new object: clears what users may not set. The store has cleared `status`
    /// already, where the kind has it as a subresource, and set uid, times and generation.
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut dyn AnyObject) {
        let _ = (cx, new);
    }

    /// Whether a new object may come with a status although the status is a subresource
    /// (upstream: nodes). Default: no.
    fn keeps_status_on_create(&self) -> bool {
        false
    }

    /// Checks a new object, without its metadata.
    fn validate(&self, new: &dyn AnyObject) -> Vec<FieldError> {
        let _ = new;
        Vec::new()
    }

    /// Prepares a change: takes over from `old` what this path may not change. The store has
    /// restored `status` already, where the kind has it as a subresource.
    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let _ = (cx, new, old);
    }

    /// Checks a change, without metadata. Upstream checks the new object as on create and then
    /// the transition; so does whoever implements this.
    fn validate_update(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> Vec<FieldError> {
        let _ = old;
        self.validate(new)
    }

    /// Prepares a change of the status. The store has restored everything but `metadata` and
    /// `status` already, and of the metadata what [`status_keeps`](Self::status_keeps) says.
    fn prepare_for_status_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let _ = (cx, new, old);
    }

    /// Checks a change of the status, without metadata.
    fn validate_status_update(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> Vec<FieldError> {
        let _ = (new, old);
        Vec::new()
    }

    /// Prepares a change through another subresource than the status (`approval`, `resize`, …),
    /// which `part` names: takes over from `old` what that path may not change.
    fn prepare_for_part_update(
        &self,
        part: &str,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let _ = (part, cx, new, old);
    }

    /// Checks a change through the subresource `part`, without metadata.
    fn validate_part_update(
        &self,
        part: &str,
        new: &dyn AnyObject,
        old: &dyn AnyObject,
    ) -> Vec<FieldError> {
        let _ = (part, new, old);
        Vec::new()
    }

    /// Which metadata a change of the status cannot touch. Default: labels.
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Labels
    }

    /// Brings a valid object into the form that is stored, such as sorted lists.
    fn canonicalize(&self, object: &mut dyn AnyObject) {
        let _ = object;
    }

    /// Warnings for the client: `old` is there on update.
    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }

    /// What names must look like. Default: a DNS subdomain.
    fn name_rule(&self) -> NameRule {
        NameRule::DnsSubdomain
    }

    /// What is wrong with the name of a new object, or with the prefix that one is made of.
    /// Default: what [`name_rule`](Self::name_rule) says.
    fn name_problems(&self, object: &dyn AnyObject, name: &str, prefix: bool) -> Vec<String> {
        let _ = object;
        self.name_rule().check(name, prefix)
    }

    /// What moves `metadata.generation`. Default: nothing, and it stays 0.
    fn generation(&self) -> Generation {
        Generation::None
    }

    /// Whether a change of `old` into `new` moves the generation, for [`Generation::Custom`].
    fn bumps_generation(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
        let _ = (new, old);
        false
    }

    /// Whether PUT to a name that does not exist creates. Default: no.
    fn allow_create_on_update(&self) -> bool {
        false
    }

    /// Whether PUT without resource version replaces whatever is there. Default: yes.
    fn allow_unconditional_update(&self) -> bool {
        true
    }

    /// How many seconds pass between the request to delete `object` and its end, given what the
    /// user asked for. None: the kind knows no graceful deletion. Default: none.
    fn grace_seconds(&self, object: &dyn AnyObject, requested: Option<i64>) -> Option<i64> {
        let _ = (object, requested);
        None
    }

    /// Whether `object` may be deleted at all. Upstream's validating admission of deletes.
    fn admit_delete(&self, object: &dyn AnyObject) -> Result<(), Status> {
        let _ = object;
        Ok(())
    }

    /// Begins the deletion of an object that is not being deleted yet, for kinds that end in a way
    /// of their own: it is marked, and waits. False for all others, which the store marks.
    fn begin_deletion(&self, object: &mut dyn AnyObject, now: Time) -> bool {
        let _ = (object, now);
        false
    }

    /// What becomes of dependents if the user does not say. Default: the garbage collector
    /// deletes them.
    fn default_dependents(&self) -> Dependents {
        Dependents::Delete
    }

    /// What a client is warned of that deletes with these options. Default: nothing.
    fn delete_warning(&self, options: &DeleteOptions) -> Option<&'static str> {
        let _ = options;
        None
    }

    /// Whether DELETE answers with the object even when it is gone at once. Default: no.
    fn returns_deleted(&self) -> bool {
        false
    }

    /// Field selectors beyond `metadata.name` and `metadata.namespace`.
    fn selectable_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// The value of one of the [`selectable_fields`](Self::selectable_fields).
    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        let _ = (object, field);
        Cow::Borrowed("")
    }

    /// Adds to the object of a bookmark what upstream's has beside its metadata: numbers that its
    /// internal form always has. Default: nothing.
    fn complete_bookmark(&self, object: &mut dyn AnyObject) {
        let _ = object;
    }

    /// How long an object lives after its last write. Default: until deleted. (Events: an hour.)
    fn time_to_live(&self, object: &dyn AnyObject) -> Option<Duration> {
        let _ = object;
        None
    }

    /// How much of the metadata the kind checks itself. Default: all of it, strictly.
    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Strict
    }

    /// Whether [`validate_update`](Self::validate_update) checks the metadata, too: upstream looks
    /// at something else first, or at more than the change. Default: no; the store checks the
    /// change before it, by the [`metadata_rules`](Self::metadata_rules).
    fn checks_metadata(&self) -> bool {
        false
    }

    /// The same of [`validate_status_update`](Self::validate_status_update) and
    /// [`validate_part_update`](Self::validate_part_update). Default: no.
    fn checks_metadata_of_parts(&self) -> bool {
        false
    }
}

/// What moves `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum Generation {
    /// Nothing; it stays what it was on create.
    None,
    /// 1 on create; any change of the object outside of metadata and status moves it.
    Spec,
    /// As `Spec`, and changes of annotations move it too (upstream: Deployments).
    SpecAndAnnotations,
    /// As `Spec`, and changes of labels move it too (upstream: `EndpointSlices`).
    SpecAndLabels,
    /// 1 on create; [`Strategy::bumps_generation`] decides.
    Custom,
}

/// Which metadata a change of the status takes over from the old object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum StatusKeeps {
    /// All but managed fields.
    Everything,
    /// All but managed fields, the prefix of a generated name and the grace period of a deletion
    /// (upstream: volumes' attachments, claims of devices).
    Most,
    /// Labels.
    Labels,
    /// Owner references (upstream: Pods).
    Owners,
    /// Nothing.
    Nothing,
}

/// How much of the metadata a kind checks itself, beyond what is checked for all. What is checked
/// by both is two causes, as upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum MetadataRules {
    /// Everything; finalizers without a domain must be Kubernetes' own.
    Strict,
    /// Everything, with whatever finalizers (upstream: Leases, webhooks, custom resources).
    Lenient,
    /// Nothing: a name is one segment of a path, and so forth, once the rest is right (upstream:
    /// Events of core, PodDisruptionBudgets).
    Common,
}

/// What becomes of an object's dependents by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum Dependents {
    /// They are deleted.
    Delete,
    /// They stay, without their owner.
    Orphan,
    /// The kind has no dependents: the garbage collector's finalizers are never set.
    Unsupported,
}

/// What is being admitted, and where to look things up.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// The request.
    pub request: &'a RequestContext,
    /// The subresource written; empty for the object itself.
    pub subresource: &'a str,
    /// Whether nothing will be written.
    pub dry_run: bool,
    /// Other objects.
    pub objects: &'a dyn Lookup,
}

impl<'a> Admission<'a> {
    /// An admission of the object itself, of a write that is meant.
    pub fn new(request: &'a RequestContext, objects: &'a dyn Lookup) -> Self {
        Self {
            request,
            subresource: "",
            dry_run: false,
            objects,
        }
    }
}

/// Reads other objects, as they are stored now.
pub trait Lookup: fmt::Debug + Send + Sync {
    /// One object of `group` and `plural`; `namespace` is empty for cluster-scoped ones. None if
    /// it does not exist.
    fn get<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>>;

    /// All objects of `group` and `plural`, in one namespace or (if empty) in all.
    fn list<'a>(
        &'a self,
        group: &'a str,
        plural: &'a str,
        namespace: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>>;
}

/// The name of a field of `metadata` that every kind can be selected by.
pub(crate) const ALWAYS_SELECTABLE: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// A strategy for kinds without peculiarities. `generation` is by schema.
#[derive(Clone, Debug)]
pub struct PlainStrategy {
    /// What moves the generation.
    pub generation: Generation,
    /// What names must look like.
    pub name_rule: NameRule,
    /// Field selectors: name of the field, and where it is.
    pub fields: &'static [&'static str],
    /// Whether DELETE answers with the object even when it is gone at once.
    pub returns_deleted: bool,
}

impl Default for PlainStrategy {
    fn default() -> Self {
        Self {
            generation: Generation::None,
            name_rule: NameRule::DnsSubdomain,
            fields: &[],
            returns_deleted: false,
        }
    }
}

impl Strategy for PlainStrategy {
    fn name_rule(&self) -> NameRule {
        self.name_rule
    }
    fn generation(&self) -> Generation {
        self.generation
    }
    fn returns_deleted(&self) -> bool {
        self.returns_deleted
    }
    fn selectable_fields(&self) -> &'static [&'static str] {
        self.fields
    }
    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        crate::store::object_fields::text_at(object, field)
    }
}
