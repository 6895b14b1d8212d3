//! Circles: sibling folders of a crate whose files import each other, directly or through others.
//!
//! A module file `a.rs` belongs to its folder `a/`. An import counts from the file that has it to
//! the file that defines the name, whatever re-exports lie between. Imports between a module and
//! the modules below it do not count, nor do those between two files of one folder. Test modules
//! are not read.

mod imports;

use super::files::sources;
use crate::process::Outcome;
use imports::Source;
use std::collections::{BTreeMap, BTreeSet};

/// A module as its path from the crate root; the root is empty.
type Module = Vec<String>;

/// Returns the circles of every crate.
pub(super) fn check() -> Outcome<Vec<String>> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for (name, file) in sources()? {
        let Some((krate, path)) = name.split_once("/src/") else {
            continue;
        };
        if let Some(module) = module_of(path) {
            let source = Source::read(&std::fs::read_to_string(file)?);
            let modules = &mut crates.entry(krate.to_owned()).or_default().modules;
            modules.entry(module).or_default().extend(source);
        }
    }
    let findings = crates.iter().flat_map(|(name, krate)| {
        let circles = krate.circles().into_iter();
        circles.map(move |circle| format!("{name}/src: {circle}"))
    });
    Ok(findings.collect())
}

/// Returns the module of a file below `src`; none for tests, binaries and generated code.
fn module_of(path: &str) -> Option<Module> {
    let module: Module = path
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    let is_read = |part: &String| !matches!(part.as_str(), "tests" | "bin" | "generated");
    match module.as_slice() {
        [root] if root == "lib" || root == "main" => Some(Module::new()),
        parts => parts.iter().all(is_read).then_some(module),
    }
}

/// The modules of one crate.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Module, Source>,
}

/// The imports among the children of one module: from, to, and an example of each.
type Edges = BTreeMap<(String, String), String>;

impl Crate {
    fn circles(&self) -> Vec<String> {
        let mut by_parent: BTreeMap<Module, Edges> = BTreeMap::new();
        for (from, source) in &self.modules {
            for path in &source.imports {
                let Some(to) = self.definition(from, path, REEXPORTS_MAX) else {
                    continue;
                };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(here), Some(there)) = (from.get(shared), to.get(shared)) {
                    let example = format!("{} imports {}", from.join("/"), to.join("/"));
                    let edges = by_parent.entry(from[..shared].to_vec()).or_default();
                    edges
                        .entry((here.clone(), there.clone()))
                        .or_insert(example);
                }
            }
        }
        let circles = by_parent.iter().flat_map(|(parent, edges)| {
            circles(edges).into_iter().filter_map(|circle| {
                let folders = self.folders_in(parent, &circle);
                (folders.len() > 1).then(|| describe(&folders, &circle, edges))
            })
        });
        circles.collect()
    }

    /// Keeps the names of those children that have children of their own.
    fn folders_in(&self, parent: &[String], children: &BTreeSet<String>) -> BTreeSet<String> {
        let is_folder = |child: &String| {
            self.modules.keys().any(|module| {
                module.len() > parent.len() + 1
                    && module.starts_with(parent)
                    && module[parent.len()] == *child
            })
        };
        children
            .iter()
            .filter(|it| is_folder(it))
            .cloned()
            .collect()
    }

    /// Returns the module whose file defines what `path`, written in `from`, leads to; none if it
    /// is outside the crate.
    fn definition(&self, from: &[String], path: &[String], reexports_max: u32) -> Option<Module> {
        let (mut module, mut rest) = self.start(from, path)?;
        while let [name, after @ ..] = rest {
            let mut child = module.clone();
            child.push(name.clone());
            if !self.modules.contains_key(&child) {
                break;
            }
            (module, rest) = (child, after);
        }
        let Some(name) = rest.first() else {
            return Some(module);
        };
        let source = self.modules.get(&module)?;
        if reexports_max == 0 || source.definitions.contains(name) {
            return Some(module);
        }
        let further = reexports_max - 1;
        if let Some(exported) = source.names.get(name).filter(|it| *it != path) {
            let mut exported = exported.clone();
            exported.extend_from_slice(&rest[1..]);
            return self
                .definition(&module, &exported, further)
                .or(Some(module));
        }
        let globbed = source.globs.iter().find_map(|glob| {
            let module = self.definition(&module, glob, further)?;
            let source = self.modules.get(&module)?;
            (source.definitions.contains(name) || source.names.contains_key(name)).then_some(module)
        });
        globbed.or(Some(module))
    }

    /// Splits a path into the module that it starts from and the rest.
    fn start<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Module, &'p [String])> {
        match path.first()?.as_str() {
            "crate" => Some((Module::new(), &path[1..])),
            "self" => Some((from.to_vec(), &path[1..])),
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                let module = from.get(..from.len().checked_sub(up)?)?;
                Some((module.to_vec(), &path[up..]))
            }
            name => {
                let mut child = from.to_vec();
                child.push(name.to_owned());
                self.modules
                    .contains_key(&child)
                    .then(|| (from.to_vec(), path))
            }
        }
    }
}

