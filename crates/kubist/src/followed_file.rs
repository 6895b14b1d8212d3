//! `FollowedFile`: a configuration file that is read again to see whether it has changed.

use crate::regular_file::read_regular_file;
use kubist_codec::config_file::CONFIG_FILE_BYTES_MAX;
use std::io;
use std::path::{Path, PathBuf};
use tokio::task::spawn_blocking;

/// A file and what was last used of it.
#[derive(Clone, Debug)]
pub(crate) struct FollowedFile {
    path: PathBuf,
    known: Vec<u8>,
}

impl FollowedFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            known: contents(path)?,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.known
    }

    /// Reads it again. Returns its contents if they are others.
    pub(crate) async fn changed(&self) -> io::Result<Option<Vec<u8>>> {
        let path = self.path.clone();
        let read = spawn_blocking(move || contents(&path)).await;
        let text = read.map_err(io::Error::other).flatten()?;
        Ok((text != self.known).then_some(text))
    }

    /// Notes that these contents need not be looked at again.
    pub(crate) fn settle(&mut self, text: Vec<u8>) {
        self.known = text;
    }
}

fn contents(path: &Path) -> io::Result<Vec<u8>> {
    read_regular_file(path, CONFIG_FILE_BYTES_MAX as u64)
}
