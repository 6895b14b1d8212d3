//! `kubist storage`: what people do with the folder of a server that does not run.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kubist_storage_redb::{Report, Store, StoreError};

use super::{Outcome, units};

#[derive(Args, Debug)]
#[command(after_help = "\
The folder is that of `kubist serve --data-dir`. It must not be in use: stop the server first.

Examples:
  kubist storage check ./data
  kubist storage compact ./data
  kubist storage backup ./data ./data-of-today
  kubist serve --data-dir ./data-of-today      # a backup is a folder like any other")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read everything, verify it, and say what is there
    Check {
        /// The folder
        dir: PathBuf,
    },
    /// Give the space back that nothing needs any more
    Compact {
        /// The folder
        dir: PathBuf,
    },
    /// Copy everything into another folder
    Backup {
        /// The folder
        dir: PathBuf,
        /// The folder to make; no store may be in it
        to: PathBuf,
    },
}

pub(crate) fn run(options: &Options) -> Outcome {
    match &options.action {
        Action::Check { dir } => check(dir),
        Action::Compact { dir } => compact(dir),
        Action::Backup { dir, to } => backup(dir, to),
    }
    .map(|()| ExitCode::SUCCESS)
}

type Done = Result<(), Box<dyn Error>>;

fn check(dir: &Path) -> Done {
    let report = open(dir)?.check()?;
    say(&text(dir, &report))
}

fn compact(dir: &Path) -> Done {
    let size = open(dir)?.compact()?;
    say(&format!(
        "{}: {} before, {} after\n",
        dir.display(),
        units::bytes(size.before),
        units::bytes(size.after)
    ))
}

fn backup(dir: &Path, to: &Path) -> Done {
    let store = open(dir)?;
    // A copy of what cannot be read back would be worth nothing.
    let report = store.check()?;
    store.backup(to)?;
    say(&format!(
        "{}: revision {} of {}, {}\n",
        to.display(),
        report.revision,
        dir.display(),
        units::of(report.keys as u64, "object")
    ))
}

fn open(dir: &Path) -> Result<Store, Box<dyn Error>> {
    Store::open_existing(dir).map_err(|error| match error {
        StoreError::InUse { .. } => format!("{error}: stop the server first").into(),
        error => error.into(),
    })
}

fn text(dir: &Path, report: &Report) -> String {
    let state = if report.repaired {
        "was not closed in order, has been repaired, and is whole"
    } else {
        "is whole"
    };
    let history = match report.compacted.0 {
        0 => "from the beginning".to_owned(),
        compacted => format!("from revision {compacted}"),
    };
    format!(
        "{} {state}\n\
         revision  {}\n\
         history   {}, {history}\n\
         objects   {}\n\
         leases    {}\n\
         stored    {}, {}\n\
         format    {}\n\
         identity  {:016x}\n",
        dir.display(),
        report.revision,
        units::of(report.history_events as u64, "event"),
        units::count(report.keys as u64),
        units::count(report.leases as u64),
        units::of(report.versions, "version"),
        units::bytes(report.version_bytes),
        report.format,
        report.cluster_id,
    )
}

fn say(text: &str) -> Done {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
