//! `BuiltIn`: upstream's kinds, in the form that a registry expects.

use crate::apps::{claim_templates, daemon_set};
use crate::cluster::Cluster;
use crate::convert::{event_fields, rearrange};
use crate::core::event;
use crate::core::pod::{binding, eviction};
use crate::service_allocation::Ranges;
use crate::{convert, fields, read_defaults, scale, strategies};
use kubist_api::{Kind, ResourceFacts};
use kubist_apimachinery::{FieldSelector, Status};
use kubist_registry::{Action, ClusterObjects, GroupRules, Kinds, RegistryParts, Scheme, Strategy};
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Upstream's kinds, and the ranges from which services are allocated addresses and ports.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltIn {
    /// The cluster IP network: its address and prefix length. Default: 10.96.0.0/16.
    pub service_network: (Ipv4Addr, u32),
    /// The node port range of services. Default: 30000 to 32767, as upstream.
    pub node_ports: RangeInclusive<u16>,
    /// The API server port, which the service `kubernetes` targets. Default: 6443.
    pub server_port: u16,
    /// Whether upstream's default roles and bindings are created and maintained, which a server
    /// that obeys roles needs. Default: no, only `cluster-admin`.
    pub default_roles: bool,
    /// Whether upstream's default flow schemas and priority levels are created and maintained,
    /// which a server with priority and fairness needs. Default: no.
    pub default_flows: bool,
}

impl Default for BuiltIn {
    fn default() -> Self {
        Self {
            service_network: (Ipv4Addr::new(10, 96, 0, 0), 16),
            node_ports: 30_000..=32_767,
            server_port: 6443,
            default_roles: false,
            default_flows: false,
        }
    }
}

impl BuiltIn {
    /// Returns the default kinds, for a [`RegistryConfig`](kubist_registry::RegistryConfig).
    pub fn shared() -> Arc<dyn Kinds> {
        Arc::new(Self::default())
    }
}

/// Conversion between the versions of built-in kinds, and their table output.
pub(crate) static SCHEME: Scheme = Scheme {
    rearrange,
    complete: read_defaults::complete,
    embeds_kinds: claim_templates::has_kinds,
    add_embedded_kinds: claim_templates::with_kinds,
    add_kinds_to_tree: claim_templates::add_to_tree,
    field_annotations,
    replicas: scale::replicas,
    set_replicas: scale::set_replicas,
};

/// The rollback target of a Deployment. No served version has a field for it any more.
const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

fn field_annotations(kind: &Kind) -> &'static [&'static str] {
    let facts = kind.facts();
    match (facts.api_version, facts.kind) {
        ("apps/v1", "DaemonSet") => &[daemon_set::TEMPLATE_GENERATION],
        ("apps/v1", "Deployment") => &[ROLLBACK_TO],
        ("autoscaling/v1", "HorizontalPodAutoscaler") => &convert::AUTOSCALER_ANNOTATIONS,
        _ => &[],
    }
}

impl Kinds for BuiltIn {
    fn scheme(&self) -> &'static Scheme {
        &SCHEME
    }

    fn strategy(&self, group: &str, plural: &str) -> Arc<dyn Strategy> {
        strategies::strategy(group, plural)
    }

    /// Component statuses are queried from the components, not stored.
    fn is_stored(&self, facts: &ResourceFacts) -> bool {
        (facts.group, facts.plural) != ("", "componentstatuses")
    }

    fn storage_group(&self, facts: &ResourceFacts) -> &'static str {
        match (facts.group, facts.plural) {
            (event::NEWER_GROUP, "events") => "",
            (group, _) => group,
        }
    }

    fn group_rules(&self, facts: &ResourceFacts) -> Option<GroupRules> {
        (facts.group == event::NEWER_GROUP).then_some(event::validation::NEWER)
    }

    fn stored_fields(
        &self,
        facts: &ResourceFacts,
        fields: &FieldSelector,
        selectable: &[&str],
    ) -> Result<FieldSelector, Status> {
        fields::check(facts, fields, selectable)?;
        if facts.group == event::NEWER_GROUP {
            return event_fields(fields);
        }
        Ok(fields.clone())
    }

    fn action(&self, facts: &ResourceFacts, subresource: &str) -> Option<&'static dyn Action> {
        match (facts.group, facts.plural, subresource) {
            ("", "pods", "binding") => Some(&binding::Bind),
            ("", "pods", "eviction") => Some(&eviction::Evict),
            _ => None,
        }
    }

    fn updates_through(&self, facts: &ResourceFacts, subresource: &str) -> bool {
        (facts.group, facts.plural) == ("", "pods")
            && matches!(subresource, "ephemeralcontainers" | "resize")
    }

    fn cluster(&self, parts: &RegistryParts<'_>) -> Option<Arc<dyn ClusterObjects>> {
        let (network, prefix) = self.service_network;
        let ranges = Ranges {
            network,
            prefix,
            node_ports: self.node_ports.clone(),
        };
        Some(Arc::new(Cluster::new(ranges, self, parts)))
    }
}