/// How many re-exports a name may go through.
const REEXPORTS_MAX: u32 = 8;

/// Returns the sets of children that reach each other.
fn circles(edges: &Edges) -> Vec<BTreeSet<String>> {
    let children: BTreeSet<&String> = edges.keys().map(|(from, _)| from).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> = children
        .iter()
        .map(|&child| (child, reachable(child, edges)))
        .collect();
    let reaches = |from: &String, to: &String| reached.get(from).is_some_and(|it| it.contains(to));
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for &child in &children {
        if !reaches(child, child) || found.iter().any(|circle| circle.contains(child)) {
            continue;
        }
        let others = children.iter().copied();
        let circle = others.filter(|&it| reaches(child, it) && reaches(it, child));
        found.push(circle.cloned().collect());
    }
    found
}

fn reachable<'e>(start: &'e String, edges: &'e Edges) -> BTreeSet<&'e String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![start];
    while let Some(child) = open.pop() {
        for (from, to) in edges.keys() {
            if from == child && seen.insert(to) {
                open.push(to);
            }
        }
    }
    seen
}

fn describe(folders: &BTreeSet<String>, circle: &BTreeSet<String>, edges: &Edges) -> String {
    let names: Vec<&str> = folders.iter().map(String::as_str).collect();
    let examples: Vec<&str> = edges
        .iter()
        .filter(|((from, to), _)| circle.contains(from) && circle.contains(to))
        .map(|(_, example)| example.as_str())
        .take(EXAMPLES_MAX)
        .collect();
    format!(
        "the folders {} import each other: {}",
        names.join(", "),
        examples.join("; ")
    )
}

/// How many imports a finding names.
const EXAMPLES_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let modules = files.iter().map(|(path, text)| {
            let module = module_of(path).expect("the file is read");
            (module, Source::read(text))
        });
        let krate = Crate {
            modules: modules.collect(),
        };
        krate.circles()
    }

    #[test]
    fn sibling_folders_that_import_each_other_are_a_circle() {
        let found = circles_of(&[
            ("lib.rs", "pub use a::one::One;\nmod a; mod b;"),
            ("a.rs", "pub(crate) mod one;"),
            ("a/one.rs", "use crate::b::two::{Two, other};\nstruct One;"),
            ("b.rs", "pub(crate) mod two;"),
            ("b/two.rs", "use crate::One;\nstruct Two;"),
        ]);
        let expected =
            "the folders a, b import each other: a/one imports b/two; b/two imports a/one";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn parents_files_of_one_folder_and_tests_are_no_circle() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "mod one;\npub use one::One;\nstruct Mine;"),
            (
                "a/one.rs",
                "use super::Mine;\nuse crate::b::B;\nstruct One;",
            ),
            ("b.rs", "use crate::c::C;\nstruct B;"),
            ("c.rs", "use crate::b::B;\nstruct C;"),
            (
                "c/d.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::a::Mine;\n}",
            ),
        ]);
        assert_eq!(found, [] as [String; 0]);
    }

    #[test]
    fn a_path_within_the_code_is_an_import() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod one;\nfn a() { crate::b::two::go() }"),
            ("a/one.rs", ""),
            ("b.rs", "mod two;"),
            (
                "b/two.rs",
                "/// See [`crate::a`].\nfn go() { super::super::a::a() }",
            ),
        ]);
        assert_eq!(found.len(), 1);
    }
}
