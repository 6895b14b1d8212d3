//! `Folder`: the folder of generated files. Other files in it are not touched.

use kubist_codegen::MARKER;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

/// The file of the module that has all others.
const TOP: &str = "mod.rs";
/// Within how many lines the mark of a generated file is.
const MARKER_LINES: usize = 8;
/// The depth of folders with generated files.
const DEPTH: usize = 3;

/// The folder of generated files.
pub(super) struct Folder {
    root: PathBuf,
    /// The file of the module that has all others.
    top: PathBuf,
}

/// How a file in the folder differs from what is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    Missing,
    Changed,
    /// It was generated, and is not any more.
    Obsolete,
}

impl Folder {
    /// Takes the path of a folder, in which the module that has all others is `mod.rs`, or of the
    /// file of that module, which has the others in the folder of its name.
    pub(super) fn new(out: PathBuf) -> Self {
        if out.extension().is_some_and(|it| it == "rs") {
            return Self {
                root: out.with_extension(""),
                top: out,
            };
        }
        Self {
            top: out.join(TOP),
            root: out,
        }
    }

    /// Returns the path of a generated file.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        if file == TOP {
            return self.top.clone();
        }
        self.root.join(file)
    }

    /// Returns the files that differ, in their order.
    pub(super) fn differences(
        &self,
        files: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, Difference>, Box<dyn Error>> {
        let mut differences = BTreeMap::new();
        for (file, text) in files {
            let path = self.path(file);
            let difference = match std::fs::read(&path) {
                Ok(found) if found == text.as_bytes() => continue,
                // A call that was interrupted may have left an empty one.
                Ok(found) if !found.is_empty() && !is_generated(&path).unwrap_or_default() => {
                    let path = path.display();
                    return Err(format!("{path} was not generated; choose another folder").into());
                }
                Ok(_) => Difference::Changed,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Difference::Missing,
                Err(error) => return Err(format!("{}: {error}", path.display()).into()),
            };
            differences.insert(file.clone(), difference);
        }
        let mut found = Vec::new();
        generated(&self.root, "", DEPTH, &mut found)
            .map_err(|error| format!("{}: {error}", self.root.display()))?;
        for file in found.into_iter().filter(|it| !files.contains_key(it)) {
            differences.insert(file, Difference::Obsolete);
        }
        Ok(differences)
    }

    /// Writes and removes what differs.
    pub(super) fn apply(
        &self,
        files: &BTreeMap<String, String>,
        differences: &BTreeMap<String, Difference>,
    ) -> Result<(), Box<dyn Error>> {
        for file in differences.keys() {
            let path = self.path(file);
            let done = match (files.get(file), path.parent()) {
                (Some(text), Some(parent)) => {
                    std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text))
                }
                _ => std::fs::remove_file(&path),
            };
            done.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// Adds the generated files of a folder, which may be absent.
fn generated(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let Some(name) = path.file_name().and_then(|it| it.to_str()) else {
            continue; // Generated files have names in ASCII.
        };
        // Links may lead to the files of others, or nowhere, as the locks of editors.
        if kind.is_dir() {
            if depth > 1 {
                generated(&path, &format!("{prefix}{name}/"), depth - 1, found)?;
            }
        } else if kind.is_file()
            && path.extension().is_some_and(|it| it == "rs")
            && is_generated(&path)?
        {
            found.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

fn is_generated(path: &Path) -> io::Result<bool> {
    let lines = BufReader::new(std::fs::File::open(path)?).lines();
    for line in lines.take(MARKER_LINES) {
        match line {
            Ok(line) if line == MARKER => return Ok(true),
            Ok(_) => {}
            Err(_) => return Ok(false), // It is no text.
        }
    }
    Ok(false)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_not_followed_and_an_empty_file_is_written_again() {
        let all = tempfile::tempdir().expect("a folder");
        let (ours, theirs) = (all.path().join("ours"), all.path().join("theirs"));
        fs::create_dir_all(&ours).expect("a folder");
        fs::create_dir_all(&theirs).expect("a folder");
        let text = format!("{MARKER}\n");
        fs::write(theirs.join("fig.rs"), &text).expect("a file");
        symlink(&theirs, ours.join("link")).expect("a link");
        symlink("name@host.1:2", ours.join(".#mod.rs")).expect("a link");
        fs::write(ours.join("mod.rs"), "").expect("a file");
        fs::write(ours.join("old.rs"), &text).expect("a file");
        let files = BTreeMap::from([("mod.rs".to_owned(), text)]);
        let differences = Folder::new(ours)
            .differences(&files)
            .expect("they are read");
        let expected = [
            ("mod.rs", Difference::Changed),
            ("old.rs", Difference::Obsolete),
        ];
        let expected = expected.map(|(name, it)| (name.to_owned(), it));
        assert_eq!(differences, BTreeMap::from(expected));
    }
}
