//! `LogFile`: audit events as lines of a file, which is replaced when it is large, as upstream's
//! log backend.

use crate::audit::AuditSink;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// What the names of compressed files end with.
const COMPRESSED: &str = ".gz";

/// Events as lines of a file, or of the standard output.
#[derive(Debug)]
pub struct LogFile {
    path: Option<PathBuf>,
    file: Option<File>,
    bytes: u64,
    bytes_max: u64,
    backups_max: usize,
    age_max: Option<Duration>,
    compresses: bool,
}

/// An audit log cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the audit log {}", path.display())]
#[non_exhaustive]
pub struct LogFileError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

impl LogFile {
    /// Writes to the standard output.
    pub fn stdout() -> Self {
        Self {
            path: None,
            file: None,
            bytes: 0,
            bytes_max: 0,
            backups_max: 0,
            age_max: None,
            compresses: false,
        }
    }

    /// Appends to a file, which only its owner may read. A file that would become longer than
    /// `bytes_max` is renamed, by the time, and a new one begun. 0: it never is.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path, bytes_max: u64) -> Result<Self, LogFileError> {
        let mut log = Self {
            path: Some(path.to_owned()),
            bytes_max,
            ..Self::stdout()
        };
        log.begin().map_err(|source| LogFileError {
            path: path.to_owned(),
            source,
        })?;
        Ok(log)
    }

    /// Keeps at most this many renamed files. 0, the default: all.
    #[must_use]
    pub fn keep_files(mut self, backups_max: usize) -> Self {
        self.backups_max = backups_max;
        self
    }

    /// Keeps renamed files for this long. Default: for ever.
    #[must_use]
    pub fn keep_for(mut self, age_max: Option<Duration>) -> Self {
        self.age_max = age_max;
        self
    }

    /// Compresses renamed files with gzip. Default: no.
    #[must_use]
    pub fn compress(mut self, compresses: bool) -> Self {
        self.compresses = compresses;
        self
    }

    fn begin(&mut self) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        self.bytes = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }

    fn replace(&mut self) -> io::Result<()> {
        let Some(path) = self.path.clone() else {
            return Ok(());
        };
        self.file = None;
        let renamed = free_name(&path)?;
        fs::rename(&path, &renamed)?;
        self.begin()?;
        if self.compresses
            && let Err(error) = compress(&renamed)
        {
            tracing::warn!(%error, "an old audit log could not be compressed");
        }
        // Old files that cannot be removed now are looked at again the next time.
        if let Err(error) = self.remove_old(&path) {
            tracing::warn!(%error, "old audit logs could not be removed");
        }
        Ok(())
    }

    fn remove_old(&self, path: &Path) -> io::Result<()> {
        let mut backups = backups(path)?;
        backups.sort();
        let surplus = match self.backups_max {
            0 => 0,
            most => backups.len().saturating_sub(most),
        };
        let is_old = |it: &Path| {
            let modified = fs::metadata(it).and_then(|it| it.modified());
            let age = modified.ok().and_then(|it| it.elapsed().ok());
            self.age_max.zip(age).is_some_and(|(most, age)| age > most)
        };
        for (place, backup) in backups.iter().enumerate() {
            if place < surplus || is_old(backup) {
                fs::remove_file(backup)?;
            }
        }
        Ok(())
    }
}

impl AuditSink for LogFile {
    fn name(&self) -> &'static str {
        "log"
    }

    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
        let mut text = String::with_capacity(events.iter().map(|it| it.len() + 1).sum());
        for event in events {
            text.push_str(event);
            text.push('\n');
        }
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let is_full = self.bytes_max > 0 && self.bytes.saturating_add(length) > self.bytes_max;
        if is_full && self.bytes > 0 {
            self.replace()?;
        }
        match &mut self.file {
            Some(file) => file.write_all(text.as_bytes())?,
            None if self.path.is_some() => {
                // It could not be opened again after a rename: another try.
                self.begin()?;
                return self.write(events);
            }
            None => io::stdout().lock().write_all(text.as_bytes())?,
        }
        self.bytes = self.bytes.saturating_add(length);
        Ok(())
    }
}

