//! The pages of `docs/guide`: all of them are compiled, their links lead somewhere, and what they
//! quote is in the files that they name.
//!
//! `<!-- quote PATH -->` before a block names the file, relative to the root. A line `// …` stands
//! for what is left out. In a template, the names are those of the first operator.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path));
    text.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the pages by name.
fn pages() -> Vec<(String, String)> {
    let mut names: Vec<String> = std::fs::read_dir(root().join("docs/guide"))
        .expect("there is a guide")
        .map(|it| it.expect("it can be read").file_name())
        .map(|it| it.into_string().expect("it is text"))
        .collect();
    names.sort();
    assert!(names.len() > 1, "{names:?}");
    let page = |name: String| {
        let text = read(&format!("docs/guide/{name}"));
        (name, text)
    };
    names.into_iter().map(page).collect()
}

/// A block of a page.
struct Block<'a> {
    language: &'a str,
    /// The file that it is quoted from.
    quoted: Option<&'a str>,
    lines: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut quoted = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|it| *it != "```").collect();
            blocks.push(Block {
                language,
                quoted: quoted.take(),
                lines,
            });
        } else if let Some(rest) = line.strip_prefix("<!-- quote ") {
            quoted = rest.strip_suffix(" -->");
            assert!(quoted.is_some(), "{line}");
        } else {
            assert!(quoted.is_none(), "no block follows the quote of {quoted:?}");
        }
    }
    blocks
}

/// Returns the text of a file as a page quotes it.
fn source(path: &str) -> String {
    let repository = "git = \"https://github.com/kubist-rs/kubist\"";
    read(path)
        .replace("{{source}}", repository)
        .replace("{{name}}", "first-operator")
}

#[test]
fn what_is_quoted_is_in_its_file() {
    let mut quotes = 0;
    for (name, page) in pages() {
        for block in blocks(&page) {
            let Some(path) = block.quoted else {
                continue;
            };
            quotes += 1;
            let text = source(path);
            let lines: Vec<&str> = text.lines().collect();
            let mut from = 0;
            let parts = block.lines.split(|it| it.trim() == "// …");
            // A quote may end with what it leaves out.
            for part in parts.filter(|it| !it.is_empty()) {
                let found = lines[from..].windows(part.len()).position(|it| it == part);
                let part = part.join("\n");
                let found = found.unwrap_or_else(|| panic!("{name}: not in {path}:\n{part}"));
                from += found + part.lines().count();
            }
        }
    }
    assert!(quotes > 15, "{quotes} quotes");
}

#[test]
fn code_of_this_project_is_compiled_or_quoted() {
    let compiled = include_str!("../src/lib.rs");
    for (name, page) in pages() {
        let is_compiled = compiled.contains(&format!("docs/guide/{name}\")]"));
        for block in blocks(&page) {
            match block.language {
                "rust" | "rust,no_run" => assert!(is_compiled, "{name} is not in the tests"),
                "rs" | "toml" | "dockerfile" => {
                    let first = block.lines.first();
                    assert!(
                        block.quoted.is_some(),
                        "{name}: a block without a source: {first:?}"
                    );
                }
                "sh" | "text" => {}
                other => panic!("{name}: a block of {other:?}"),
            }
        }
    }
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for (name, page) in pages() {
        for link in page.split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.starts_with("https://") {
                continue;
            }
            links += 1;
            let file = link.split('#').next().unwrap_or_default();
            let path = root().join("docs/guide").join(file);
            assert!(path.exists(), "{name}: {link}");
        }
    }
    assert!(links > 20, "{links} links");
}

#[test]
fn the_plugins_of_the_page_for_administrators_are_those_of_the_server() {
    let page = read("docs/guide/10-administering.md");
    let row = |what: &str| -> Vec<&str> {
        let start = format!("| {what} | ");
        let mut lines = page.lines();
        let line = lines.find_map(|it| it.strip_prefix(start.as_str()));
        let names = line.expect("the row is there").split('`');
        names.skip(1).step_by(2).collect()
    };
    for (what, is_on) in [("on", true), ("off", false)] {
        let names = kubist::PluginSelection::available().filter(|it| it.1 == is_on);
        let names: Vec<_> = names.map(|it| it.0).collect();
        assert_eq!(row(what), names, "{what}");
    }
    for missing in row("not there") {
        let refused = kubist::PluginSelection::new(&[missing.to_owned()], &[]);
        let why = refused.expect_err(missing).to_string();
        assert!(why.ends_with("is not available in this server"), "{why}");
    }
}
