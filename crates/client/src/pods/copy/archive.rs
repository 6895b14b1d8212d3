//! Reading and writing the archives of copies. It blocks, and so runs on a thread of its own.

use super::{Copied, CopyError, CopyOptions};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tar::{Archive, Builder, EntryType, Header};

/// The most paths that are reported as left out.
const SKIPPED_MAX: usize = 1_000;
/// The most bytes before the content of an entry: its header, and a long name or attributes, which
/// are held in memory. Linux's names have 4 KiB at most.
const HEAD_BYTES_MAX: u64 = 1 << 20;

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

/// The name of the archive in errors.
pub(super) const ARCHIVE: &str = "the archive";

/// A reader that fails after so many bytes.
struct Bounded<'b, R> {
    stream: R,
    left: &'b AtomicU64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            let reason = format!("the head of an entry has more than {HEAD_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let count = self.stream.read(buf)?;
        let left = left.saturating_sub(count as u64);
        self.left.store(left, Ordering::Relaxed);
        Ok(count)
    }
}

/// Unpacks an archive of one file or folder to `to`.
pub(super) fn unpack(
    stream: &mut impl Read,
    to: &Path,
    mut limit: Limit,
) -> Result<Copied, CopyError> {
    let mut copied = Copied::default();
    let broken = || io_error(Path::new(ARCHIVE));
    let left = AtomicU64::new(HEAD_BYTES_MAX);
    let mut archive = Archive::new(Bounded {
        stream,
        left: &left,
    });
    let mut entries = archive.entries().map_err(broken())?;
    loop {
        left.store(HEAD_BYTES_MAX, Ordering::Relaxed);
        let Some(entry) = entries.next() else {
            return Ok(copied);
        };
        let mut entry = entry.map_err(broken())?;
        left.store(u64::MAX, Ordering::Relaxed);
        limit.take(entry.size())?;
        let path = entry.path().map_err(broken())?.into_owned();
        let Some(target) = target_of(&path, to) else {
            copied.skip(&path);
            io::copy(&mut entry, &mut io::sink()).map_err(broken())?;
            continue;
        };
        match entry.header().entry_type() {
            EntryType::Directory => {
                fs::create_dir_all(&target).map_err(io_error(&target))?;
            }
            EntryType::Regular | EntryType::Continuous => {
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
        io::copy(&mut entry, &mut io::sink()).map_err(broken())?;
    }
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
            let file = File::open(&path).map_err(io_error(&path))?;
            let facts = file.metadata().map_err(io_error(&path))?;
            let size = facts.len();
            limit.take(size)?;
            let mut header = Header::new_gnu();
            header.set_metadata(&facts);
            // A file that grows or shrinks meanwhile keeps the size that the header has, as with
            // GNU's tar: the next entry would be lost otherwise.
            let content = file.take(size).chain(io::repeat(0)).take(size);
            let appended = builder.append_data(&mut header, &name, content);
            appended.map_err(io_error(&path))?;
            copied.files += 1;
            copied.bytes += size;
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
            let mut header = Header::new_gnu();
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

    #[test]
    fn holes_of_a_file_are_copied_as_zeros() {
        let (from, to) = (folder(), folder());
        let path = from.path().join("sparse");
        let file = File::create(&path).expect("a file");
        file.set_len(1 << 20).expect("a hole");
        let limit = Limit {
            bytes: 2 << 20,
            ..LIMIT
        };
        let mut bytes = Vec::new();
        pack(&mut bytes, &path, Path::new("./sparse"), limit).expect("packed");
        let into = to.path().join("into");
        let unpacked = unpack(&mut &*bytes, &into, limit).expect("it is unpacked");
        assert_eq!((unpacked.files, unpacked.bytes), (1, 1 << 20));
        assert_eq!(fs::read(into).expect("a file"), vec![0; 1 << 20]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_grows_does_not_break_the_archive() {
        // Files of the kernel say that they have no bytes.
        let (from, to) = (Path::new("/proc/self/status"), folder());
        let mut bytes = Vec::new();
        let packed = pack(&mut bytes, from, Path::new("./a"), LIMIT).expect("packed");
        let unpacked = unpack(&mut &*bytes, &to.path().join("a"), LIMIT).expect("unpacked");
        assert_eq!((packed.files, &unpacked), (1, &packed));
    }

    #[test]
    fn a_name_without_end_is_not_read_into_memory() {
        let mut header = Header::new_gnu();
        header.set_path("././@LongLink").expect("a name");
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(1 << 40);
        header.set_cksum();
        let stream = header.as_bytes().chain(io::repeat(b'a'));
        let mut stream = stream.take(1 << 30);
        let error = unpack(&mut stream, &folder().path().join("a"), LIMIT).expect_err("too long");
        assert!(
            error.to_string().contains("the head of an entry"),
            "{error}"
        );
        assert!(stream.limit() > (1 << 30) - 3 * HEAD_BYTES_MAX);
    }

    #[test]
    fn what_is_left_out_counts_too() {
        let links: Vec<_> = (0..11)
            .map(|_| ("./a/b", EntryType::Symlink, "x"))
            .collect();
        let bytes = archive(&links);
        let error = unpack(&mut &*bytes, &folder().path().join("a"), LIMIT);
        assert!(matches!(error, Err(CopyError::TooMuch { .. })), "{error:?}");
    }
}
