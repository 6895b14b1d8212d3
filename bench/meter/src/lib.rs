//! What a process has used: CPU time and resident memory, from the kernel's own books.
//!
//! Linux only. It measures the process that calls it.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A reading.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// When, on the monotonic clock.
    pub at: Instant,
    /// CPU seconds of all threads, user and system.
    pub cpu: f64,
    /// Resident memory in kB.
    pub rss: u64,
    /// The most it has been, in kB.
    pub peak: u64,
}

impl Usage {
    /// Reads this process's.
    ///
    /// # Panics
    /// Where `/proc` is not Linux's: nothing could be measured.
    pub fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let kilobytes = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok())
        };
        Self {
            at: Instant::now(),
            cpu: cpu(),
            rss: kilobytes("VmRSS:").expect("VmRSS"),
            peak: kilobytes("VmHWM:").expect("VmHWM"),
        }
    }
}

/// Used CPU of less than this in [`SETTLE_STEP`] counts as rest.
const SETTLED_CPU: f64 = 0.03;
/// How long rest is watched for.
pub const SETTLE_STEP: Duration = Duration::from_millis(200);

/// Whether the process rests: ask twice, [`SETTLE_STEP`] apart.
pub fn rests(before: Usage) -> bool {
    Usage::now().cpu - before.cpu < SETTLED_CPU
}

/// Lets the kernel count the peak of resident memory from here on.
///
/// # Errors
/// The kernel does not offer it.
pub fn reset_peak() -> std::io::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5")
}

/// What a phase of an informer has used, for `cargo xtask bench` to read.
pub fn phase(name: &str, objects: usize, before: Usage, after: Usage) -> Value {
    json!({
        "phase": name,
        "objects": objects,
        "wall_seconds": after.at.duration_since(before.at).as_secs_f64(),
        "cpu_seconds": after.cpu - before.cpu,
        "rss_before_kb": before.rss,
        "rss_kb": after.rss,
        "rss_growth_kb": after.rss.saturating_sub(before.rss),
        "peak_kb": after.peak,
    })
}

/// How often a case of nanoseconds is measured; the middle counts.
pub const ROUNDS: usize = 5;

/// The middle of what a measurement gives in so many rounds.
pub fn median(rounds: usize, measure: impl FnMut() -> f64) -> f64 {
    let mut values: Vec<f64> = std::iter::repeat_with(measure)
        .take(rounds.max(1))
        .collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU seconds of all threads, user and system.
pub fn cpu() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Nanoseconds of CPU for each of `count`, since [`cpu`] said `start`.
pub fn each(start: f64, count: usize) -> f64 {
    (cpu() - start) * 1e9 / count as f64
}
