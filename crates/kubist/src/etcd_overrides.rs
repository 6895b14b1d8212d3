//! `EtcdOverrides`: resources that are stored in an etcd cluster of their own, in the syntax of
//! upstream's `--etcd-servers-overrides`. What the server stores there is decided in the registry.

use kubist_apimachinery::GroupResource;
use std::str::FromStr;

/// Built-in resources with the etcd members that store them. All use the certificates and the
/// prefix of the main cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EtcdOverrides(Vec<(GroupResource, Vec<String>)>);

/// Why a text names no override.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EtcdOverridesError {
    /// It has another form.
    #[error(
        "{item:?} is not of the form group/resource#URL;URL,…, such as /events#http://etcd:2379"
    )]
    Form {
        /// The part without the form.
        item: String,
    },
    /// The resource is not built in. Custom resources are stored where everything else is.
    #[error("{resource} is not a built-in resource")]
    Unknown {
        /// The resource.
        resource: GroupResource,
    },
    /// The resource is named twice.
    #[error("{resource} is named twice")]
    Twice {
        /// The resource.
        resource: GroupResource,
    },
}

impl EtcdOverrides {
    /// Stores a resource on these members, instead of where it was stored before this call.
    #[must_use]
    pub fn with(mut self, resource: GroupResource, servers: Vec<String>) -> Self {
        self.0.retain(|(of, _)| *of != resource);
        self.0.push((resource, servers));
        self
    }

    /// Returns each resource with its members.
    pub fn iter(&self) -> impl Iterator<Item = (&GroupResource, &[String])> {
        self.0.iter().map(|(of, servers)| (of, servers.as_slice()))
    }
}

fn is_built_in(resource: &GroupResource) -> bool {
    let versions = kubist_api::GROUPS.iter().flat_map(|group| group.versions);
    let mut resources = versions.flat_map(|version| version.resources);
    resources.any(|it| resource.group == it.group && resource.resource == it.plural)
}

impl FromStr for EtcdOverrides {
    type Err = EtcdOverridesError;

    /// Parses `group/resource#URL;URL,…`; the core group is empty.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::default();
        for item in text.split(',').filter(|it| !it.is_empty()) {
            let form = || EtcdOverridesError::Form {
                item: item.to_owned(),
            };
            let (resource, servers) = item.split_once('#').ok_or_else(form)?;
            let (group, plural) = resource.split_once('/').ok_or_else(form)?;
            let servers: Vec<_> = servers.split(';').map(str::to_owned).collect();
            if plural.is_empty() || servers.iter().any(String::is_empty) {
                return Err(form());
            }
            let resource = GroupResource::new(group, plural);
            if !is_built_in(&resource) {
                return Err(EtcdOverridesError::Unknown { resource });
            }
            if all.0.iter().any(|(of, _)| *of == resource) {
                return Err(EtcdOverridesError::Twice { resource });
            }
            all.0.push((resource, servers));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_read_as_upstream_writes_them() {
        let text = "/events#http://a:1;http://b:2,apps/deployments#https://c";
        let read: EtcdOverrides = text.parse().expect("valid");
        let expected = EtcdOverrides::default()
            .with(
                GroupResource::new("", "events"),
                vec!["http://a:1".to_owned(), "http://b:2".to_owned()],
            )
            .with(
                GroupResource::new("apps", "deployments"),
                vec!["https://c".to_owned()],
            );
        assert_eq!(read, expected);
        assert_eq!("".parse(), Ok(EtcdOverrides::default()));
    }

    #[test]
    fn what_is_no_override_is_refused_by_name() {
        for (text, error) in [
            ("events#http://a", "\"events#http://a\" is not of the form"),
            ("/events", "\"/events\" is not of the form"),
            ("/events#", "\"/events#\" is not of the form"),
            ("/events#http://a;", "is not of the form"),
            ("/event#http://a", "event is not a built-in resource"),
            ("/pods#http://a,/pods#http://b", "pods is named twice"),
            (
                "example.com/widgets#http://a",
                "widgets.example.com is not a built-in resource",
            ),
        ] {
            let failed = text.parse::<EtcdOverrides>().expect_err(text).to_string();
            assert!(failed.contains(error), "{text}: {failed}");
        }
    }
}
