//! `docs/ARCHITECTURE.md` names files, folders and layers as they are, and the other pages name
//! source files that exist.

use super::files;
use crate::process::{Outcome, root};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The page.
const PAGE: &str = "docs/ARCHITECTURE.md";
/// The layers of the crates.
const LAYERS: &str = "docs/layers.toml";

#[derive(Deserialize)]
struct Layers {
    crates: BTreeMap<String, Rule>,
}

#[derive(Deserialize)]
struct Rule {
    layer: u8,
}

/// Reports files and folders that the page names and the tree does not have, and crates whose
/// layer is another, or that the page leaves out; and missing source files that other pages name.
pub(super) fn check() -> Outcome<Vec<String>> {
    let page = std::fs::read_to_string(root().join(PAGE))?;
    let layers: Layers = toml::from_str(&std::fs::read_to_string(root().join(LAYERS))?)?;
    let layers = layers
        .crates
        .into_iter()
        .map(|(name, rule)| (name, rule.layer))
        .collect();
    let files: Vec<String> = files::sources()?.into_iter().map(|it| it.0).collect();
    let mut findings = compare(&page, &files, &layers);
    for path in other_pages()? {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(root())?.to_string_lossy();
        findings.extend(missing(&name, &text, &files, is_source));
    }
    Ok(findings)
}

/// Returns the other pages. The changelog is not one: it names files of the past.
fn other_pages() -> Outcome<Vec<PathBuf>> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/decisions"] {
        pages.extend(entries(&root().join(folder))?);
    }
    for folder in entries(&root().join("crates"))? {
        pages.push(folder.join("README.md"));
    }
    pages.retain(|it| it.extension().is_some_and(|it| it == "md") && it.is_file());
    pages.retain(|it| !it.ends_with(PAGE));
    pages.sort();
    Ok(pages)
}

fn entries(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    Ok(paths)
}

/// Reports paths that a page names and the tree does not have.
fn missing(page: &str, text: &str, files: &[String], is_path: fn(&str) -> bool) -> Vec<String> {
    let exists = |path: &str| match path.strip_suffix('/') {
        Some(folder) => files.iter().any(|it| has_folder(it, folder)),
        None => files.iter().any(|it| ends_with(it, path)),
    };
    quoted(text)
        .filter(|it| is_path(it) && !exists(it))
        .map(|path| format!("{page}: there is no {path}"))
        .collect()
}

fn compare(page: &str, files: &[String], layers: &BTreeMap<String, u8>) -> Vec<String> {
    let mut findings = missing(PAGE, page, files, is_path);
    let stated: BTreeMap<&str, &str> = page.lines().flat_map(headings).collect();
    for (name, layer) in layers {
        let is_published = files
            .iter()
            .any(|it| it.starts_with(&format!("crates/{name}/src/")));
        match stated.get(name.as_str()) {
            Some(text) if !states(text, *layer) => {
                findings.push(format!("{PAGE}: {name} is in layer {layer}, not in {text}"));
            }
            None if is_published => findings.push(format!("{PAGE}: {name} is left out")),
            _ => {}
        }
    }
    findings
}

/// Returns the texts between backticks, outside of code blocks.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    let lines = page.lines().filter(move |line| {
        let fence = line.starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    });
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

fn is_path(text: &str) -> bool {
    let is_folder = text.ends_with('/') && !text.starts_with('/') && is_plain(text);
    is_folder || is_source(text)
}

fn is_source(text: &str) -> bool {
    is_plain(text) && text.rsplit_once('.').is_some_and(|it| it.1 == "rs")
}

fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|it| it.is_ascii_alphanumeric() || "_-/.".contains(it))
}

fn ends_with(file: &str, path: &str) -> bool {
    file.strip_suffix(path)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn has_folder(file: &str, folder: &str) -> bool {
    format!("/{file}").contains(&format!("/{folder}/"))
}

/// Returns the crates that a line of the code map describes: each name, and what stands in the
/// parentheses behind it.
fn headings(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((_, after)) = rest.split_once("**`") {
        let Some((name, behind)) = after.split_once("`**") else {
            break;
        };
        let inside = behind.strip_prefix(" (").and_then(|it| it.split_once(')'));
        found.extend(inside.map(|(inside, _)| (name, inside)));
        rest = behind;
    }
    found
}

/// Whether a text such as `layer 0, pure` names the layer.
fn states(text: &str, layer: u8) -> bool {
    let number = |it: &str| it.parse() == Ok(layer);
    text.split(|it: char| !it.is_ascii_digit()).any(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(page: &str) -> Vec<String> {
        let files = ["crates/cache/src/store.rs", "crates/cache/src/store/a.rs"];
        let layers = BTreeMap::from([("cache".to_owned(), 1), ("sim".to_owned(), 7)]);
        compare(page, &files.map(str::to_owned), &layers)
    }

    #[test]
    fn a_page_that_is_true_has_no_findings() {
        let page = "**`cache`** (1, pure). `cache/src/store.rs`, `store/`, `Store`, `/storage/`.";
        assert_eq!(findings(page), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_there_and_another_layer_are_findings() {
        let page = "**`cache`** (2). `tore.rs`, `gone/`\n```\n`not/read.rs`\n```";
        let expected = [
            "docs/ARCHITECTURE.md: there is no tore.rs",
            "docs/ARCHITECTURE.md: there is no gone/",
            "docs/ARCHITECTURE.md: cache is in layer 1, not in 2",
        ];
        assert_eq!(findings(page), expected);
        assert_eq!(findings(""), ["docs/ARCHITECTURE.md: cache is left out"]);
    }

    #[test]
    fn other_pages_name_source_files_that_exist() {
        let files = ["crates/cache/src/store.rs".to_owned()];
        let page = "`store.rs`, `cache/src/gone.rs`, `docs/`";
        assert_eq!(
            missing("README.md", page, &files, is_source),
            ["README.md: there is no cache/src/gone.rs"]
        );
    }
}