/// What the name of a renamed file begins with, and its extension.
fn parts(path: &Path) -> (String, String) {
    let text = |it: Option<&std::ffi::OsStr>| {
        it.map_or_else(String::new, |it| it.to_string_lossy().into_owned())
    };
    let extension = text(path.extension());
    let extension = if extension.is_empty() {
        extension
    } else {
        format!(".{extension}")
    };
    (format!("{}-", text(path.file_stem())), extension)
}

/// Returns the name of a renamed file: that of the log with the time in it.
fn free_name(path: &Path) -> io::Result<PathBuf> {
    let now = SystemTime::UNIX_EPOCH.elapsed().map_err(io::Error::other)?;
    let (begin, extension) = parts(path);
    let mut nanos = now.as_nanos();
    loop {
        // Padded, so that names are in the order of time.
        let renamed = path.with_file_name(format!("{begin}{nanos:020}{extension}"));
        if !renamed.try_exists()? {
            return Ok(renamed);
        }
        nanos += 1;
    }
}

/// Replaces a file by a compressed one.
fn compress(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(COMPRESSED);
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut encoder = GzEncoder::new(options.open(&name)?, Compression::default());
    io::copy(&mut File::open(path)?, &mut encoder)?;
    encoder.finish()?.sync_all()?;
    fs::remove_file(path)
}

/// Returns the renamed files of a log.
fn backups(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let (begin, extension) = parts(path);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.unwrap_or_else(|| Path::new(".")))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let time = name
            .strip_suffix(COMPRESSED)
            .unwrap_or(&name)
            .strip_prefix(&begin)
            .and_then(|it| it.strip_suffix(&extension));
        if time.is_some_and(|it| it.len() == 20 && it.bytes().all(|it| it.is_ascii_digit())) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        let text = fs::read_to_string(path).expect("it is there");
        text.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn a_full_file_is_renamed_and_old_ones_are_removed() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("audit.log");
        let mut log = LogFile::open(&path, 10).expect("it opens").keep_files(2);
        for number in 0..5 {
            log.write(&[format!("event {number}").into()])
                .expect("there is room");
        }
        assert_eq!(lines(&path), ["event 4"]);
        let mut backups = backups(&path).expect("they are listed");
        backups.sort();
        let kept: Vec<_> = backups.iter().map(|it| lines(it)).collect();
        assert_eq!(kept, [["event 2"], ["event 3"]]);
        // Another file of the folder is nobody's backup.
        fs::write(folder.path().join("audit-x.log"), "x").expect("there is room");
        log.write(&["event 5".into()]).expect("there is room");
        assert!(folder.path().join("audit-x.log").exists());
    }

    #[test]
    fn renamed_files_are_compressed_and_still_counted() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("audit.log");
        let log = LogFile::open(&path, 10).expect("it opens").keep_files(2);
        let mut log = log.compress(true);
        for number in 0..5 {
            log.write(&[format!("event {number}").into()])
                .expect("there is room");
        }
        let mut backups = backups(&path).expect("they are listed");
        backups.sort();
        let texts = backups.iter().map(|it| {
            let file = File::open(it).expect("it is there");
            io::read_to_string(flate2::read::GzDecoder::new(file)).expect("it is gzip")
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["event 2\n", "event 3\n"]);
    }

    #[test]
    fn a_file_is_continued_and_events_that_fit_stay_together() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("audit.log");
        for _ in 0..2 {
            let mut log = LogFile::open(&path, 0).expect("it opens");
            log.write(&["a".into(), "b".into()]).expect("there is room");
        }
        assert_eq!(lines(&path), ["a", "b", "a", "b"]);
        let nowhere = folder.path().join("none").join("audit.log");
        let error = LogFile::open(&nowhere, 0).expect_err("there is no folder");
        assert!(error.to_string().contains("cannot open the audit log"));
    }
}
