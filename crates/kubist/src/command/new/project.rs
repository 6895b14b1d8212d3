//! The files of a new project, from their templates.

use super::names::Names;
use std::path::PathBuf;

/// What becomes source code: its file, and the template.
const SOURCES: [(&str, &str); 5] = [
    ("src/kind.rs", include_str!("templates/kind.rs.template")),
    ("src/main.rs", include_str!("templates/main.rs.template")),
    (
        "src/manifests.rs",
        include_str!("templates/manifests.rs.template"),
    ),
    (
        "src/operator.rs",
        include_str!("templates/operator.rs.template"),
    ),
    ("src/tests.rs", include_str!("templates/tests.rs.template")),
];

/// The rest.
const OTHERS: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("templates/Cargo.toml.template")),
    ("Dockerfile", include_str!("templates/Dockerfile.template")),
    ("README.md", include_str!("templates/README.md.template")),
    (
        ".dockerignore",
        include_str!("templates/dockerignore.template"),
    ),
    (".gitignore", include_str!("templates/gitignore.template")),
];

/// Where the project's dependency comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// The repository.
    Repository,
    /// The folder of the crate `kubist` on this machine.
    Checkout(PathBuf),
}

impl Source {
    /// Returns it as a part of a dependency in a manifest.
    fn dependency(&self) -> String {
        match self {
            Self::Repository => format!("git = {:?}", env!("CARGO_PKG_REPOSITORY")),
            Self::Checkout(folder) => format!("path = {}", quoted(&folder.to_string_lossy())),
        }
    }
}

/// Returns a string as TOML: quoted, with what TOML does not take as it is escaped.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            it if it.is_control() => quoted.extend(format!("\\u{:04X}", u32::from(it)).chars()),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the files of a project: where they are in it, and their text.
pub(super) fn files(names: &Names, source: &Source) -> Vec<(&'static str, String)> {
    let values = [
        ("{{name}}", names.name.clone()),
        ("{{kind}}", names.kind.clone()),
        ("{{singular}}", names.singular()),
        ("{{group}}", names.group.clone()),
        ("{{source}}", source.dependency()),
    ];
    let fill = |template: &&str| {
        let values = values.iter();
        values.fold((*template).to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    };
    let files = SOURCES.iter().chain(&OTHERS);
    files.map(|(file, text)| (*file, fill(text))).collect()
}

/// Reports whether a word is in the code of every project, where a kind of this name would hide
/// what it means. Comments and strings do not count.
pub(super) fn has_word(word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let is_in = |code: &str| code.split(|it| !is_part(it)).any(|it| it == word);
    let mut lines = SOURCES.iter().flat_map(|(_, text)| text.lines());
    lines.any(|line| {
        let code = line.split("//").next().unwrap_or_default();
        code.split('"').step_by(2).any(is_in)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_as_toml() {
        let text = quoted("C:\\a \"b\"\n/ü");
        assert_eq!(text, "\"C:\\\\a \\\"b\\\"\\u000A/ü\"");
    }

    #[test]
    fn only_code_has_words_that_a_kind_would_hide() {
        for word in ["Deployment", "Lister", "Error", "Option", "Result"] {
            assert!(has_word(word), "{word}");
        }
        for word in ["Image", "PodsReady", "Pods", "Website", "Database"] {
            assert!(!has_word(word), "{word}");
        }
    }
}
