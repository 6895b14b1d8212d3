//! Reading and writing the archives of copies. It blocks, and so runs on a thread of its own.

use super::{Copied, CopyError, CopyOptions};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tar::{Archive, Builder, EntryType};

/// The most paths that are reported as left out.
const SKIPPED_MAX: usize = 1_000;

/// How much may be copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    bytes: u64,
    entries: u64,
}

impl Limit {
    pub(super) fn of(options: &CopyOptions) -> Self {
        Self {
            bytes: options.bytes_max,
            entries: options.entries_max,
        }
    }

    /// Counts a file or folder.
    fn take(&mut self, bytes: u64) -> Result<(), CopyError> {
        let too_much = |limit: String| Err(CopyError::TooMuch { limit });
        let Some(entries) = self.entries.checked_sub(1) else {
            return too_much("the allowed number of files".to_owned());
        };
        let Some(left) = self.bytes.checked_sub(bytes) else {
            return too_much(format!(
                "the allowed bytes, of which {} are left",
                self.bytes
            ));
        };
        (self.entries, self.bytes) = (entries, left);
        Ok(())
    }
}

impl Copied {
    fn skip(&mut self, path: &Path) {
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(path.display().to_string());
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |source| CopyError::Io {
        path,
        source: Arc::new(source),
    }
}

/// Unpacks an archive of one file or folder to `to`.
pub(super) fn unpack(
    stream: &mut impl Read,
    to: &Path,
    mut limit: Limit,
) -> Result<Copied, CopyError> {
    let mut copied = Copied::default();
    let broken = || io_error(Path::new("the archive"));
    let mut archive = Archive::new(stream);
    for entry in archive.entries().map_err(broken())? {
        let mut entry = entry.map_err(broken())?;
        let path = entry.path().map_err(broken())?.into_owned();
        let Some(target) = target_of(&path, to) else {
            copied.skip(&path);
            continue;
        };
        match entry.header().entry_type() {
            EntryType::Directory => {
                limit.take(0)?;
                fs::create_dir_all(&target).map_err(io_error(&target))?;
            }
            EntryType::Regular | EntryType::Continuous => {
                limit.take(entry.size())?;
                if let Some(folder) = target.parent() {
                    fs::create_dir_all(folder).map_err(io_error(folder))?;
                }
                let mode = entry.header().mode().ok();
                let mut file = File::create(&target).map_err(io_error(&target))?;
                let written = io::copy(&mut entry, &mut file).map_err(io_error(&target))?;
                set_mode(&file, mode).map_err(io_error(&target))?;
                copied.files += 1;
                copied.bytes += written;
            }
            _ => copied.skip(&path),
        }
    }
    Ok(copied)
}

/// Returns where an entry goes: below `to`, without the first name, which is that of what was
/// copied. `None` for a path that leads elsewhere.
fn target_of(path: &Path, to: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name),
            _ => return None,
        }
    }
    let mut target = to.to_owned();
    target.extend(parts.into_iter().skip(1));
    Some(target)
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    // Without the bits that give other users' rights.
    let mode = mode.map(|it| it & 0o777);
    mode.map_or(Ok(()), |mode| {
        file.set_permissions(fs::Permissions::from_mode(mode))
    })
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn set_mode(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Packs a file or folder under another name.
pub(super) fn pack(
    stream: &mut impl Write,
    from: &Path,
    name: &Path,
    mut limit: Limit,
) -> Result<Copied, CopyError> {
    let mut copied = Copied::default();
    let mut builder = Builder::new(stream);
    builder.follow_symlinks(false);
    let mut left = vec![(from.to_owned(), name.to_owned())];
    while let Some((path, name)) = left.pop() {
        let facts = fs::symlink_metadata(&path).map_err(io_error(&path))?;
        if facts.is_dir() {
            limit.take(0)?;
            builder.append_dir(&name, &path).map_err(io_error(&path))?;
            for item in fs::read_dir(&path).map_err(io_error(&path))? {
                let item = item.map_err(io_error(&path))?;
                left.push((item.path(), name.join(item.file_name())));
            }
        } else if facts.is_file() {
            limit.take(facts.len())?;
            let mut file = File::open(&path).map_err(io_error(&path))?;
            let appended = builder.append_file(&name, &mut file);
            appended.map_err(io_error(&path))?;
            copied.files += 1;
            copied.bytes += facts.len();
        } else {
            copied.skip(&path);
        }
    }
    let finished = builder.into_inner().and_then(Write::flush);
    finished.map_err(io_error(from))?;
    Ok(copied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const LIMIT: Limit = Limit {
        bytes: 1_000,
        entries: 10,
    };

    fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    /// An archive with entries as they are, however malicious.
    fn archive(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, content) in entries {
            let mut header = tar::Header::new_gnu();
            let name = &mut header.as_old_mut().name;
            name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o4755);
            if kind.is_symlink() {
                header.set_link_name(content).expect("a link");
                header.set_size(0);
            } else {
                header.set_size(content.len() as u64);
            }
            header.set_cksum();
            let content = if kind.is_symlink() { "" } else { content };
            builder
                .append(&header, content.as_bytes())
                .expect("an entry");
        }
        builder.into_inner().expect("an archive")
    }

    #[test]
    fn entries_stay_in_their_folder_and_links_are_not_made() {
        let to = folder();
        let bytes = archive(&[
            ("./app", EntryType::Directory, ""),
            ("./app/a", EntryType::Regular, "1"),
            ("./app/../../b", EntryType::Regular, "2"),
            ("/app/c", EntryType::Regular, "3"),
            ("./app/link", EntryType::Symlink, "/etc"),
            ("./app/link/d", EntryType::Regular, "4"),
        ]);
        let into = to.path().join("into");
        let copied = unpack(&mut &*bytes, &into, LIMIT).expect("it is unpacked");
        assert_eq!(copied.files, 2);
        assert_eq!(copied.skipped, ["./app/../../b", "/app/c", "./app/link"]);
        assert_eq!(fs::read(into.join("a")).expect("a file"), b"1");
        assert!(into.join("link").is_dir() && into.join("link/d").is_file());
        assert!(!to.path().join("b").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(into.join("a"))
                .expect("a file")
                .permissions()
                .mode();
            assert_eq!(mode & 0o7777, 0o755);
        }
    }

    #[test]
    fn a_file_gets_the_name_that_was_given() {
        let to = folder();
        let bytes = archive(&[("./log", EntryType::Regular, "text")]);
        let into = to.path().join("other");
        let copied = unpack(&mut &*bytes, &into, LIMIT).expect("it is unpacked");
        assert_eq!((copied.files, copied.bytes), (1, 4));
        assert_eq!(fs::read(into).expect("a file"), b"text");
    }

    #[test]
    fn there_are_limits() {
        let to = folder();
        let large = archive(&[("./a", EntryType::Regular, &"x".repeat(1_001))]);
        let error = unpack(&mut &*large, &to.path().join("a"), LIMIT);
        assert!(matches!(error, Err(CopyError::TooMuch { .. })), "{error:?}");
        let many: Vec<_> = (0..11).map(|_| ("./a/b", EntryType::Regular, "")).collect();
        let error = unpack(&mut &*archive(&many), &to.path().join("b"), LIMIT);
        assert!(matches!(error, Err(CopyError::TooMuch { .. })), "{error:?}");
        let cut = &large[..600];
        let error = unpack(
            &mut &*cut,
            &to.path().join("c"),
            Limit {
                bytes: 9_999,
                ..LIMIT
            },
        );
        assert!(matches!(error, Err(CopyError::Io { .. })), "{error:?}");
    }

    #[test]
    fn what_is_packed_is_unpacked_again() {
        let (from, to) = (folder(), folder());
        fs::create_dir_all(from.path().join("x/y")).expect("a folder");
        fs::write(from.path().join("x/y/z"), "text").expect("a file");
        let mut bytes = Vec::new();
        let packed = pack(&mut bytes, from.path(), Path::new("./app"), LIMIT).expect("packed");
        let into = to.path().join("into");
        let unpacked = unpack(&mut &*bytes, &into, LIMIT).expect("it is unpacked");
        assert_eq!(packed.files, 1);
        assert_eq!(unpacked, packed);
        assert_eq!(fs::read(into.join("x/y/z")).expect("a file"), b"text");
    }
}
