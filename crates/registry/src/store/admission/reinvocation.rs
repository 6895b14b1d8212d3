//! `Reinvocation`: whether the changing plugins of a chain run a second time.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

/// Whether the changing plugins of a chain run a second time, and what each remembers of the first.
#[derive(Default)]
pub struct Reinvocation {
    again: bool,
    wanted: bool,
    notes: BTreeMap<&'static str, Box<dyn Any + Send + Sync>>,
}

impl Reinvocation {
    /// Reports whether this is the second time.
    pub fn is_second(&self) -> bool {
        self.again
    }

    /// Lets all changing plugins run again, once, after the last of them: for a plugin whose
    /// changes others should see. Without effect the second time.
    pub fn request(&mut self) {
        self.wanted = true;
    }

    /// Returns what the plugin of this name remembers of this request.
    pub fn note<T: Any>(&self, plugin: &'static str) -> Option<&T> {
        self.notes.get(plugin)?.downcast_ref()
    }

    /// Remembers something for the plugin of this name, until the request is admitted.
    pub fn set_note(&mut self, plugin: &'static str, note: impl Any + Send + Sync) {
        self.notes.insert(plugin, Box::new(note));
    }

    /// Begins the second time, if it was requested.
    pub(crate) fn begin(&mut self) -> bool {
        let begins = self.wanted && !self.again;
        self.again |= begins;
        begins
    }
}

impl fmt::Debug for Reinvocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reinvocation")
            .field("again", &self.again)
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}
