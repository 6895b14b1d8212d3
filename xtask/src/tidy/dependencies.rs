//! Unused dependencies: in the workspace table, in a member's manifest, and on crates that do not
//! exist.

use super::files;
use crate::metadata::{self, Package};
use crate::process::{Outcome, root};
use std::collections::BTreeSet;
use std::fs;
use toml::{Table, Value};

/// Reports unused dependencies.
pub(super) fn check() -> Outcome<Vec<String>> {
    let root = root();
    let mut findings = Vec::new();
    let mut taken = BTreeSet::new();
    let sources = files::sources()?;
    for package in metadata::read()?.packages {
        let folder = package.manifest_path.parent().unwrap_or(&root);
        let mut text = String::new();
        for (_, file) in sources.iter().filter(|(_, file)| file.starts_with(folder)) {
            text.push_str(&fs::read_to_string(file)?);
        }
        for dependency in &package.dependencies {
            let name = &dependency.name;
            if !is_mentioned(name, &text) && !is_ignored(&package, name) {
                let at = folder.strip_prefix(&root).unwrap_or(folder).display();
                findings.push(format!("{at}/Cargo.toml: nothing mentions {name}"));
            }
            taken.insert(name.clone());
        }
    }
    let workspace: Table = toml::from_str(&fs::read_to_string(root.join("Cargo.toml"))?)?;
    let offered = workspace["workspace"]["dependencies"].as_table();
    for (name, facts) in offered.into_iter().flatten() {
        if !taken.contains(name) {
            findings.push(format!("Cargo.toml: no member takes {name}"));
        }
        if let Some(path) = facts.get("path").and_then(Value::as_str)
            && !root.join(path).join("Cargo.toml").is_file()
        {
            findings.push(format!("Cargo.toml: there is no crate at {path}"));
        }
    }
    Ok(findings)
}

/// Reports whether the name of a crate is a word of a text.
fn is_mentioned(name: &str, text: &str) -> bool {
    let name = name.replace('-', "_");
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(&name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Reports whether the manifest excepts a dependency, by the list that `cargo-machete` reads, too.
fn is_ignored(package: &Package, name: &str) -> bool {
    let ignored = package.metadata.pointer("/cargo-machete/ignored");
    let ignored = ignored.and_then(serde_json::Value::as_array);
    ignored.is_some_and(|it| it.iter().any(|it| it == name))
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
    fn a_member_says_what_it_takes_without_a_word() {
        let package = serde_json::json!({
            "name": "x", "dependencies": [], "manifest_path": "/x/Cargo.toml",
            "metadata": {"cargo-machete": {"ignored": ["a"]}},
        });
        let package: Package = serde_json::from_value(package).expect("it is one");
        assert!(is_ignored(&package, "a") && !is_ignored(&package, "b"));
    }
}
