//! `FeatureGates`: upstream's `--feature-gates`.
//!
//! The gates of a kube-apiserver v1.36 are known by name, with their defaults, in
//! `feature_gates.txt`. One that this server obeys is obeyed; one that is set to its default means
//! nothing; of all others it is said at the start that they have no effect.

use std::collections::BTreeMap;
use std::str::FromStr;

/// `NAME=DEFAULT`, a gate a line.
const GATES: &str = include_str!("feature_gates.txt");
/// What stands before a gate's name if anything does.
const COMPONENT: &str = "kube";
/// The texts that Go reads as a boolean.
const TRUE: [&str; 6] = ["1", "t", "T", "true", "TRUE", "True"];
const FALSE: [&str; 6] = ["0", "f", "F", "false", "FALSE", "False"];
/// Offers CBOR.
const CBOR: &str = "CBORServingAndStorage";
/// Sets all gates of its stage, except those that are set themselves.
const ALL_ALPHA: &str = "AllAlpha";
/// Runs a controller, which here has an option of its own.
const MIGRATOR: &str = "StorageVersionMigrator";

/// Gates and what they were set to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FeatureGates(BTreeMap<&'static str, bool>);

impl FeatureGates {
    /// What several options set together; the last counts. Logs which have no effect.
    pub(super) fn merged_and_said(all: Vec<Self>) -> Self {
        let merged = Self(all.into_iter().flat_map(|it| it.0).collect());
        for (name, value) in merged.without_effect() {
            match name {
                MIGRATOR => tracing::warn!(
                    "feature gate {name}={value} has no effect: --controllers says whether \
                     migrations run, and --runtime-config whether they are served"
                ),
                ALL_ALPHA => {
                    tracing::warn!("feature gate {name}={value} has no effect but that on {CBOR}");
                }
                _ => tracing::warn!("feature gate {name}={value} has no effect"),
            }
        }
        merged
    }

    /// Whether CBOR is offered.
    pub(super) fn cbor(&self) -> bool {
        let of_all = || self.0.get(ALL_ALPHA).copied().unwrap_or_default();
        self.0.get(CBOR).copied().unwrap_or_else(of_all)
    }

    fn without_effect(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let given = self.0.iter().map(|(name, value)| (*name, *value));
        // The migrator runs by default, whatever the gate's default is.
        given.filter(|(name, value)| {
            *name != CBOR && (*name == MIGRATOR || default_of(name) != Some(*value))
        })
    }
}

fn gates() -> impl Iterator<Item = (&'static str, bool)> {
    let gates = GATES.lines().filter_map(|line| line.split_once('='));
    gates.map(|(name, default)| (name, default == "true"))
}

fn default_of(name: &str) -> Option<bool> {
    gates().find(|(found, _)| *found == name).map(|(_, it)| it)
}

impl FromStr for FeatureGates {
    type Err = String;

    /// The errors have upstream's texts.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut set = BTreeMap::new();
        for pair in text.split(',').filter(|it| !it.trim().is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("missing bool value for {pair}"))?;
            let (component, name) = name.trim().split_once(':').unwrap_or((COMPONENT, name));
            let name = name.trim();
            if component != COMPONENT {
                return Err(format!("component not registered: {component}"));
            }
            let known = gates().find(|(found, _)| *found == name);
            let (name, _) = known.ok_or_else(|| format!("unrecognized feature gate: {name}"))?;
            let value = match value.trim() {
                it if TRUE.contains(&it) => true,
                it if FALSE.contains(&it) => false,
                other => {
                    return Err(format!(
                        "invalid value of {name}={other}, err: strconv.ParseBool: parsing \
                         {other:?}: invalid syntax"
                    ));
                }
            };
            set.insert(name, value);
        }
        Ok(Self(set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<FeatureGates, String> {
        text.parse()
    }

    #[test]
    fn cbor_is_offered_by_its_gate_or_with_all_alpha_features() {
        for (text, expected) in [
            ("", false),
            ("CBORServingAndStorage=true", true),
            ("kube:CBORServingAndStorage=1", true),
            ("AllAlpha=true", true),
            ("AllAlpha=true,CBORServingAndStorage=false", false),
            ("AllBeta=true", false),
        ] {
            assert_eq!(parsed(text).map(|it| it.cbor()), Ok(expected), "{text}");
        }
        let both = vec![
            parsed("CBORServingAndStorage=false").unwrap(),
            parsed("CBORServingAndStorage=true").unwrap(),
        ];
        assert!(FeatureGates::merged_and_said(both).cbor());
    }

    #[test]
    fn gates_that_do_not_exist_are_refused_with_upstreams_words() {
        for (text, expected) in [
            ("Foo=true", "unrecognized feature gate: Foo"),
            ("Foo", "missing bool value for Foo"),
            ("other:Foo=true", "component not registered: other"),
            (
                "AllAlpha=maybe",
                "invalid value of AllAlpha=maybe, err: strconv.ParseBool: parsing \"maybe\": \
                 invalid syntax",
            ),
        ] {
            assert_eq!(parsed(text), Err(expected.to_owned()));
        }
    }

    #[test]
    fn what_has_no_effect_is_what_differs_from_the_default() {
        let gates = "APIServerIdentity=true,AllBeta=true,CBORServingAndStorage=true,\
                     StorageVersionMigrator=false";
        let gates = parsed(gates);
        let gates = gates.unwrap();
        let without: Vec<_> = gates.without_effect().collect();
        assert_eq!(
            without,
            [("AllBeta", true), ("StorageVersionMigrator", false)]
        );
    }
}
