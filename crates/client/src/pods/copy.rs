//! Copying files from and to a container, as `kubectl cp` does: through `tar`, which the container
//! must have.
//!
//! Links in an archive from a container are not made: they could lead out of the destination. They
//! are reported, as are devices and the like.

mod archive;

use super::{AttachedProcess, ExecOptions, PodStreamError};
use crate::Api;
use archive::{ARCHIVE, Limit, pack, unpack};
use kubist_apimachinery::{Object, Str, with_causes};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::io::SyncIoBridge;

/// The most bytes of `tar`'s messages that are kept for an error.
const MESSAGES_BYTES_MAX: u64 = 4 << 10;
/// The most bytes after an archive that are read; GNU's tar pads to 10 KiB.
const PADDING_BYTES_MAX: u64 = 1 << 20;

/// How to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct CopyOptions {
    /// The container. Default: as of [`ExecOptions::container`].
    pub container: Option<Str>,
    /// The most bytes of all files together. Default: 10 GiB.
    pub bytes_max: u64,
    /// The most files and folders. Default: 1,000,000.
    pub entries_max: u64,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self {
            container: None,
            bytes_max: 10 << 30,
            entries_max: 1_000_000,
        }
    }
}

/// What was copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copied {
    /// The number of files.
    pub files: u64,
    /// The bytes of all files together.
    pub bytes: u64,
    /// The paths that were left out: links, devices and the like. At most the first 1,000.
    pub skipped: Vec<String>,
}

/// Why copying failed. What was copied before stays.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The command could not be run, or the connection failed.
    #[error(transparent)]
    Stream(#[from] PodStreamError),
    /// `tar` failed, for instance because a file does not exist.
    #[error("tar ended with {code}: {message}")]
    Tar {
        /// Its exit code.
        code: i32,
        /// What it printed.
        message: String,
    },
    /// A local file could not be read or written, or the archive is broken.
    #[error("{}: {}", .path.display(), with_causes(&**.source))]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        source: Arc<io::Error>,
    },
    /// The path in the container names no file.
    #[error("{path:?} names no file")]
    Path {
        /// The path.
        path: String,
    },
    /// There is more than the options allow.
    #[error("it is more than {limit}")]
    TooMuch {
        /// The limit.
        limit: String,
    },
}

impl<K: Object> Api<K> {
    /// Copies a file or a folder from a container to this machine. A folder's content is put into
    /// `to`, which is made if need be.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, CopyError, CopyOptions};
    /// # use std::path::Path;
    /// # async fn example(pods: Api<Pod>) -> Result<(), CopyError> {
    /// let options = CopyOptions::default();
    /// let copied = pods.copy_from("web-0", "/var/log/app", Path::new("logs"), &options).await?;
    /// println!("{} files", copied.files);
    /// # Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future ends the copy soon; what was copied stays.
    ///
    /// # Errors
    /// See [`CopyError`].
    pub async fn copy_from(
        &self,
        pod: &str,
        from: &str,
        to: &Path,
        options: &CopyOptions,
    ) -> Result<Copied, CopyError> {
        let (folder, name) = split(from)?;
        let command = ["tar", "cf", "-", "-C", folder, &name];
        let mut process = self
            .exec(pod, command, &exec_options(options, false))
            .await?;
        let stdout = process.stdout().ok_or(PodStreamError::Ended)?;
        let (to, limit) = (to.to_owned(), Limit::of(options));
        let mut unpacking = tokio::task::spawn_blocking(move || {
            let mut stream = SyncIoBridge::new(stdout);
            let unpacked = unpack(&mut stream, &to, limit);
            // The rest is padding; it is read so that `tar` ends well.
            if unpacked.is_ok() {
                let mut rest = io::Read::take(stream, PADDING_BYTES_MAX);
                drop(io::copy(&mut rest, &mut io::sink()));
            }
            unpacked
        });
        let (mut messages, mut told) = (pin!(messages_of(&mut process)), None);
        let unpacked = loop {
            tokio::select! {
                unpacked = &mut unpacking => break unpacked.map_err(|_| PodStreamError::Ended)?,
                text = &mut messages, if told.is_none() => told = Some(text),
            }
        };
        match unpacked {
            // The reason is on this side: what the container still sends may have no end.
            Err(CopyError::Io { path, source }) if path != Path::new(ARCHIVE) => {
                return Err(CopyError::Io { path, source });
            }
            Err(error @ CopyError::TooMuch { .. }) => return Err(error),
            _ => {}
        }
        let messages = match told {
            Some(text) => text,
            None => messages.await,
        };
        finish(process, messages, unpacked).await
    }

