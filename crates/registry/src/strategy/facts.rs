//! `StrategyFacts`: what is constant about a kind.

use crate::strategy::name_rule::NameRule;
use kubist_apimachinery::{AnyObject, DeleteOptions};
use std::time::Duration;

/// What is constant about a kind. Update [`PLAIN`](Self::PLAIN) with `..`.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "strategies are written out with `..PLAIN`"
)]
pub struct StrategyFacts {
    /// What names must look like. Plain: a DNS subdomain.
    pub name_rule: NameRule,
    /// How much of the metadata the kind checks. Plain: all of it, strictly.
    pub metadata_rules: MetadataRules,
    /// What the store checks of the metadata before the strategy validates an update. Plain: the
    /// change.
    pub metadata_on_update: MetadataUpdate,
    /// What moves `metadata.generation`. Plain: nothing, and it stays 0.
    pub generation: Generation,
    /// Whether a new object may come with a status although the status is a subresource
    /// (upstream: nodes). Plain: no.
    pub keeps_status_on_create: bool,
    /// Which metadata an update of the status cannot change. Plain: labels.
    pub status_keeps: StatusKeeps,
    /// Whether PUT to a name that does not exist creates. Plain: no.
    pub allow_create_on_update: bool,
    /// Whether PUT without a resource version replaces whatever is there. Plain: yes.
    pub allow_unconditional_update: bool,
    /// What becomes of dependents if a delete does not say. Plain: the garbage collector deletes
    /// them.
    pub default_dependents: Dependents,
    /// What a client is warned of that deletes with these options. Plain: nothing.
    pub delete_warning: fn(&DeleteOptions) -> Option<&'static str>,
    /// Whether DELETE answers with the object even when it is gone at once. Plain: no.
    pub returns_deleted: bool,
    /// Field selectors beyond `metadata.name` and `metadata.namespace`. Plain: none.
    pub selectable_fields: &'static [&'static str],
    /// How long an object lives after its last write. Plain: until deleted. (Events: an hour.)
    pub time_to_live: Option<Duration>,
    /// Adds to the object of a bookmark what upstream's has beside its metadata: numbers that its
    /// internal form always has. Plain: nothing.
    pub complete_bookmark: fn(&mut dyn AnyObject),
}

impl StrategyFacts {
    /// A kind without peculiarities.
    pub const PLAIN: Self = Self {
        name_rule: NameRule::DnsSubdomain,
        metadata_rules: MetadataRules::Strict,
        metadata_on_update: MetadataUpdate::Change,
        generation: Generation::None,
        keeps_status_on_create: false,
        status_keeps: StatusKeeps::Labels,
        allow_create_on_update: false,
        allow_unconditional_update: true,
        default_dependents: Dependents::Delete,
        delete_warning: |_| None,
        returns_deleted: false,
        selectable_fields: &[],
        time_to_live: None,
        complete_bookmark: |_| {},
    };
}

/// What the store checks of the metadata before a strategy validates an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum MetadataUpdate {
    /// The change.
    Change,
    /// The metadata as if the object were new; the strategy may check the change after its own
    /// fields, as upstream does for some kinds.
    Whole,
    /// The metadata as if the object were new, and the change after the strategy has validated.
    WholeThenChange,
    /// Nothing: upstream checks something else first, or nothing at all. The strategy checks it.
    Own,
}

/// What moves `metadata.generation`.
#[derive(Clone, Copy, Debug)]
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
    /// 1 on create; the function says whether a change of the second object into the first moves
    /// it.
    Custom(fn(&dyn AnyObject, &dyn AnyObject) -> bool),
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
