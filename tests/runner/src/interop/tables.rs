//! Compares discovery and tables with upstream's, which the schema lists.

use super::kubectl::Shell;
use super::schema::{self, GroupVersion, Resource};
use kubist_test_support::process::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Returns `v1` or `apps/v1`.
fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// Reports whether upstream serves a version by default: the stable ones.
fn is_stable(version: &str) -> bool {
    !version.contains("alpha") && !version.contains("beta")
}

/// Checks that `api-versions` and `api-resources` list what upstream serves by default.
pub(super) fn discovery(shell: &Shell) -> Outcome {
    let schema = schema::read()?;
    let mut versions = BTreeSet::new();
    let mut rows = BTreeSet::new();
    // A resource that the preferred version lacks is listed with another version.
    let mut others = BTreeSet::new();
    for group in &schema.groups {
        let stable = |it: &&GroupVersion| it.served && is_stable(&it.version);
        for version in group.versions.iter().filter(stable) {
            let name = group_version(&group.name, &version.version);
            if version.version == group.preferred {
                for it in &version.resources {
                    rows.insert(row(it, &name));
                }
            } else {
                others.extend(version.resources.iter().map(|it| row(it, &name)));
            }
            versions.insert(name);
        }
    }
    let printed = shell.run("api-versions")?;
    let printed: BTreeSet<String> = printed.lines().map(str::to_owned).collect();
    same("api-versions", &versions, &printed)?;
    let printed = shell.run("api-resources --no-headers")?;
    let printed: BTreeSet<String> = printed
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let printed = printed.difference(&others).cloned().collect();
    same("api-resources", &rows, &printed)
}

/// Returns a line of `api-resources`.
fn row(resource: &Resource, group_version: &str) -> String {
    let names = resource.short_names.join(",");
    let names = if names.is_empty() {
        names
    } else {
        format!(" {names}")
    };
    let Resource {
        name,
        namespaced,
        kind,
        ..
    } = resource;
    format!("{name}{names} {group_version} {namespaced} {kind}")
}

fn same(what: &str, expected: &BTreeSet<String>, got: &BTreeSet<String>) -> Outcome {
    if expected == got {
        return Ok(());
    }
    let missing: Vec<_> = expected.difference(got).collect();
    let extra: Vec<_> = got.difference(expected).collect();
    Err(format!("{what}: missing {missing:?}, not upstream's {extra:?}").into())
}

/// Checks that the tables of these resources, `RESOURCE` or `RESOURCE.GROUP`, have upstream's
/// columns. Each needs an object in the namespace; otherwise kubectl prints no table.
pub(super) fn columns(shell: &Shell, namespace: &str, resources: &[&str]) -> Outcome {
    let schema = schema::read()?;
    let mut served: BTreeMap<&str, &Resource> = BTreeMap::new();
    for group in &schema.groups {
        for version in group
            .versions
            .iter()
            .filter(|it| it.version == group.preferred)
        {
            for resource in &version.resources {
                served.entry(&resource.name).or_insert(resource);
            }
        }
    }
    let mut wrong = Vec::new();
    for name in resources {
        let resource = served
            .get(name)
            .ok_or_else(|| format!("{name} is not in the schema"))?;
        for wide in [false, true] {
            let output = if wide { "-o wide" } else { "" };
            let printed = shell.run(&format!("get {name} -n {namespace} {output}"))?;
            let expected: Vec<String> = resource
                .columns
                .iter()
                .filter(|column| wide || column.priority == 0)
                .map(|column| column.name.to_uppercase())
                .collect();
            let got = header(&printed);
            if got != expected {
                wrong.push(format!("{name} {output}: {got:?}, upstream {expected:?}"));
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("; ").into())
    }
}

/// Returns the column names of a printed table, which are three spaces apart.
fn header(printed: &str) -> Vec<String> {
    let first = printed.lines().next().unwrap_or_default();
    first
        .split("  ")
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}
