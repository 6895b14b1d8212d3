//! `RuntimeConfig`: the served versions of built-in groups, and their resources, as in upstream's
//! `--runtime-config`. By default stable versions are served, and alpha and beta versions are not.

use kubist_api::{GROUPS, ResourceFacts};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The served versions of built-in groups, and their resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeConfig {
    /// The settings for all, stable, beta and alpha versions.
    all: Option<bool>,
    stages: BTreeMap<Stage, bool>,
    /// The settings for single versions of a group.
    versions: BTreeMap<(String, String), bool>,
    /// The settings for single resources of a version, by plural.
    resources: BTreeMap<(String, String, String), bool>,
}

/// The stability of a version, in the order in which its settings take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Stable,
    Beta,
    Alpha,
}

impl Stage {
    fn of(version: &str) -> Self {
        if version.contains("alpha") {
            Self::Alpha
        } else if version.contains("beta") {
            Self::Beta
        } else {
            Self::Stable
        }
    }
}

/// The error of an invalid configuration text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeConfigError {
    /// A value other than true or false.
    #[error("invalid value of {key}: {value:?}; must be true or false")]
    Value {
        /// The key of the setting.
        key: String,
        /// The value.
        value: String,
    },
    /// An unknown version of a group.
    #[error("unknown group and version {0:?}")]
    Unknown(String),
    /// An unknown resource of a version.
    #[error("unknown group, version and resource {0:?}")]
    Resource(String),
    /// Everything is disabled, and nothing enabled.
    #[error("only api/all=false: nothing would be served")]
    Nothing,
}

impl RuntimeConfig {
    /// Returns a configuration that serves all versions.
    pub fn everything() -> Self {
        Self {
            all: Some(true),
            ..Self::default()
        }
    }

    /// Reports whether a version of a built-in group is served.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        let own = (group.to_owned(), version.to_owned());
        let stage = Stage::of(version);
        let setting = self.versions.get(&own).or_else(|| self.stages.get(&stage));
        setting
            .copied()
            .or(self.all)
            .unwrap_or(stage == Stage::Stable)
    }

    /// Reports whether a resource of a built-in group is served: its own setting takes precedence
    /// over that of its version.
    pub fn serves_resource(&self, facts: &ResourceFacts) -> bool {
        let (group, version) = (facts.group, facts.version);
        let own = (
            group.to_owned(),
            version.to_owned(),
            facts.plural.to_owned(),
        );
        let setting = self.resources.get(&own).copied();
        setting.unwrap_or_else(|| self.serves(group, version))
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), RuntimeConfigError> {
        let on = match value {
            "" | "true" => true,
            "false" => false,
            value => {
                return Err(RuntimeConfigError::Value {
                    key: key.to_owned(),
                    value: value.to_owned(),
                });
            }
        };
        match key {
            "api/all" => self.all = Some(on),
            "api/ga" => drop(self.stages.insert(Stage::Stable, on)),
            "api/beta" => drop(self.stages.insert(Stage::Beta, on)),
            "api/alpha" => drop(self.stages.insert(Stage::Alpha, on)),
            key => return self.set_one(key, on),
        }
        Ok(())
    }

    /// Records the setting of one version, or of one of its resources.
    fn set_one(&mut self, key: &str, on: bool) -> Result<(), RuntimeConfigError> {
        let parts: Vec<&str> = key.split('/').collect();
        let (group, version, plural) = match parts[..] {
            // The core group has no name; upstream accepts both forms.
            ["v1"] | ["api", "v1"] => ("", "v1", None),
            ["api", "v1", plural] => ("", "v1", Some(plural)),
            [group, version] => (group, version, None),
            [group, version, plural] => (group, version, Some(plural)),
            _ => return Err(RuntimeConfigError::Unknown(key.to_owned())),
        };
        let mut groups = GROUPS.iter().filter(|it| it.name == group);
        let found = groups.find_map(|it| it.versions.iter().find(|it| it.version == version));
        let found = found.ok_or_else(|| RuntimeConfigError::Unknown(key.to_owned()))?;
        let (group, version) = (group.to_owned(), version.to_owned());
        let Some(plural) = plural else {
            self.versions.insert((group, version), on);
            return Ok(());
        };
        if !found.resources.iter().any(|it| it.plural == plural) {
            return Err(RuntimeConfigError::Resource(key.to_owned()));
        }
        self.resources
            .insert((group, version, plural.to_owned()), on);
        Ok(())
    }
}

impl FromStr for RuntimeConfig {
    type Err = RuntimeConfigError;

    /// Parses pairs such as `api/beta=true,resource.k8s.io/v1beta1=false,batch/v1/cronjobs=false`.
    fn from_str(text: &str) -> Result<Self, RuntimeConfigError> {
        let mut config = Self::default();
        let pairs = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        for pair in pairs {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            config.set(key.trim(), value.trim())?;
        }
        let off = Self {
            all: Some(false),
            ..Self::default()
        };
        if config == off {
            return Err(RuntimeConfigError::Nothing);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(text: &str) -> [bool; 4] {
        let config: RuntimeConfig = text.parse().expect("it is valid");
        [
            config.serves("", "v1"),
            config.serves("autoscaling", "v2"),
            config.serves("resource.k8s.io", "v1beta1"),
            config.serves("storage.k8s.io", "v1alpha1"),
        ]
    }

    #[test]
    fn stable_versions_are_served_and_others_when_they_are_turned_on() {
        for (text, expected) in [
            ("", [true, true, false, false]),
            ("api/beta=true", [true, true, true, false]),
            ("api/all=true,api/alpha=false", [true, true, true, false]),
            ("api/all", [true, true, true, true]),
            ("resource.k8s.io/v1beta1=true", [true, true, true, false]),
            ("api/all=false,v1=true", [true, false, false, false]),
            ("autoscaling/v2=false", [true, false, false, false]),
        ] {
            assert_eq!(served(text), expected, "{text}");
        }
    }

    #[test]
    fn the_setting_of_a_resource_takes_precedence_over_that_of_its_version() {
        let facts = |plural: &str| {
            let groups = GROUPS.iter().filter(|it| it.name == "batch");
            let mut resources = groups
                .flat_map(|it| it.versions)
                .flat_map(|it| it.resources);
            resources.find(|it| it.plural == plural && it.version == "v1")
        };
        let (jobs, cron_jobs) = (facts("jobs"), facts("cronjobs"));
        for (text, expected) in [
            ("", [true, true]),
            ("batch/v1/jobs=false", [false, true]),
            ("batch/v1=false,batch/v1/jobs=true", [true, false]),
            ("api/all=false,batch/v1/cronjobs", [false, true]),
        ] {
            let config: RuntimeConfig = text.parse().expect("it is valid");
            let serves = [jobs, cron_jobs].map(|it| it.map(|it| config.serves_resource(it)));
            assert_eq!(serves, expected.map(Some), "{text}");
        }
    }

    #[test]
    fn unsupported_forms_are_rejected_by_name() {
        for (text, expected) in [
            (
                "api/beta=yes",
                "invalid value of api/beta: \"yes\"; must be true or false",
            ),
            ("apps/v7=true", "unknown group and version \"apps/v7\""),
            (
                "apps/v1/Deployments=false",
                "unknown group, version and resource \"apps/v1/Deployments\"",
            ),
            (
                "api/all=false",
                "only api/all=false: nothing would be served",
            ),
        ] {
            let refused = text.parse::<RuntimeConfig>().expect_err("it is wrong");
            assert_eq!(refused.to_string(), expected);
        }
    }
}
