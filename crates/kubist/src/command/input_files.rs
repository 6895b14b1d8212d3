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
/// A folder cannot be read, has no such file or one that is not regular, or is too deep; or there
/// are too many files.
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
        collect(path, depth, recursive, extensions, &mut files)?;
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
    recursive: bool,
    extensions: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<(), Box<dyn Error>> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut entries = Vec::new();
    for entry in folder.read_dir().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.path(), entry.file_type().map_err(failed)?));
    }
    entries.sort_by(|one, two| one.0.cmp(&two.0));
    for (path, file_type) in entries {
        let extension = path.extension().and_then(|it| it.to_str());
        // A link to a folder is not followed: it may lead in circles.
        let is_folder_behind_link = || file_type.is_symlink() && path.is_dir();
        if file_type.is_dir() {
            match depth.checked_sub(1) {
                Some(depth) => collect(&path, depth, recursive, extensions, files)?,
                None if recursive => {
                    let name = path.display();
                    return Err(format!("{name}: below more than {DEPTH_MAX} folders").into());
                }
                None => {}
            }
        } else if extension.is_some_and(|it| extensions.contains(&it)) && !is_folder_behind_link() {
            if !path.is_file() {
                return Err(format!("{}: not a regular file", path.display()).into());
            }
            if files.len() == FILES_MAX {
                return Err(format!("more than {FILES_MAX} files").into());
            }
            files.push(path);
        }
    }
    Ok(())
}
