//! The limits that the operating system sets to this process.

use std::io;

/// Files that are needed beside connections: the store's, the standard streams, listeners.
const SPARE_FILES: u64 = 64;

/// Has as many files open as this process may at all, as Go's programs do, and says for how many
/// connections that is enough; at most `wanted`.
pub(crate) fn connections(wanted: usize) -> usize {
    let files = open_files();
    let room = files.map_or(u64::MAX, |it| it.saturating_sub(SPARE_FILES).max(1));
    usize::try_from(room).map_or(wanted, |room| room.min(wanted))
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
        assert_eq!(connections(10), 10);
        assert!(connections(usize::MAX) >= 10);
    }
}
