//! Structural checks of the whole tree. `cargo test` runs them; CI has no others.

mod architecture;
mod circles;
mod contracts;
mod dependencies;
mod features;
mod files;
mod layers;
mod publishing;

use crate::process::Outcome;

/// Runs all checks and prints every finding.
pub(crate) fn run() -> Outcome {
    let mut findings = layers::check()?;
    findings.extend(files::check()?);
    findings.extend(contracts::check()?);
    findings.extend(dependencies::check()?);
    findings.extend(architecture::check()?);
    findings.extend(circles::check()?);
    findings.extend(features::check()?);
    findings.extend(publishing::check()?);
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    Err(format!("{} findings", findings.len()).into())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_edge_between_crates_is_allowed_by_the_layers() {
        let findings = super::layers::check().expect("cargo metadata is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn every_file_keeps_the_rules_of_the_house() {
        let findings = super::files::check().expect("the tree is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn every_dependency_is_used_by_somebody() {
        let findings = super::dependencies::check().expect("the manifests are readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn the_page_of_the_architecture_agrees_with_the_tree() {
        let findings = super::architecture::check().expect("the page is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn no_folders_of_a_crate_import_each_other() {
        let findings = super::circles::check().expect("the tree is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn the_facade_has_every_api_group_and_few_dependencies() {
        let findings = super::features::check().expect("cargo tree is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn every_published_crate_has_a_readme_and_what_a_registry_shows() {
        let findings = super::publishing::check().expect("the manifests are readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn every_contract_is_cited_by_a_test() {
        let findings = super::contracts::check().expect("the tree is readable");
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }
}
