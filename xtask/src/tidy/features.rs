//! The facade's features: one for each API group version, and few crates for who takes one.

use crate::metadata::{self, Package};
use crate::process::{Outcome, output};
use std::collections::BTreeSet;

/// The facade.
const FACADE: &str = "kubist";
/// The crate of the types. `full` and the group versions among its features are the facade's, too.
const TYPES: &str = "kubist-api";
/// Crates with features of the same names.
const FOLLOWERS: [&str; 2] = ["kubist-client", "kubist-informers"];
/// Features of the types that are not API groups.
const OTHERS: [&str; 2] = ["default", "prost"];
/// Crates that a user of `core/v1` through the facade builds at most, the facade included.
const CRATES_MAX: usize = 109;

/// Reports missing features, and too many dependencies.
pub(super) fn check() -> Outcome<Vec<String>> {
    let packages = metadata::read()?.packages;
    let find = |name: &str| {
        let package = packages.iter().find(|it| it.name == name);
        package.ok_or_else(|| format!("there is no package {name}"))
    };
    let followers = FOLLOWERS.map(find);
    let followers = followers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut findings = missing(find(FACADE)?, find(TYPES)?, &followers);
    let crates = crates_for("core-v1")?;
    if crates.len() > CRATES_MAX {
        findings.push(format!(
            "{FACADE} with core-v1 builds {} crates, more than {CRATES_MAX}",
            crates.len()
        ));
    }
    Ok(findings)
}

/// Compares each API feature of the facade with those of the crates that it has to turn on.
fn missing(facade: &Package, types: &Package, followers: &[&Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let features = types.features.keys();
    for feature in features.filter(|it| !OTHERS.contains(&it.as_str())) {
        let Some(enabled) = facade.features.get(feature) else {
            findings.push(format!("{FACADE} has no feature {feature}"));
            continue;
        };
        for package in [types].iter().chain(followers) {
            let has = package.features.contains_key(feature);
            let expected = format!("{}/{feature}", package.name);
            if has && !enabled.contains(&expected) {
                findings.push(format!("{FACADE}: {feature} does not enable {expected}"));
            }
        }
    }
    findings
}

/// Returns the crates that the facade with one feature is built from.
fn crates_for(feature: &str) -> Outcome<BTreeSet<String>> {
    let tree = output(
        "cargo",
        &[
            "tree",
            "--package",
            FACADE,
            "--no-default-features",
            "--features",
            feature,
            "--edges",
            "normal",
            "--prefix",
            "none",
        ],
    )?;
    let names = tree.lines().filter(|line| !line.is_empty());
    Ok(names
        .map(|line| line.trim_end_matches(" (*)").to_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, features: &serde_json::Value) -> Package {
        let package = serde_json::json!({
            "name": name, "dependencies": [], "manifest_path": "/x/Cargo.toml",
            "features": features,
        });
        serde_json::from_value(package).expect("the fields are there")
    }

    #[test]
    fn a_group_that_the_facade_lacks_or_does_not_forward_is_reported() {
        let types = package("kubist-api", &serde_json::json!({"a-v1": [], "b-v1": []}));
        let client = package("kubist-client", &serde_json::json!({"a-v1": []}));
        let facade = serde_json::json!({"a-v1": ["kubist-api/a-v1"]});
        let found = missing(&package("kubist", &facade), &types, &[&client]);
        let expected = [
            "kubist: a-v1 does not enable kubist-client/a-v1",
            "kubist has no feature b-v1",
        ];
        assert_eq!(found, expected);
    }
}
