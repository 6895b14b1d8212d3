//! `kubist storage`: operations on the data of a server.
//!
//! They work on the data directory of a stopped server; a running server makes a backup of itself,
//! whatever its engine.

mod running;

use super::{Outcome, units, values};
use clap::{Args, Subcommand};
use kubist_storage::backup::Reader;
use kubist_storage_redb::{REVISIONS_SKIPPED, Report, Store, StoreError};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(after_help = "\
The directory is that of `kubist serve --data-dir`. It must not be in use: stop the server first.
Without a directory, backup downloads from the running server of --kubeconfig, whatever its storage,
and writes a file. Backups contain all objects, including Secrets.

Examples:
  kubist storage check ./data
  kubist storage compact ./data
  kubist storage backup ./data ./data-of-today
  kubist serve --data-dir ./data-of-today      # a copy is an ordinary data directory
  kubist storage backup --kubeconfig kubist.kubeconfig ./today.backup
  kubist storage restore ./today.backup ./new-data
  kubist serve --data-dir ./new-data")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Read and verify everything, and report the contents
    Check {
        /// The data directory
        dir: PathBuf,
    },
    /// Free unused space
    Compact {
        /// The data directory
        dir: PathBuf,
    },
    /// Copy a data directory, or save a running server to a file
    Backup {
        /// The data directory, unless a running server is used, and the directory or file to create
        #[arg(value_names = ["DIR", "TO"], num_args = 1..=2, required = true)]
        paths: Vec<PathBuf>,
        #[command(flatten)]
        server: running::RunningServer,
    },
    /// Create a data directory from a backup; earlier watches start over
    Restore {
        /// The backup: a file, or a directory made by `backup`
        from: PathBuf,
        /// The directory to create; it must be empty
        dir: PathBuf,
        /// How far to raise the revision: more than was written since the backup
        #[arg(
            long,
            value_name = "REVISIONS",
            default_value_t = REVISIONS_SKIPPED,
            value_parser = values::non_negative::<u64>,
            allow_negative_numbers = true
        )]
        bump_revision: u64,
    },
}

pub(crate) fn run(options: &Options) -> Outcome {
    match &options.action {
        Action::Check { dir } => check(dir),
        Action::Compact { dir } => compact(dir),
        Action::Backup { paths, server } => match &paths[..] {
            [dir, to] => backup(dir, to),
            [to] => running::backup(server, to),
            _ => unreachable!("clap lets one or two through"),
        },
        Action::Restore {
            from,
            dir,
            bump_revision,
        } => restore(from, dir, *bump_revision),
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
    // Corrupt data is not copied.
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

fn restore(from: &Path, dir: &Path, bump_revision: u64) -> Done {
    let restored = if from.is_dir() {
        Store::open_existing(from)?.restore_into(dir, bump_revision)?
    } else {
        let mut backup = Reader::open(BufReader::new(named(from, File::open(from))?))
            .map_err(|error| format!("{}: {error}", from.display()))?;
        Store::restore(dir, &mut backup, bump_revision)?
    };
    say(&format!(
        "{}: {} of revision {}, continuing at {}\n",
        dir.display(),
        units::of(restored.keys, "object"),
        restored.backed_up,
        restored.revision,
    ))
}

/// Adds the path to a file system error.
fn named<T>(path: &Path, done: io::Result<T>) -> Result<T, Box<dyn Error>> {
    done.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn open(dir: &Path) -> Result<Store, Box<dyn Error>> {
    Store::open_existing(dir).map_err(|error| match error {
        StoreError::InUse { .. } => format!(
            "{error}: stop the server first; `kubist serve` makes a backup while it runs: kubist \
             storage backup --kubeconfig FILE TO"
        )
        .into(),
        error => error.into(),
    })
}

fn text(dir: &Path, report: &Report) -> String {
    let state = if report.repaired {
        "was not shut down properly, has been repaired, and is intact"
    } else {
        "is intact"
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
