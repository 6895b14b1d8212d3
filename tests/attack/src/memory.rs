//! `Memory`: the memory of a process, as the kernel counts it. Linux only.

use crate::Outcome;

/// A reading, in kB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Resident memory.
    pub(crate) resident: u64,
    /// The peak since the last reset.
    pub(crate) peak: u64,
}

impl Memory {
    /// Reads the memory of a process.
    pub(crate) fn of(process: u32) -> Outcome<Self> {
        let text = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        parse(&text).ok_or_else(|| "the server's process holds no memory: it has ended".into())
    }
}

/// Resets a process's peak.
pub(crate) fn forget_peak(process: u32) -> Outcome {
    Ok(std::fs::write(format!("/proc/{process}/clear_refs"), "5")?)
}

fn parse(status: &str) -> Option<Memory> {
    let kilobytes = |name: &str| {
        let rest = status.lines().find_map(|line| line.strip_prefix(name))?;
        rest.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    Some(Memory {
        resident: kilobytes("VmRSS:")?,
        peak: kilobytes("VmHWM:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_and_that_of_a_process_that_ended_is_none() {
        let text = "Name:\tkubist\nVmPeak:\t  9 kB\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n";
        let memory = Memory {
            resident: 10_240,
            peak: 20_480,
        };
        assert_eq!(parse(text), Some(memory));
        assert_eq!(parse("Name:\tkubist\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn this_process_holds_something() {
        let memory = Memory::of(std::process::id()).unwrap();
        assert!(memory.resident > 0 && memory.peak >= memory.resident / 2);
    }
}
