//! Backups of a running server: downloaded, written to a file, and verified.

use super::{Done, named, say};
use crate::command::{block_on, units};
use clap::Args;
use kubist_client::ApiError;
use kubist_kubeconfig::Selection;
use kubist_storage::backup::{BackupError, Reader};
use kubist_transport::Body;
use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The path of backups on a server.
const PATH: &str = "/storage/backup";

#[derive(Args, Debug)]
pub(super) struct RunningServer {
    /// Use the running server of this kubeconfig; default as for `kubist watch`
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The kubeconfig context
    #[arg(long)]
    context: Option<String>,
}

/// Writes a backup of the server to a file, completely or not at all.
pub(super) fn backup(options: &RunningServer, to: &Path) -> Done {
    if fs::symlink_metadata(to).is_ok() {
        return Err(format!("{} exists already", to.display()).into());
    }
    let partial = partial(to);
    let made = block_on(async {
        receive(options, &partial).await?;
        Ok(ExitCode::SUCCESS)
    });
    let verified = made.and_then(|_| verify(&partial));
    let verified = verified.and_then(|summary| {
        named(to, fs::rename(&partial, to))?;
        Ok(summary)
    });
    match verified {
        Ok((revision, objects)) => say(&format!(
            "{}: revision {revision}, {}\n",
            to.display(),
            units::of(objects, "object")
        )),
        Err(error) => {
            // It may not exist.
            fs::remove_file(&partial).ok();
            Err(error)
        }
    }
}

/// Returns the temporary name of an incomplete file.
fn partial(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    to.with_file_name(name)
}

async fn receive(options: &RunningServer, to: &Path) -> Done {
    let client = kubist::infer_with(&kubist_kubeconfig::Options {
        file: options.kubeconfig.clone(),
        selection: Selection {
            context: options.context.clone(),
            ..Selection::default()
        },
    })?;
    let request = http::Request::get(PATH).body(Body::empty())?;
    let answer = client.send(request).await.map_err(explain)?;
    let mut file = OpenOptions::new();
    file.write(true).create(true).truncate(true);
    // It contains secrets.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut file, 0o600);
    let mut file = BufWriter::new(named(to, file.open(to))?);
    let mut body = answer.into_body();
    while let Some(chunk) = body.chunk().await? {
        named(to, file.write_all(&chunk))?;
    }
    let file = file
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error);
    named(to, file.and_then(|file| file.sync_all()))
}

fn explain(error: ApiError) -> Box<dyn Error> {
    if error.is_not_found() {
        return "this server does not support backups: it is not `kubist serve`".into();
    }
    error.into()
}

/// Verifies a backup. Returns its revision and number of objects.
fn verify(path: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let file = named(path, File::open(path))?;
    let read = || {
        let mut reader = Reader::open(BufReader::new(file))?;
        while reader.next()?.is_some() {}
        Ok((reader.revision().0, reader.records()))
    };
    read().map_err(|error: BackupError| error.into())
}
