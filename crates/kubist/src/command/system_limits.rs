//! Limits of the operating system on this process.

use std::io;

/// Files needed besides connections: for the store, the standard streams and listeners.
const SPARE_FILES: u64 = 64;
/// Minimum useful number of connections: kubectl and a controller need several.
const CONNECTIONS_MIN: u64 = 8;
/// Below this number of connections the log has a warning.
const CONNECTIONS_FEW: u64 = 256;

/// The limit of open files is too low to serve at all.
#[derive(Debug, thiserror::Error)]
#[error(
    "the limit of {files} open files is too low, at least {} are needed: raise it (ulimit -n)",
    SPARE_FILES + CONNECTIONS_MIN
)]
pub(crate) struct TooFewFiles {
    files: u64,
}

/// Raises the limit of open files as far as allowed, as Go programs do, and returns the number of
/// connections that it permits, at most `wanted`.
///
/// # Errors
/// The limit is too low to serve at all.
pub(crate) fn connections(wanted: usize) -> Result<usize, TooFewFiles> {
    let Some(files) = open_files() else {
        return Ok(wanted);
    };
    room(files, wanted)
}

/// Returns the number of connections that a number of files permits.
fn room(files: u64, wanted: usize) -> Result<usize, TooFewFiles> {
    let room = files.saturating_sub(SPARE_FILES);
    if room < CONNECTIONS_MIN {
        return Err(TooFewFiles { files });
    }
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if (room as u64) < CONNECTIONS_FEW && room < wanted {
        tracing::warn!(
            "the limit of {files} open files allows only {room} connections: raise it (ulimit -n) \
             for more"
        );
    }
    Ok(room.min(wanted))
}

/// Returns the limit of open files after raising it; `None` for no limit.
#[cfg(unix)]
fn open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

#[cfg(not(unix))]
fn open_files() -> Option<u64> {
    None
}

/// Turns exceeding the file size limit into a write error, as with a full disk, instead of the end
/// of the process.
pub(crate) fn survive_file_size() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use tokio::signal::unix::{SignalKind, signal};
        // The handler stays for the life of the process.
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_limited_by_open_files() {
        assert_eq!(room(u64::MAX, 10).ok(), Some(10));
        assert_eq!(room(1_064, usize::MAX).ok(), Some(1_000));
        assert_eq!(room(72, usize::MAX).ok(), Some(8));
        assert_eq!(room(72, 1).ok(), Some(1));
        let error = room(71, 1).unwrap_err().to_string();
        assert!(
            error.contains("71 open files") && error.contains("72"),
            "{error}"
        );
        assert!(room(3, usize::MAX).is_err());
    }
}
