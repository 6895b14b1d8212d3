//! Stories: what happened in a run that failed, told for people.
//!
//! A story has the steps of the user, the faults, and every write: by whom, what changed, and what
//! the writer's cache showed if that was an older version. It ends with what is wrong, what the
//! caches showed then, and how to run it again.
//!
//! It is not a log: reads, and what happens beside the work (leases, events), are left out.

mod caches;
mod entry;
mod lines;

pub(crate) use entry::{Entry, What, title};
pub use lines::Line;
use lines::Teller;
use std::fmt;

/// A story with more lines is cut in the middle.
const LINES_MAX: usize = 60;
/// The lines that are kept of its beginning then.
const BEGINNING: usize = 15;

/// What happened in a run that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    heading: String,
    faults: Vec<String>,
    lines: Vec<Line>,
    left_out: usize,
    caches: Vec<String>,
    end: Vec<String>,
}

impl Story {
    /// Tells what happened: after what it is about and what goes wrong, and before what to do.
    pub(crate) fn tell(
        heading: String,
        faults: Vec<String>,
        entries: &[Entry],
        end: Vec<String>,
    ) -> Self {
        let mut teller = Teller::default();
        for entry in entries {
            teller.hear(entry);
        }
        let (mut lines, caches) = teller.end();
        let mut left_out = 0;
        if lines.len() > LINES_MAX {
            left_out = lines.len() - LINES_MAX;
            lines.drain(BEGINNING..BEGINNING + left_out);
        }
        Self {
            heading,
            faults,
            lines,
            left_out,
            caches,
            end,
        }
    }

    /// Returns the lines: what happened, in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the number of lines of the whole text.
    pub fn len(&self) -> usize {
        self.to_string().lines().count()
    }

    /// Reports whether nothing is told.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.heading)?;
        if !self.faults.is_empty() {
            writeln!(f, "what goes wrong:")?;
            self.faults
                .iter()
                .try_for_each(|it| writeln!(f, "    {it}"))?;
        }
        if !self.lines.is_empty() {
            writeln!(f, "what happened:")?;
        }
        for (index, line) in self.lines.iter().enumerate() {
            if self.left_out > 0 && index == BEGINNING {
                writeln!(f, "    … {} lines left out …", self.left_out)?;
            }
            writeln!(f, "    {line}")?;
        }
        if !self.caches.is_empty() {
            writeln!(f, "what caches showed then, and what was stored:")?;
            self.caches
                .iter()
                .try_for_each(|it| writeln!(f, "    {it}"))?;
        }
        self.end.iter().try_for_each(|it| writeln!(f, "{it}"))
    }
}
