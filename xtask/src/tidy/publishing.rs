//! Published crates have a README with a tested example, and everything that a registry shows.

use crate::metadata::{self, Package};
use crate::process::Outcome;
use std::fs;

/// The README's last paragraph begins so.
const RUST_VERSION: &str = "Rust ";
/// What crates.io accepts.
const KEYWORDS_MAX: usize = 5;
const KEYWORD_CHARACTERS_MAX: usize = 20;

/// Reports what published crates lack.
pub(super) fn check() -> Outcome<Vec<String>> {
    let mut findings = Vec::new();
    for package in metadata::read()?.packages {
        if package.is_published() {
            for finding in check_package(&package)? {
                findings.push(format!("{}: {finding}", package.name));
            }
        }
    }
    Ok(findings)
}

fn check_package(package: &Package) -> Outcome<Vec<String>> {
    let mut findings = check_manifest(package);
    let folder = package.manifest_path.parent().ok_or("no folder")?;
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let library = fs::read_to_string(folder.join("src/lib.rs"))?;
    findings.extend(check_readme(package, &readme));
    if !library.contains(r#"doc = include_str!("../README.md")"#) {
        findings.push("src/lib.rs does not test the examples of README.md".to_owned());
    }
    Ok(findings)
}

fn check_manifest(package: &Package) -> Vec<String> {
    let mut findings = Vec::new();
    let mut require = |is_there: bool, what: &str| {
        if !is_there {
            findings.push(format!("Cargo.toml has no {what}"));
        }
    };
    require(package.description.is_some(), "description");
    require(package.license.is_some(), "license");
    require(package.repository.is_some(), "repository");
    require(package.rust_version.is_some(), "rust-version");
    require(package.readme.is_some(), "readme");
    require(!package.categories.is_empty(), "categories");
    let docs = package.metadata.pointer("/docs/rs");
    require(docs.is_some(), "[package.metadata.docs.rs]");
    let is_keyword = |it: &String| it.len() <= KEYWORD_CHARACTERS_MAX && it.is_ascii();
    let count = (1..=KEYWORDS_MAX).contains(&package.keywords.len());
    require(
        count && package.keywords.iter().all(is_keyword),
        "one to five keywords of at most 20 characters",
    );
    findings
}

fn check_readme(package: &Package, readme: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut require = |is_there: bool, what: &str| {
        if !is_there {
            findings.push(format!("README.md has no {what}"));
        }
    };
    require(
        readme.starts_with(&format!("# {}\n", package.name)),
        "title",
    );
    require(readme.contains("```rust"), "example");
    require(readme.contains("Apache-2.0"), "licence");
    let version = package.rust_version.as_deref().unwrap_or_default();
    require(
        readme.contains(&format!("{RUST_VERSION}{version} or newer")),
        "line with the rust-version of Cargo.toml",
    );
    for feature in package.features.keys() {
        let is_listed = feature == "default"
            || readme.contains(&format!("`{feature}`"))
            // API groups are one row.
            || (is_group_version(feature) && readme.contains("`core-v1`"))
            || feature == "builtin"
            || feature == "pkg-version";
        require(is_listed, &format!("row for the feature {feature}"));
    }
    findings
}

/// Reports whether a feature is named after a group version, as `apps-v1beta1`.
fn is_group_version(feature: &str) -> bool {
    feature.rsplit_once("-v").is_some_and(|(_, version)| {
        version.starts_with(|it: char| it.is_ascii_digit())
            && version.bytes().all(|it| it.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_lacks_is_reported() {
        let package = serde_json::json!({
            "name": "x", "dependencies": [], "manifest_path": "/x/Cargo.toml",
            "description": "d", "license": "l", "repository": "r", "rust_version": "1.90",
            "readme": "README.md", "categories": ["c"],
            "keywords": ["a keyword that is too long"],
            "metadata": {"docs": {"rs": {}}}, "features": {"default": [], "extra": []},
        });
        let package: Package = serde_json::from_value(package).expect("the fields are there");
        let keywords = "Cargo.toml has no one to five keywords of at most 20 characters";
        assert_eq!(check_manifest(&package), [keywords]);
        let readme = "# x\n```rust\n```\nRust 1.90 or newer. Apache-2.0";
        assert_eq!(
            check_readme(&package, readme),
            ["README.md has no row for the feature extra"]
        );
        assert!(is_group_version("apps-v1beta1") && !is_group_version("extra"));
    }
}
