//! The resource usage of a process: CPU time and resident memory, as the kernel counts them.
//!
//! Linux only. It measures the calling process.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A reading.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The time, on the monotonic clock.
    pub at: Instant,
    /// CPU seconds of all threads, user and system.
    pub cpu: f64,
    /// Resident memory in kB.
    pub rss: u64,
    /// The peak of resident memory in kB.
    pub peak: u64,
}

impl Usage {
    /// Reads the usage of this process.
    ///
    /// # Panics
    /// If `/proc` is not Linux's.
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

/// The most CPU time in [`SETTLE_STEP`] of an idle process.
const SETTLED_CPU: f64 = 0.03;
/// The interval in which a process has to be idle.
pub const SETTLE_STEP: Duration = Duration::from_millis(200);

/// Reports whether the process is idle; call it twice, [`SETTLE_STEP`] apart.
pub fn rests(before: Usage) -> bool {
    Usage::now().cpu - before.cpu < SETTLED_CPU
}

/// Resets the peak of resident memory.
///
/// # Errors
/// The kernel does not support it.
pub fn reset_peak() -> std::io::Result<()> {
    std::fs::write("/proc/self/clear_refs", "5")
}

/// Returns the usage of a phase of an informer, for `cargo xtask bench`.
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

/// Returns what it cost since `before` to deliver events to handlers, for `cargo xtask bench`.
pub fn delivery(handlers: usize, events: usize, delivered: usize, before: Usage) -> Value {
    let after = Usage::now();
    json!({
        "handlers": handlers,
        "events": events,
        "delivered": delivered,
        "wall_seconds": (after.at - before.at).as_secs_f64(),
        "cpu_seconds": after.cpu - before.cpu,
    })
}

/// Rounds of a measurement in nanoseconds; the median counts.
pub const ROUNDS: usize = 5;

/// Returns the median of this many rounds.
pub fn median(rounds: usize, measure: impl FnMut() -> f64) -> f64 {
    let mut values: Vec<f64> = std::iter::repeat_with(measure)
        .take(rounds.max(1))
        .collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the CPU seconds of all threads, user and system.
pub fn cpu() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Returns the CPU nanoseconds for each of `count` since `start`, which is a result of [`cpu`].
pub fn each(start: f64, count: usize) -> f64 {
    (cpu() - start) * 1e9 / count as f64
}
