//! A writing process is killed at any moment with SIGKILL.
//!
//! The process is this test binary, which an environment variable turns into the writer.

use crate::random::Random;
use crate::write_record::{Step, WriteRecord};
use kubist_storage::Revision;
use kubist_storage::journal::JournaledKv;
use kubist_storage::memory::{Config, TokioClock};
use kubist_storage_redb::{Store, StoreError};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

const WORKERS: u64 = 8;
/// Number of kills, unless `KUBIST_KILLS` is set.
const KILLS: u64 = 200;
/// Maximum lines read before the signal is sent; the writer does not wait for it.
const LINES_MAX: u64 = 120;
/// The directory and the number of the first step, separated by a colon.
const WRITER: &str = "KUBIST_TEST_WRITER";

fn open(dir: &Path) -> Result<JournaledKv, StoreError> {
    let config = Config {
        history_events_max: 200,
        ..Config::default()
    };
    Store::open(dir)?.into_kv(config, Arc::new(TokioClock::start()))
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// Writes and reports until it is killed or has done this many steps.
async fn write(kv: &JournaledKv, from: u64, steps: u64, say: fn(&str)) {
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let kv = kv.clone();
        workers.spawn(async move {
            for number in from..from + steps {
                let step = Step { worker, number };
                say(&format!("kubist begins {worker} {number}"));
                let Revision(revision) = step.take(&kv).await.unwrap();
                say(&format!("kubist answered {worker} {number} {revision}"));
            }
        });
    }
    while let Some(done) = workers.join_next().await {
        done.unwrap();
    }
}

/// Runs in the process that is killed; without the variable, it does a few steps.
#[tokio::test]
async fn writer_writes_what_it_says() {
    let asked = std::env::var_os(WRITER).map(|it| it.into_string().unwrap());
    if let Some((from, dir)) = asked.as_ref().and_then(|it| it.split_once(':')) {
        let kv = open(Path::new(dir)).unwrap();
        say("kubist ready");
        write(&kv, from.parse().unwrap(), u64::MAX >> 32, say).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let kv = open(folder.path()).unwrap();
    write(&kv, 0, 5, |_| {}).await;
    let revision = kv.stats().revision;
    kv.close().await;
    let kv = open(folder.path()).unwrap();
    assert_eq!(kv.stats().revision, revision);
    assert!(revision > Revision(20));
}

fn writer(dir: &Path, from: u64) -> (Child, BufReader<ChildStdout>) {
    let mut what = OsString::from(format!("{from}:"));
    what.push(dir);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::writer_writes_what_it_says"])
        .args(["--nocapture", "--test-threads=1"])
        .env(WRITER, what)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// Parses a line. True if it was from the writer.
fn hear(record: &mut WriteRecord, highest: &mut u64, line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let step = |worker: &str, number: &str| Step {
        worker: worker.parse().unwrap(),
        number: number.parse().unwrap(),
    };
    match words[..] {
        ["kubist", "begins", worker, number] => {
            let step = step(worker, number);
            *highest = (*highest).max(step.number);
            record.begins(step);
        }
        ["kubist", "answered", worker, number, revision] => {
            let revision = Revision(revision.parse().unwrap());
            record.answered(step(worker, number), revision);
        }
        _ => return false,
    }
    true
}

#[tokio::test]
async fn killed_writer_has_lost_nothing_that_was_answered() {
    let kills = std::env::var_os("KUBIST_KILLS").map(|it| it.into_string().unwrap());
    let kills = kills.map_or(KILLS, |it| it.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut record = WriteRecord::default();
    let mut highest = 0;
    for seed in 0..kills {
        let mut random = Random::new(seed);
        let (mut child, out) = writer(folder.path(), highest + 1);
        let mut lines = out.lines().map(|line| line.unwrap());
        if random.below(8) == 0 {
            // While it opens the store, or before.
            tokio::time::sleep(Duration::from_micros(random.below(20_000))).await;
        } else {
            let mut left = random.below(LINES_MAX);
            while left > 0 {
                let line = lines.next().expect("the writer does not end");
                left -= u64::from(hear(&mut record, &mut highest, &line));
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            hear(&mut record, &mut highest, &line);
        }
        let kv = open(folder.path()).unwrap();
        record.check(&kv).await;
        kv.close().await;
    }
    assert!(record.answers > kills * 10, "{}", record.answers);
}

#[tokio::test]
async fn second_process_on_the_same_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, out) = writer(folder.path(), 0);
    let mut lines = out.lines().map(|line| line.unwrap());
    assert!(lines.any(|line| line.ends_with("kubist ready")));
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
    let text = format!("{} is in use by another process", folder.path().display());
    assert_eq!(error.to_string(), text);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(open(folder.path()).is_ok(), "it is free at once");
}
