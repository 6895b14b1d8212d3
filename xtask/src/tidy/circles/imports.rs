//! `Source`: what a Rust file imports, re-exports and defines, read from its text.

use std::collections::{BTreeMap, BTreeSet};

/// A path as its segments.
pub(super) type Path = Vec<String>;

/// The names of one file that matter to its place in the crate.
#[derive(Default)]
pub(super) struct Source {
    /// Every path in a `use`, and every path in the code that starts with `crate` or `super`.
    pub(super) imports: Vec<Path>,
    /// What a `use` brings in or re-exports, by its name here.
    pub(super) names: BTreeMap<String, Path>,
    /// The modules of `use module::*`.
    pub(super) globs: Vec<Path>,
    /// The names of items in the file.
    pub(super) definitions: BTreeSet<String>,
}

/// The keywords before the name of an item.
const ITEMS: [&str; 9] = [
    "const",
    "enum",
    "fn",
    "macro_rules",
    "static",
    "struct",
    "trait",
    "type",
    "union",
];

impl Source {
    /// Reads a file, without its comments and its test module.
    pub(super) fn read(text: &str) -> Self {
        let mut source = Self::default();
        let mut statement = String::new();
        let mut code = String::new();
        let mut after_cfg_test = false;
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or_default().trim();
            if after_cfg_test && line.starts_with("mod ") && line.ends_with('{') {
                break;
            }
            let skipped = after_cfg_test && line.ends_with(';');
            if !line.is_empty() {
                after_cfg_test = line == "#[cfg(test)]";
            }
            if statement.is_empty() && (skipped || !is_use(line)) {
                code.push_str(line);
                code.push('\n');
                continue;
            }
            statement.push_str(line);
            if let Some(tree) = statement.strip_suffix(';') {
                let tree = tree.split_once("use ").map_or("", |(_, tree)| tree);
                source.add_tree(&Path::new(), tree);
                statement.clear();
            }
        }
        source.add_code(&code);
        source
    }

    /// Adds what another file of the same module has.
    pub(super) fn extend(&mut self, other: Self) {
        self.imports.extend(other.imports);
        self.names.extend(other.names);
        self.globs.extend(other.globs);
        self.definitions.extend(other.definitions);
    }

    fn add_tree(&mut self, before: &[String], tree: &str) {
        if let Some((head, group)) = tree.split_once('{') {
            let mut path = before.to_vec();
            path.extend(segments(head));
            let group = group.trim_end().strip_suffix('}').unwrap_or(group);
            for item in items(group) {
                self.add_tree(&path, item);
            }
            return;
        }
        let (name, alias) = match tree.split_once(" as ") {
            Some((name, alias)) => (name, Some(alias.trim().to_owned())),
            None => (tree, None),
        };
        let mut path = before.to_vec();
        path.extend(segments(name));
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let Some(last) = path.last().cloned() else {
            return;
        };
        if last == "*" {
            path.pop();
            self.globs.push(path.clone());
        } else {
            self.names.insert(alias.unwrap_or(last), path.clone());
        }
        self.imports.push(path);
    }

    fn add_code(&mut self, code: &str) {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let words = || {
            code.split(|it| !is_word(it))
                .filter(|word| !word.is_empty())
        };
        for (keyword, name) in words().zip(words().skip(1)) {
            if ITEMS.contains(&keyword) {
                self.definitions.insert(name.to_owned());
            }
        }
        let paths = code.split(|it| !is_word(it) && it != ':');
        for path in paths.filter(|it| it.starts_with("crate::") || it.starts_with("super::")) {
            self.imports.push(segments(path).collect());
        }
    }
}

fn is_use(line: &str) -> bool {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, it)| it),
        Some(rest) => rest,
        None => line,
    };
    line.trim_start().starts_with("use ")
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    path.split("::")
        .map(|segment| segment.trim().to_owned())
        .filter(|segment| !segment.is_empty())
}

/// Splits a group at the commas that are not within a group of its own.
fn items(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0_u32, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&group[start..]);
    items.retain(|item| !item.trim().is_empty());
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_aliases_globs_and_definitions_are_read() {
        let source = Source::read(
            "use super::{a::B, c::{self, D as E}};\npub(crate) use f::*;\nstruct G;\n",
        );
        let path = |text: &str| segments(text).collect::<Path>();
        let expected = ["super::a::B", "super::c", "super::c::D", "f"].map(path);
        assert_eq!(source.imports, expected);
        assert_eq!(source.names["E"], path("super::c::D"));
        assert_eq!(source.globs, [path("f")]);
        assert!(source.definitions.contains("G"));
    }
}
