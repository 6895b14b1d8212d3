//! The files that `-f` names: files, and what is in folders, as kubectl reads them.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The extensions of manifests, as kubectl's.
pub(super) const MANIFESTS: [&str; 3] = ["json", "yaml", "yml"];
/// The most files of one call.
const FILES_MAX: usize = 100_000;
/// The deepest folder below one that is named.
const DEPTH_MAX: usize = 100;

/// Returns the files: those that are named, and, of folders, the files with one of the extensions,
/// by name. `-` stays as it is.
///
/// # Errors
/// A folder cannot be read or has no such file, or there are too many files.
pub(super) fn input_files(
    named: &[PathBuf],
    recursive: bool,
    extensions: &[&str],
) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        let depth = if recursive { DEPTH_MAX } else { 0 };
        collect(path, depth, extensions, &mut files)?;
        if files.len() == before {
            let name = path.display();
            let all = extensions.join(", ");
            let hint = if recursive {
                ""
            } else {
                "; -R looks in the folders below, too"
            };
            return Err(format!("{name}: no file with one of the extensions {all}{hint}").into());
        }
    }
    Ok(files)
}

fn collect(
    folder: &Path,
    depth: usize,
    extensions: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<(), Box<dyn Error>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A link to a folder is not followed: it may lead in circles.
        entries.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
    }
    entries.sort();
    for (path, is_folder) in entries {
        let extension = path.extension().and_then(|it| it.to_str());
        if is_folder {
            if let Some(depth) = depth.checked_sub(1) {
                collect(&path, depth, extensions, files)?;
            }
        } else if extension.is_some_and(|it| extensions.contains(&it)) {
            if files.len() == FILES_MAX {
                return Err(format!("more than {FILES_MAX} files").into());
            }
            files.push(path);
        }
    }
    Ok(())
}
