//! The plugins by name: upstream's order, which are enabled by default, and which exist here.

use crate::always::{AlwaysAdmit, AlwaysDeny};
use crate::certificates::{
    CertificateApproval, CertificateSigning, CertificateSubjectRestriction,
    ClusterTrustBundleAttest,
};
use crate::configuration::{AdmissionConfiguration, AdmissionConfigurationError};
use crate::default_ingress_class::DefaultIngressClass;
use crate::deny_service_external_ips::DenyServiceExternalIps;
use crate::event_rate_limit::EventRateLimit;
use crate::limit_ranger::LimitRanger;
use crate::namespace_exists::NamespaceExists;
use crate::node_restriction::NodeRestriction;
use crate::owner_references::OwnerReferencesPermissionEnforcement;
use crate::pod_security::PodSecurity;
use crate::pods::{
    AlwaysPullImages, DefaultTolerationSeconds, ExtendedResourceToleration,
    LimitPodHardAntiAffinityTopology, NodeDeclaredFeatureValidator, PodNodeSelector,
    PodResizeValidator, PodTolerationRestriction, PodTopologyLabels, Priority, RuntimeClass,
};
use crate::resource_quota::ResourceQuota;
use crate::service_account::ServiceAccount;
use crate::storage::{
    DefaultStorageClass, PersistentVolumeClaimResize, StorageObjectInUseProtection,
};
use crate::taint_nodes_by_condition::TaintNodesByCondition;
use kubist_authorization::{AlwaysAllow, Authorizer};
use kubist_registry::admission::{AdmissionChain, AdmissionPlugin};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// What there is of a plugin.
#[derive(Clone, Copy)]
enum Source {
    /// The plugin itself.
    Built(fn(&Parts<'_>) -> Arc<dyn AdmissionPlugin>),
    /// Its rules belong to the registry or to the kinds; they are always in force.
    Always,
    /// The server supplies it.
    Supplied,
    /// Its rules need something that this server does not have, or are not built.
    Missing,
}

/// What plugins are made of.
struct Parts<'a> {
    authorizer: &'a Arc<dyn Authorizer>,
    configuration: &'a AdmissionConfiguration,
}

/// A plugin of upstream.
struct Named {
    name: &'static str,
    /// Whether it is enabled by default, as upstream unless it says otherwise.
    by_default: bool,
    source: Source,
}

const fn on(name: &'static str, source: Source) -> Named {
    Named {
        name,
        by_default: true,
        source,
    }
}

const fn off(name: &'static str, source: Source) -> Named {
    Named {
        name,
        by_default: false,
        source,
    }
}

/// The first of those after which a server's own plugins would see less than what is stored.
const AFTER_OWN: &str = "MutatingAdmissionPolicy";

/// All plugins of kube-apiserver 1.36, in its order.
static PLUGINS: [Named; 41] = [
    off("AlwaysAdmit", Source::Built(|_| Arc::new(AlwaysAdmit))),
    off("NamespaceAutoProvision", Source::Missing),
    on("NamespaceLifecycle", Source::Always),
    off(
        "NamespaceExists",
        Source::Built(|_| Arc::new(NamespaceExists)),
    ),
    off(
        "LimitPodHardAntiAffinityTopology",
        Source::Built(|_| Arc::new(LimitPodHardAntiAffinityTopology)),
    ),
    on("LimitRanger", Source::Built(|_| Arc::new(LimitRanger))),
    // Upstream enables it by default.
    off(
        "ServiceAccount",
        Source::Built(|_| Arc::new(ServiceAccount)),
    ),
    off(
        "NodeRestriction",
        Source::Built(|it| Arc::new(NodeRestriction(Arc::clone(it.authorizer)))),
    ),
    on(
        "TaintNodesByCondition",
        Source::Built(|_| Arc::new(TaintNodesByCondition)),
    ),
    off(
        "AlwaysPullImages",
        Source::Built(|_| Arc::new(AlwaysPullImages)),
    ),
    off("ImagePolicyWebhook", Source::Missing),
    on(
        "PodSecurity",
        Source::Built(|it| Arc::new(PodSecurity(Arc::clone(&it.configuration.pod_security)))),
    ),
    off(
        "PodNodeSelector",
        Source::Built(|it| {
            Arc::new(PodNodeSelector(Arc::clone(
                &it.configuration.node_selectors,
            )))
        }),
    ),
    on("Priority", Source::Built(|_| Arc::new(Priority))),
    on(
        "DefaultTolerationSeconds",
        Source::Built(|_| Arc::new(DefaultTolerationSeconds)),
    ),
    off(
        "PodTolerationRestriction",
        Source::Built(|it| {
            Arc::new(PodTolerationRestriction(Arc::clone(
                &it.configuration.tolerations,
            )))
        }),
    ),
    off(
        "EventRateLimit",
        Source::Built(|it| Arc::new(EventRateLimit::new(&it.configuration.event_limits))),
    ),
    off(
        "ExtendedResourceToleration",
        Source::Built(|_| Arc::new(ExtendedResourceToleration)),
    ),
    on(
        "DefaultStorageClass",
        Source::Built(|_| Arc::new(DefaultStorageClass)),
    ),
    on(
        "StorageObjectInUseProtection",
        Source::Built(|_| Arc::new(StorageObjectInUseProtection)),
    ),
    on("PodGroupProtection", Source::Missing),
    off(
        "OwnerReferencesPermissionEnforcement",
        Source::Built(|it| {
            Arc::new(OwnerReferencesPermissionEnforcement(Arc::clone(
                it.authorizer,
            )))
        }),
    ),
    on(
        "PersistentVolumeClaimResize",
        Source::Built(|_| Arc::new(PersistentVolumeClaimResize)),
    ),
    on("RuntimeClass", Source::Built(|_| Arc::new(RuntimeClass))),
    on(
        "CertificateApproval",
        Source::Built(|it| Arc::new(CertificateApproval(Arc::clone(it.authorizer)))),
    ),
    on(
        "CertificateSigning",
        Source::Built(|it| Arc::new(CertificateSigning(Arc::clone(it.authorizer)))),
    ),
    on(
        "ClusterTrustBundleAttest",
        Source::Built(|it| Arc::new(ClusterTrustBundleAttest(Arc::clone(it.authorizer)))),
    ),
    on(
        "CertificateSubjectRestriction",
        Source::Built(|_| Arc::new(CertificateSubjectRestriction)),
    ),
    on(
        "DefaultIngressClass",
        Source::Built(|_| Arc::new(DefaultIngressClass)),
    ),
    off(
        "DenyServiceExternalIPs",
        Source::Built(|_| Arc::new(DenyServiceExternalIps)),
    ),
    on(
        "PodTopologyLabels",
        Source::Built(|_| Arc::new(PodTopologyLabels)),
    ),
    on("PodGroupWorkloadExists", Source::Missing),
    on(
        "NodeDeclaredFeatureValidator",
        Source::Built(|_| Arc::new(NodeDeclaredFeatureValidator)),
    ),
    on("JobValidation", Source::Missing),
    on(
        "PodResizeValidator",
        Source::Built(|_| Arc::new(PodResizeValidator)),
    ),
    on("MutatingAdmissionPolicy", Source::Supplied),
    on("MutatingAdmissionWebhook", Source::Supplied),
    on("ValidatingAdmissionPolicy", Source::Supplied),
    on("ValidatingAdmissionWebhook", Source::Supplied),
    on(
        "ResourceQuota",
        Source::Built(|it| Arc::new(ResourceQuota(Arc::clone(&it.configuration.limited)))),
    ),
    off("AlwaysDeny", Source::Built(|_| Arc::new(AlwaysDeny))),
];

/// Why plugins cannot be enabled or disabled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// Upstream has no plugin of that name. `option` is the name of the option.
    #[error("{option} plugin {name:?} is unknown")]
    Unknown {
        /// The option.
        option: &'static str,
        /// The name.
        name: String,
    },
    /// Plugins are both enabled and disabled.
    #[error(
        "[{}] in enable-admission-plugins and disable-admission-plugins overlapped",
        .0.join(" ")
    )]
    Overlap(Vec<String>),
    /// Upstream has the plugin, and this server does not.
    #[error("admission plugin {0:?} is not available in this server")]
    Missing(String),
    /// The rules of the plugin cannot be switched off in this server.
    #[error("admission plugin {0:?} cannot be disabled in this server")]
    Always(String),
}

