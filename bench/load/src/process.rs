//! `Process`: the resource usage of another process, as the kernel counts it.

/// A process; 0 if it is not known, whose usage is zero.
#[derive(Clone, Copy)]
pub struct Process(pub u32);

impl Process {
    /// Returns its CPU seconds, user and system.
    pub fn cpu(self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split(' ')
            .collect();
        let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<f64>().ok());
        // Linux counts 100 ticks a second on every machine this runs on.
        (ticks(12).unwrap_or(0.0) + ticks(13).unwrap_or(0.0)) / 100.0
    }

    /// Returns its resident memory, in kB.
    pub fn rss(self) -> u64 {
        let path = format!("/proc/{}/status", self.0);
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|it| it.trim().strip_suffix(" kB"));
        number.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
    }
}
