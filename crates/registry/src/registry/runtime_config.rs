//! `RuntimeConfig`: which versions of built-in groups are served, and which of their resources, as
//! upstream's `--runtime-config` says it. Without a word stable versions are, and alpha and beta
//! ones are not.

use kubist_api::{GROUPS, ResourceFacts};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Which versions of built-in groups are served, and which of their resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeConfig {
    /// What is said of all, of stable, beta and alpha ones.
    all: Option<bool>,
    stages: BTreeMap<Stage, bool>,
    /// What is said of one version of a group.
    versions: BTreeMap<(String, String), bool>,
    /// What is said of one resource of a version, by its plural.
    resources: BTreeMap<(String, String, String), bool>,
}

/// How settled a version is, in the order in which what is said of them counts.
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

/// Why a text is no such configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeConfigError {
    /// A value that is neither true nor false.
    #[error("invalid value of {key}: {value:?}; it is true or false")]
    Value {
        /// What it is said of.
        key: String,
        /// What is said.
        value: String,
    },
    /// A version of a group that there is not.
    #[error("unknown group and version {0:?}")]
    Unknown(String),
    /// A resource that the version has not.
    #[error("unknown group, version and resource {0:?}")]
    Resource(String),
    /// Everything is turned off, and nothing on.
    #[error("only api/all=false: nothing would be served")]
    Nothing,
}

impl RuntimeConfig {
    /// All versions.
    pub fn everything() -> Self {
        Self {
            all: Some(true),
            ..Self::default()
        }
    }

    /// Whether a version of a built-in group is served.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        let own = (group.to_owned(), version.to_owned());
        let stage = Stage::of(version);
        let said = self.versions.get(&own).or_else(|| self.stages.get(&stage));
        said.copied().or(self.all).unwrap_or(stage == Stage::Stable)
    }

    /// Whether a resource of a built-in group is served: what is said of it alone counts before
    /// what is said of its version.
    pub fn serves_resource(&self, facts: &ResourceFacts) -> bool {
        let (group, version) = (facts.group, facts.version);
        let own = (
            group.to_owned(),
            version.to_owned(),
            facts.plural.to_owned(),
        );
        let said = self.resources.get(&own).copied();
        said.unwrap_or_else(|| self.serves(group, version))
    }

    fn say(&mut self, key: &str, value: &str) -> Result<(), RuntimeConfigError> {
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
            key => return self.say_of_one(key, on),
        }
        Ok(())
    }

    /// Notes what is said of one version, or of one resource of it.
    fn say_of_one(&mut self, key: &str, on: bool) -> Result<(), RuntimeConfigError> {
        let parts: Vec<&str> = key.split('/').collect();
        let (group, version, plural) = match parts[..] {
            // The core group has no name; upstream takes both.
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

    /// Reads pairs such as `api/beta=true,resource.k8s.io/v1beta1=false,batch/v1/cronjobs=false`.
    fn from_str(text: &str) -> Result<Self, RuntimeConfigError> {
        let mut config = Self::default();
        let pairs = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        for pair in pairs {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            config.say(key.trim(), value.trim())?;
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
    fn what_is_said_of_one_resource_counts_before_what_is_said_of_its_version() {
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
    fn what_cannot_be_done_is_refused_by_name() {
        for (text, expected) in [
            (
                "api/beta=yes",
                "invalid value of api/beta: \"yes\"; it is true or false",
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