/// Which plugins are enabled, and their configurations. The default is upstream's.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginSelection {
    names: BTreeSet<&'static str>,
    configuration: AdmissionConfiguration,
}

impl Default for PluginSelection {
    fn default() -> Self {
        let enabled = PLUGINS.iter().filter(|it| it.by_default);
        Self {
            names: enabled.map(|it| it.name).collect(),
            configuration: AdmissionConfiguration::default(),
        }
    }
}

impl PluginSelection {
    /// Returns upstream's default selection with more plugins, and without some.
    ///
    /// # Errors
    /// A name is unknown or in both lists; or a plugin to enable does not exist here, or one to
    /// disable is always in force.
    pub fn new(enable: &[String], disable: &[String]) -> Result<Self, PluginError> {
        let mut selection = Self::default();
        let added = find_all("enable-admission-plugins", enable)?;
        let removed = find_all("disable-admission-plugins", disable)?;
        let both: BTreeSet<_> = enable.iter().filter(|it| disable.contains(it)).collect();
        if !both.is_empty() {
            return Err(PluginError::Overlap(both.into_iter().cloned().collect()));
        }
        for plugin in added {
            if matches!(plugin.source, Source::Missing) {
                return Err(PluginError::Missing(plugin.name.to_owned()));
            }
            selection.names.insert(plugin.name);
        }
        for plugin in removed {
            if matches!(plugin.source, Source::Always) {
                return Err(PluginError::Always(plugin.name.to_owned()));
            }
            selection.names.remove(plugin.name);
        }
        Ok(selection)
    }

