//! Dependencies that nobody uses: what the workspace names and no member takes, what a member takes
//! and no file of it mentions, and crates that do not exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use crate::process::{Outcome, root};

/// The tables of a member in which dependencies stand.
const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Everything that is named in vain.
pub(super) fn check() -> Outcome<Vec<String>> {
    let workspace: Table = toml::from_str(&fs::read_to_string(root().join("Cargo.toml"))?)?;
    let mut findings = Vec::new();
    let mut taken = BTreeSet::new();
    for member in members(&workspace)? {
        let manifest: Table = toml::from_str(&fs::read_to_string(member.join("Cargo.toml"))?)?;
        let text = sources(&member)?;
        for name in named(&manifest) {
            if !is_mentioned(&name, &text) && !is_ignored(&manifest, &name) {
                let at = member.strip_prefix(root()).unwrap_or(&member).display();
                findings.push(format!("{at}/Cargo.toml: nothing mentions {name}"));
            }
            taken.insert(name);
        }
    }
    let offered = table(&workspace, &["workspace", "dependencies"]);
    for (name, facts) in offered.into_iter().flatten() {
        if !taken.contains(name) {
            findings.push(format!("Cargo.toml: no member takes {name}"));
        }
        if let Some(path) = facts.get("path").and_then(Value::as_str)
            && !root().join(path).join("Cargo.toml").is_file()
        {
            findings.push(format!("Cargo.toml: there is no crate at {path}"));
        }
    }
    Ok(findings)
}

fn table<'a>(manifest: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter()
        .try_fold(manifest, |table, name| table.get(*name)?.as_table())
}

/// The folders of the members; a pattern ends with `/*`.
fn members(workspace: &Table) -> Outcome<Vec<std::path::PathBuf>> {
    let listed = table(workspace, &["workspace"]).and_then(|it| it.get("members")?.as_array());
    let mut members = Vec::new();
    for member in listed.into_iter().flatten().filter_map(Value::as_str) {
        let Some(folder) = member.strip_suffix("/*") else {
            members.push(root().join(member));
            continue;
        };
        for entry in fs::read_dir(root().join(folder))? {
            let path = entry?.path();
            if path.join("Cargo.toml").is_file() {
                members.push(path);
            }
        }
    }
    Ok(members)
}

/// The dependencies of a member, of each platform.
fn named(manifest: &Table) -> BTreeSet<String> {
    let targets = table(manifest, &["target"]).into_iter().flatten();
    let of_targets = targets.filter_map(|(_, it)| it.as_table());
    let tables = std::iter::once(manifest)
        .chain(of_targets)
        .flat_map(|it| TABLES.iter().filter_map(|name| table(it, &[name])));
    tables.flat_map(|it| it.keys().cloned()).collect()
}

/// The Rust files of a member, and its README, whose examples are tests.
fn sources(folder: &Path) -> Outcome<String> {
    let mut text = String::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs" || it == "md") {
                text.push_str(&fs::read_to_string(path)?);
            }
        }
    }
    Ok(text)
}

/// Whether the name of a crate stands in a text as a word.
fn is_mentioned(name: &str, text: &str) -> bool {
    let name = name.replace('-', "_");
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// What is there for its features, or for what another file holds: the list that `cargo-machete`
/// reads, too.
fn is_ignored(manifest: &Table, name: &str) -> bool {
    let ignored = table(manifest, &["package", "metadata", "cargo-machete"]);
    let ignored = ignored.and_then(|it| it.get("ignored")?.as_array());
    ignored.is_some_and(|it| it.iter().any(|it| it.as_str() == Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_mentioned_by_its_name_as_a_word() {
        assert!(is_mentioned("serde-json", "use serde_json::Value;"));
        assert!(is_mentioned("bytes", "use bytes::Bytes;"));
        assert!(!is_mentioned("bytes", "let bytes_max = nbytes;"));
        assert!(!is_mentioned("serde", "use serde_json::Value;"));
    }

    #[test]
    fn dependencies_of_each_kind_and_platform_are_named() {
        let manifest = "[dependencies]\na = '1'\n[dev-dependencies]\nb = '1'\n\
                        [target.'cfg(unix)'.dependencies]\nc = '1'\n\
                        [package.metadata.cargo-machete]\nignored = ['a']\n";
        let manifest: Table = toml::from_str(manifest).expect("it is TOML");
        assert_eq!(named(&manifest), ["a", "b", "c"].map(str::to_owned).into());
        assert!(is_ignored(&manifest, "a") && !is_ignored(&manifest, "b"));
    }
}
