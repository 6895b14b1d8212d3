//! Checks the crates' dependencies against `docs/layers.toml`.

use crate::metadata::{self, Dependency, Package};
use crate::process::{Outcome, root};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
struct Layers {
    crates: BTreeMap<String, Rule>,
    confined: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Deserialize)]
struct Rule {
    layer: u8,
    half: Half,
    #[serde(default)]
    pure: bool,
    uses: BTreeSet<String>,
    #[serde(default)]
    optional: BTreeSet<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Half {
    Client,
    Server,
    Shared,
    Both,
}

/// Crates that pure crates must not use.
const IMPURE: [&str; 8] = [
    "tokio",
    "tokio-util",
    "rand",
    "hyper",
    "mio",
    "async-std",
    "getrandom",
    "socket2",
];

/// Reports edges that the layers do not allow, or allow in vain.
pub(super) fn check() -> Outcome<Vec<String>> {
    let layers: Layers =
        toml::from_str(&std::fs::read_to_string(root().join("docs/layers.toml"))?)?;
    let metadata = metadata::read()?;
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let name = short(&package.name);
        let Some(rule) = layers.crates.get(name) else {
            findings.push(format!("{name}: not in docs/layers.toml"));
            continue;
        };
        for dependency in &package.dependencies {
            check_edge(&layers, name, rule, dependency, &mut findings);
        }
        findings.extend(unused(name, rule, package));
    }
    let known: BTreeSet<&str> = metadata.packages.iter().map(|it| short(&it.name)).collect();
    for name in layers
        .crates
        .keys()
        .filter(|name| !known.contains(name.as_str()))
    {
        findings.push(format!("docs/layers.toml: there is no crate {name}"));
    }
    Ok(findings)
}

/// Reports edges that the layers allow and the crate does not have.
fn unused(name: &str, rule: &Rule, package: &Package) -> Vec<String> {
    let has = |to: &str, optional: bool| {
        package.dependencies.iter().any(|it| {
            it.path.is_some()
                && it.kind.as_deref() != Some("dev")
                && it.optional == optional
                && short(&it.name) == to
        })
    };
    let always = rule
        .uses
        .iter()
        .filter(|to| !has(to, false) && !has(to, true));
    let optional = rule.optional.iter().filter(|to| !has(to, true));
    always
        .chain(optional)
        .map(|to| format!("{name} -> {to}: docs/layers.toml allows an edge that does not exist"))
        .collect()
}

/// Returns the name in `layers.toml`: `kubist-cache` is `cache`; the facade keeps its name.
fn short(package: &str) -> &str {
    package.strip_prefix("kubist-").unwrap_or(package)
}

fn check_edge(
    layers: &Layers,
    name: &str,
    rule: &Rule,
    dependency: &Dependency,
    findings: &mut Vec<String>,
) {
    let to = short(&dependency.name);
    let dev = dependency.kind.as_deref() == Some("dev");
    if dependency.path.is_none() {
        if dev {
            return;
        }
        if rule.pure && IMPURE.contains(&to) {
            findings.push(format!("{name}: is pure, so it may not use {to}"));
        }
        if let Some(allowed) = layers.confined.get(to)
            && !allowed.contains(name)
        {
            findings.push(format!("{name}: {to} may be used by {allowed:?} only"));
        }
        return;
    }
    let Some(target) = layers.crates.get(to) else {
        return;
    };
    let opposed = matches!(
        (rule.half, target.half),
        (Half::Client, Half::Server | Half::Both) | (Half::Server, Half::Client | Half::Both)
    );
    if opposed {
        findings.push(format!("{name} -> {to}: the two halves may not meet here"));
    }
    if dev {
        return;
    }
    if target.layer >= rule.layer && !(rule.layer == 5 && target.layer == 5) {
        findings.push(format!("{name} -> {to}: the arrow goes up or sideways"));
    }
    let allowed = rule.uses.contains(to) || (dependency.optional && rule.optional.contains(to));
    if !allowed {
        findings.push(format!("{name} -> {to}: not an edge of docs/layers.toml"));
    }
}
