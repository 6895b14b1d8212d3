//! `StrategyFacts`: the constants of a kind.

use crate::strategy::name_rule::NameRule;
use crate::strategy::reset_fields::ResetFields;
use kubist_apimachinery::{AnyObject, DeleteOptions};
use std::time::Duration;

/// The constants of a kind. Update [`PLAIN`](Self::PLAIN) with `..`.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "strategies are written out with `..PLAIN`"
)]
pub struct StrategyFacts {
    /// The rule for names. Plain: a DNS subdomain.
    pub name_rule: NameRule,
    /// The kind's own metadata checks. Plain: all, strictly.
    pub metadata_rules: MetadataRules,
    /// The metadata checks of the store before the strategy validates an update. Plain: the change.
    pub metadata_on_update: MetadataUpdate,
    /// The changes that increment `metadata.generation`. Plain: none, and it stays 0.
    pub generation: Generation,
    /// Whether a new object may come with a status although the status is a subresource
    /// (upstream: nodes). Plain: no.
    pub keeps_status_on_create: bool,
    /// The metadata that an update of the status cannot change. Plain: labels.
    pub status_keeps: StatusKeeps,
    /// The fields that a write through this path resets, and which get no owner. Plain: those that
    /// the store resets.
    pub reset_fields: ResetFields,
    /// Whether PUT creates an object that does not exist. Plain: no.
    pub allow_create_on_update: bool,
    /// Whether PUT without a resource version replaces any version. Plain: yes.
    pub allow_unconditional_update: bool,
    /// The treatment of dependents if a delete does not specify it. Plain: the garbage collector
    /// deletes them.
    pub default_dependents: Dependents,
    /// Returns the warning for a delete with these options. Plain: none.
    pub delete_warning: fn(&DeleteOptions) -> Option<&'static str>,
    /// Whether DELETE returns the object even when it is removed at once. Plain: no.
    pub returns_deleted: bool,
    /// The selectable fields beyond `metadata.name` and `metadata.namespace`. Plain: none.
    pub selectable_fields: &'static [&'static str],
    /// The lifetime of an object after its last write. Plain: unlimited. (Events: an hour.)
    pub time_to_live: Option<Duration>,
    /// Adds to a bookmark's object the fields beyond metadata that upstream's has: numbers that its
    /// internal form always has. Plain: none.
    pub complete_bookmark: fn(&mut dyn AnyObject),
}

impl StrategyFacts {
    /// The facts of a kind without special rules.
    pub const PLAIN: Self = Self {
        name_rule: NameRule::DnsSubdomain,
        metadata_rules: MetadataRules::Strict,
        metadata_on_update: MetadataUpdate::Change,
        generation: Generation::None,
        keeps_status_on_create: false,
        status_keeps: StatusKeeps::Labels,
        reset_fields: ResetFields::ByStore,
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

/// The metadata checks of the store before a strategy validates an update.
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
    /// None: upstream checks something else first, or nothing at all. The strategy checks the
    /// metadata.
    Own,
}

/// The changes that increment `metadata.generation`.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum Generation {
    /// None; it keeps its value from create.
    None,
    /// 1 on create; incremented by any change outside of metadata and status.
    Spec,
    /// As `Spec`, and by changes of annotations (upstream: Deployments).
    SpecAndAnnotations,
    /// As `Spec`, and by changes of labels (upstream: `EndpointSlices`).
    SpecAndLabels,
    /// 1 on create; incremented if the function returns true for the new and the old object.
    Custom(fn(&dyn AnyObject, &dyn AnyObject) -> bool),
}

/// The metadata that a change of the status keeps from the old object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum StatusKeeps {
    /// All but managed fields.
    Everything,
    /// All but managed fields, the prefix of a generated name and the deletion grace period
    /// (upstream: VolumeAttachments, ResourceClaims).
    Most,
    /// Labels.
    Labels,
    /// Owner references (upstream: Pods).
    Owners,
    /// Nothing.
    Nothing,
}

/// The metadata checks that a kind makes itself, beyond those for all kinds. An error that both
/// find is two causes, as upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum MetadataRules {
    /// Everything; finalizers without a domain must be Kubernetes' own.
    Strict,
    /// Everything, with any finalizers (upstream: Leases, webhooks, custom resources).
    Lenient,
    /// Only the common checks, such as that a name is one path segment, after the rest is valid
    /// (upstream: Events of core, PodDisruptionBudgets).
    Common,
}

/// The default treatment of an object's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the store must handle each")]
pub enum Dependents {
    /// They are deleted.
    Delete,
    /// They are kept, without their owner.
    Orphan,
    /// The kind has no dependents: the garbage collector's finalizers are never set.
    Unsupported,
}
