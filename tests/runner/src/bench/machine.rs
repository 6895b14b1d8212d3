//! The machine of the measurement.

use kubist_test_support::process;
use serde_json::{Value, json};

/// Returns processor, cores and memory, as far as they are known.
pub(super) fn describe() -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|it| it.split(':').nth(1))
            .unwrap_or("unknown")
            .trim()
            .to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    json!({
        "processor": field(&read("/proc/cpuinfo"), "model name"),
        "cores": cores,
        "memory": field(&read("/proc/meminfo"), "MemTotal"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
    })
}

/// Returns the same as a line of text, with the date.
pub(crate) fn line() -> String {
    let machine = describe();
    let text = |key: &str| machine[key].as_str().unwrap_or("unknown").to_owned();
    let day = process::output("date", &["-u", "+%F"]).unwrap_or_default();
    let go = process::output("go", &["env", "GOVERSION"]).unwrap_or_default();
    let rust = process::output("rustc", &["--version"]).unwrap_or_default();
    let rust: Vec<&str> = rust.split_whitespace().take(2).collect();
    let kilobytes: f64 = text("memory")
        .trim_end_matches(" kB")
        .parse()
        .unwrap_or_default();
    format!(
        "Machine: {} cores of {}, {:.0} GB, Linux {}; {}, {}; {}.",
        machine["cores"],
        text("processor"),
        kilobytes / 1e6,
        text("kernel"),
        rust.join(" "),
        go.trim(),
        day.trim()
    )
}

/// Returns CPU seconds and resident kilobytes of another process.
pub(crate) fn usage(id: u32) -> (f64, u64) {
    let read =
        |name: &str| std::fs::read_to_string(format!("/proc/{id}/{name}")).unwrap_or_default();
    let stat = read("stat");
    let ticks = |index: usize| {
        let fields = stat.rsplit(')').next().unwrap_or_default();
        fields
            .split_whitespace()
            .nth(index)
            .and_then(|it| it.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let rss = read("status").lines().find_map(|line| {
        line.strip_prefix("VmRSS:")?
            .trim()
            .strip_suffix(" kB")?
            .trim()
            .parse()
            .ok()
    });
    // Linux counts 100 ticks a second on every machine this runs on.
    ((ticks(11) + ticks(12)) / 100.0, rss.unwrap_or(0))
}
