//! `Reinvoked`: which webhooks or policies run again in the second round of changing plugins.
//!
//! One runs again if its policy allows it and the object has changed since it ran: by one that ran
//! later in the first round, or by another plugin.

use kubist_apimachinery::AnyObject;
use kubist_registry::admission::Attributes;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a plugin remembers of the first round. `I` identifies a webhook or a policy.
#[derive(Clone, Debug)]
pub(crate) struct Reinvoked<I> {
    is_second: bool,
    /// Those that ran, and may run again.
    invoked: BTreeSet<I>,
    /// Those that run again.
    again: BTreeSet<I>,
    /// The object when the plugin was done; kept only if anything may run again.
    last: Option<Arc<dyn AnyObject>>,
}

impl<I: Ord + Clone + Send + Sync + 'static> Reinvoked<I> {
    /// Begins a round of the plugin of this name.
    pub(crate) fn begin(plugin: &'static str, attributes: &Attributes<'_>) -> Self {
        let reinvocation = attributes.reinvocation();
        let is_second = reinvocation.is_second();
        let known = reinvocation.note::<Self>(plugin).cloned();
        let mut memory = known.unwrap_or(Self {
            is_second,
            invoked: BTreeSet::new(),
            again: BTreeSet::new(),
            last: None,
        });
        memory.is_second = is_second;
        let is_same = match (&memory.last, attributes.object()) {
            (Some(last), Some(object)) => last.equals(object),
            (last, object) => last.is_none() && object.is_none(),
        };
        if is_second && !is_same {
            memory.repeat_invoked();
        }
        memory
    }

    /// Reports whether this is the second round.
    pub(crate) fn is_second(&self) -> bool {
        self.is_second
    }

    /// Reports whether one runs in this round.
    pub(crate) fn is_due(&self, id: &I) -> bool {
        !self.is_second || self.again.contains(id)
    }

    /// Notes that one changed the object: those before it run again.
    pub(crate) fn object_changed(&mut self, attributes: &mut Attributes<'_>) {
        self.repeat_invoked();
        attributes.reinvocation_mut().request();
    }

    /// Notes that one ran that may run again.
    pub(crate) fn was_invoked(&mut self, id: I) {
        self.invoked.insert(id);
    }

    /// Ends the round.
    pub(crate) fn end(mut self, plugin: &'static str, attributes: &mut Attributes<'_>) {
        self.last = match attributes.object() {
            Some(object) if !self.invoked.is_empty() => Some(Arc::from(object.boxed_clone())),
            _ => None,
        };
        attributes.reinvocation_mut().set_note(plugin, self);
    }

    fn repeat_invoked(&mut self) {
        self.again.append(&mut self.invoked);
    }
}
