//! What a process has used: CPU time and resident memory, from the kernel's own books.
//!
//! Linux only. It measures the process that calls it, or another by its id.

use std::time::Instant;

/// Clock ticks a second in `/proc`; the same on every Linux that we run on.
const TICKS: f64 = 100.0;

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
        let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc/self/stat");
        let status = std::fs::read_to_string("/proc/self/status").expect("and /proc/self/status");
        // The name in parentheses may hold spaces; what is behind it does not.
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<f64>().ok());
        let kilobytes = |name: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse().ok())
        };
        Self {
            at: Instant::now(),
            cpu: (ticks(11).expect("utime") + ticks(12).expect("stime")) / TICKS,
            rss: kilobytes("VmRSS:").expect("VmRSS"),
            peak: kilobytes("VmHWM:").expect("VmHWM"),
        }
    }
}

/// The line that a peer prints after a phase, for `cargo xtask bench` to read.
pub fn phase(name: &str, objects: usize, before: Usage, after: Usage) -> String {
    serde_json::json!({
        "phase": name,
        "objects": objects,
        "wall_seconds": after.at.duration_since(before.at).as_secs_f64(),
        "cpu_seconds": after.cpu - before.cpu,
        "rss_kb": after.rss,
        "rss_growth_kb": after.rss.saturating_sub(before.rss),
        "peak_kb": after.peak,
    })
    .to_string()
}
