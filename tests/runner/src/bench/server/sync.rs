//! What a durable write costs by itself: the limit of every store that syncs each.
//!
//! A file that does not grow is written and synced, one small record after another, by a thread
//! that does nothing else. What the kernel does for that on other threads is not counted, as it is
//! not for the stores.

use kubist_test_support::process::Outcome;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of the file, which is written from its beginning again.
const FILE_BYTES: u64 = 4 << 20;
/// The CPU time of a thread in nanoseconds, and more.
const CPU: &str = "/proc/thread-self/schedstat";

/// Writes and syncs records of so many bytes for a time, and returns the figures as one line.
pub(super) fn alone(folder: &Path, time: Duration, bytes: usize) -> Outcome<Value> {
    fs::create_dir_all(folder)?;
    let path = folder.join("sync");
    let file = File::create(&path)?;
    file.write_all_at(&vec![1; usize::try_from(FILE_BYTES)?], 0)?;
    file.sync_all()?;
    let record = vec![2; bytes];
    let (begun, before) = (Instant::now(), cpu()?);
    let (mut offset, mut waits) = (0, Vec::new());
    while begun.elapsed() < time {
        let write = Instant::now();
        file.write_all_at(&record, offset)?;
        file.sync_data()?;
        waits.push(write.elapsed().as_secs_f64() * 1e3);
        offset = (offset + bytes as u64) % (FILE_BYTES - bytes as u64);
    }
    let (wall, used) = (begun.elapsed().as_secs_f64(), cpu()? - before);
    fs::remove_file(path)?;
    waits.sort_by(f64::total_cmp);
    let at = |share: usize| {
        waits
            .get(waits.len() * share / 100)
            .copied()
            .unwrap_or_default()
    };
    let count = f64::from(u32::try_from(waits.len())?);
    Ok(json!({
        "case": "sync alone",
        "per_second": count / wall,
        "latency": {"p50_ms": at(50), "p99_ms": at(99)},
        "cpu_microseconds": used * 1e6 / count,
    }))
}

/// Returns the CPU time of this thread in seconds.
fn cpu() -> Outcome<f64> {
    let text = fs::read_to_string(CPU)?;
    let nanoseconds = text.split(' ').next().unwrap_or_default();
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}
