//! The limits that the operating system sets to this process.

use std::io;

/// Files that are needed beside connections: the store's, the standard streams, listeners.
const SPARE_FILES: u64 = 64;
/// Connections below which a server is of no use: kubectl and a controller need several.
const CONNECTIONS_MIN: u64 = 8;
/// Connections below which the log says that they are few.
const CONNECTIONS_FEW: u64 = 256;

/// This process may have too few files open to serve anybody.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may have {files} files open, and {} are needed to serve anybody: raise the limit \
     (ulimit -n)",
    SPARE_FILES + CONNECTIONS_MIN
)]
pub(crate) struct TooFewFiles {
    files: u64,
}

/// Has as many files open as this process may at all, as Go's programs do, and says for how many
/// connections that is enough; at most `wanted`.
///
/// # Errors
/// They are enough for nobody.
pub(crate) fn connections(wanted: usize) -> Result<usize, TooFewFiles> {
    let Some(files) = open_files() else {
        return Ok(wanted);
    };
    room(files, wanted)
}

/// The connections that there is room for among so many files.
fn room(files: u64, wanted: usize) -> Result<usize, TooFewFiles> {
    let room = files.saturating_sub(SPARE_FILES);
    if room < CONNECTIONS_MIN {
        return Err(TooFewFiles { files });
    }
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if (room as u64) < CONNECTIONS_FEW && room < wanted {
        tracing::warn!(
            "this process may have {files} files open, so it serves {room} connections at a time: \
             raise the limit (ulimit -n) for more"
        );
    }
    Ok(room.min(wanted))
}

/// The limit of open files, raised as far as it goes; none if there is none.
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

/// Has a limit on the size of files be an error of the write that goes beyond it, as a full disk
/// is, and not the end of the process.
pub(crate) fn survive_file_size() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use tokio::signal::unix::{SignalKind, signal};
        // Once there is a handler, there is one for as long as the process lives.
        drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_wanted_where_files_allow_it() {
        assert_eq!(room(u64::MAX, 10).ok(), Some(10));
        assert_eq!(room(1_064, usize::MAX).ok(), Some(1_000));
        assert_eq!(room(72, usize::MAX).ok(), Some(8));
        assert_eq!(room(72, 1).ok(), Some(1));
        let error = room(71, 1).unwrap_err().to_string();
        assert!(
            error.contains("71 files") && error.contains("72"),
            "{error}"
        );
        assert!(room(3, usize::MAX).is_err());
    }
}