    /// Copies a file or a folder from this machine into a container. The content of a folder is put
    /// into `to`; that folder's parent must exist.
    ///
    /// Cancel safety: dropping the future ends the copy soon; what was copied stays.
    ///
    /// # Errors
    /// See [`CopyError`].
    pub async fn copy_to(
        &self,
        pod: &str,
        from: &Path,
        to: &str,
        options: &CopyOptions,
    ) -> Result<Copied, CopyError> {
        let (folder, name) = split(to)?;
        // Times are those of the copy: clocks of containers may be behind.
        let command = ["tar", "xmf", "-", "-C", folder];
        let mut process = self
            .exec(pod, command, &exec_options(options, true))
            .await?;
        let stdin = process.stdin().ok_or(PodStreamError::Ended)?;
        let (from, limit) = (from.to_owned(), Limit::of(options));
        let packing = tokio::task::spawn_blocking(move || {
            let mut stream = SyncIoBridge::new(stdin);
            let packed = pack(&mut stream, &from, Path::new(&name), limit);
            (packed, stream.into_inner())
        });
        let messages = messages_of(&mut process);
        let send = async {
            let (packed, mut stdin) = packing.await.map_err(|_| PodStreamError::Ended)?;
            drop(stdin.shutdown().await);
            Ok::<_, PodStreamError>(packed)
        };
        let (packed, messages) = tokio::join!(send, messages);
        finish(process, messages, packed?).await
    }
}

fn exec_options(options: &CopyOptions, sends: bool) -> ExecOptions {
    ExecOptions {
        container: options.container.clone(),
        stdin: sends,
        stdout: !sends,
        ..ExecOptions::default()
    }
}

/// Reads what `tar` prints, while it runs.
fn messages_of(process: &mut AttachedProcess) -> impl Future<Output = String> + use<> {
    let stderr = process.stderr();
    async move {
        let mut bytes = Vec::new();
        if let Some(mut stderr) = stderr {
            let mut limited = (&mut stderr).take(MESSAGES_BYTES_MAX);
            drop(limited.read_to_end(&mut bytes).await);
            drop(tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await);
        }
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// The failure of `tar` explains that of the archive.
async fn finish(
    process: AttachedProcess,
    message: String,
    copied: Result<Copied, CopyError>,
) -> Result<Copied, CopyError> {
    if let Err(error @ CopyError::TooMuch { .. }) = copied {
        return Err(error);
    }
    match process.wait().await {
        Ok(status) if status.success() => copied,
        Ok(status) => Err(CopyError::Tar {
            code: status.code,
            message,
        }),
        Err(error) => copied.and(Err(error.into())),
    }
}

/// Splits a path in a container into its folder and its name. The name cannot be an option of
/// `tar`.
fn split(path: &str) -> Result<(&str, String), CopyError> {
    let path = match path.trim_end_matches('/') {
        "" if path.starts_with('/') => return Ok(("/", ".".to_owned())),
        trimmed => trimmed,
    };
    let (folder, name) = match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((folder, name)) => (folder, name),
        None => (".", path),
    };
    if matches!(name, "" | "." | "..") {
        return Err(CopyError::Path {
            path: path.to_owned(),
        });
    }
    Ok((folder, format!("./{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_containers_have_a_folder_and_a_name_that_is_no_option() {
        let of = |path| split(path).expect("a path");
        assert_eq!(of("/var/log/app/"), ("/var/log", "./app".to_owned()));
        assert_eq!(of("/etc"), ("/", "./etc".to_owned()));
        assert_eq!(of("-rf"), (".", "./-rf".to_owned()));
        assert_eq!(of("/"), ("/", ".".to_owned()));
        for bad in ["", ".", "a/.."] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
