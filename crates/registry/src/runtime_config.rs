//! `RuntimeConfig`: which versions of built-in groups are served, as upstream's `--runtime-config`
//! says it. Without a word stable ones are, and alpha and beta ones are not.

use kubist_api::GROUPS;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Which versions of built-in groups are served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeConfig {
    /// What is said of all, of stable, beta and alpha ones.
    all: Option<bool>,
    stages: BTreeMap<Stage, bool>,
    /// What is said of one version of a group.
    versions: BTreeMap<(String, String), bool>,
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
    /// One resource of a version.
    #[error("{0:?}: single resources cannot be turned on or off")]
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
            key => {
                let parts: Vec<&str> = key.split('/').collect();
                let (group, version) = match parts[..] {
                    // The core group has no name; upstream takes both.
                    ["v1"] | ["api", "v1"] => ("", "v1"),
                    [group, version] => (group, version),
                    [_, _, _] => return Err(RuntimeConfigError::Resource(key.to_owned())),
                    _ => return Err(RuntimeConfigError::Unknown(key.to_owned())),
                };
                let mut groups = GROUPS.iter().filter(|it| it.name == group);
                let known = groups.any(|it| it.versions.iter().any(|it| it.version == version));
                if !known {
                    return Err(RuntimeConfigError::Unknown(key.to_owned()));
                }
                let key = (group.to_owned(), version.to_owned());
                self.versions.insert(key, on);
            }
        }
        Ok(())
    }
}

impl FromStr for RuntimeConfig {
    type Err = RuntimeConfigError;

    /// Reads pairs such as `api/beta=true,resource.k8s.io/v1beta1=false`.
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
    fn what_cannot_be_done_is_refused_by_name() {
        for (text, expected) in [
            (
                "api/beta=yes",
                "invalid value of api/beta: \"yes\"; it is true or false",
            ),
            ("apps/v7=true", "unknown group and version \"apps/v7\""),
            (
                "apps/v1/deployments=false",
                "\"apps/v1/deployments\": single resources cannot be turned on or off",
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