    /// Configures the plugins. Those that are not enabled have no effect.
    #[must_use]
    pub fn with_configuration(mut self, configuration: AdmissionConfiguration) -> Self {
        self.configuration = configuration;
        self
    }

    /// Checks that each enabled plugin has the configuration that it cannot do without. Such a
    /// plugin does nothing without it.
    ///
    /// # Errors
    /// A plugin lacks its configuration.
    pub fn check(&self) -> Result<(), AdmissionConfigurationError> {
        self.configuration.check_for(|it| self.is_enabled(it))
    }

    /// Returns the plugins that are configured and not enabled, so that nothing is as they say.
    pub fn configured_in_vain(&self) -> impl Iterator<Item = &str> {
        let configured = self.configuration.configured.iter();
        configured
            .map(String::as_str)
            .filter(|it| !self.is_enabled(it))
    }

    /// Returns the names of the plugins that this server has, in the order in which they run, and
    /// whether each is on by default.
    pub fn available() -> impl Iterator<Item = (&'static str, bool)> {
        let available = PLUGINS
            .iter()
            .filter(|it| !matches!(it.source, Source::Missing));
        available.map(|it| (it.name, it.by_default))
    }

    /// Reports whether a plugin of this name is enabled.
    pub fn is_enabled(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the chain of the enabled plugins. `supplied` are further ones: those with a name of
    /// upstream's take its place there, if it is enabled, and all others run after upstream's own
    /// rules and before policies, webhooks and quotas.
    ///
    /// Plugins that ask what a user may do are told: everything.
    pub fn chain(&self, supplied: Vec<Arc<dyn AdmissionPlugin>>) -> AdmissionChain {
        let everything: Arc<dyn Authorizer> = Arc::new(AlwaysAllow);
        self.chain_with(&everything, supplied)
    }

    /// Returns the same chain, whose plugins ask `authorizer` what a user may do.
    pub fn chain_with(
        &self,
        authorizer: &Arc<dyn Authorizer>,
        supplied: Vec<Arc<dyn AdmissionPlugin>>,
    ) -> AdmissionChain {
        let is_known = |it: &Arc<dyn AdmissionPlugin>| find(it.name()).is_some();
        let (known, own): (Vec<_>, Vec<_>) = supplied.into_iter().partition(is_known);
        let parts = Parts {
            authorizer,
            configuration: &self.configuration,
        };
        let mut chain = Vec::new();
        for plugin in &PLUGINS {
            if plugin.name == AFTER_OWN {
                chain.extend(own.iter().cloned());
            }
            if !self.is_enabled(plugin.name) {
                continue;
            }
            match known.iter().find(|it| it.name() == plugin.name) {
                Some(supplied) => chain.push(Arc::clone(supplied)),
                None => {
                    if let Source::Built(make) = plugin.source {
                        chain.push(make(&parts));
                    }
                }
            }
        }
        AdmissionChain::new(chain)
    }
}

impl AdmissionConfiguration {
    /// Parses a file, in YAML or JSON. `read` returns the content of the files that it names, by
    /// the paths in it.
    ///
    /// # Errors
    /// It is none, or configures something that this server does not have.
    pub fn parse(
        text: &[u8],
        read: &dyn Fn(&str) -> io::Result<Vec<u8>>,
    ) -> Result<Self, AdmissionConfigurationError> {
        Self::parse_with(text, read, is_available)
    }
}

/// Reports whether this server has a plugin; none if upstream has none of that name.
fn is_available(name: &str) -> Option<bool> {
    find(name).map(|it| !matches!(it.source, Source::Missing))
}

fn find(name: &str) -> Option<&'static Named> {
    PLUGINS.iter().find(|it| it.name == name)
}

fn find_all(option: &'static str, names: &[String]) -> Result<Vec<&'static Named>, PluginError> {
    let found = |name: &String| {
        find(name).ok_or_else(|| PluginError::Unknown {
            option,
            name: name.clone(),
        })
    };
    names.iter().map(found).collect()
}
