//! `Room`: the texts that definitions have made static, with limits on their size.
//!
//! Static memory is never released. So equal texts are stored once; each definition has its own
//! limit, which others cannot use up and which survives deletion and re-creation; and there is a
//! limit for all of them together.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes that one definition makes static at most, in the life of the process: some hundred
/// changes of its names and columns.
pub(crate) const DEFINITION_BYTES_MAX: usize = 512 << 10;
/// Bytes that all definitions make static at most.
const BYTES_MAX: usize = 256 << 20;
/// Bytes of a text beside itself: where it is found, and what the allocator adds.
const TEXT_BYTES: usize = 64;
/// Bytes of an item in a static list.
pub(crate) const ITEM_BYTES: usize = 16;

/// The exhausted limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// The definition's own: it has changed too often.
    Definition,
    /// That of all definitions.
    Process,
}

impl Shortage {
    /// Returns the message for the condition.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Definition => {
                "the definition has changed too often since the server started, or is too large"
            }
            Self::Process => "the server has no more room for definitions",
        }
    }
}

/// The static texts so far.
#[derive(Debug)]
pub(crate) struct Room {
    texts: BTreeSet<&'static str>,
    /// By the name of the definition.
    taken: BTreeMap<String, usize>,
    bytes: usize,
}

impl Room {
    pub(crate) const fn new() -> Self {
        Self {
            texts: BTreeSet::new(),
            taken: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Reserves room for a definition: for these texts, as far as they are new, and for this many
    /// further bytes.
    ///
    /// # Errors
    /// The limit is exhausted. Nothing is reserved then.
    pub(crate) fn take(
        &mut self,
        definition: &str,
        texts: &[&str],
        more: usize,
    ) -> Result<(), Shortage> {
        let new = texts.iter().filter(|it| !self.texts.contains(**it));
        let bytes = more + new.map(|it| TEXT_BYTES + it.len()).sum::<usize>();
        let taken = self.taken.get(definition).copied().unwrap_or_default();
        if taken + bytes > DEFINITION_BYTES_MAX {
            return Err(Shortage::Definition);
        }
        if self.bytes + bytes > BYTES_MAX {
            return Err(Shortage::Process);
        }
        self.bytes += bytes;
        self.taken.insert(definition.to_owned(), taken + bytes);
        Ok(())
    }

    /// A text that lives as long as the process. Room for it has been taken.
    pub(crate) fn text(&mut self, text: &str) -> &'static str {
        if text.is_empty() {
            return "";
        }
        if let Some(known) = self.texts.get(text) {
            return known;
        }
        let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
        self.texts.insert(new);
        new
    }

    /// The same of several.
    pub(crate) fn all<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
    ) -> &'static [&'static str] {
        leak_list(texts.map(|it| self.text(it)))
    }
}

/// A list that lives as long as the process.
pub(crate) fn leak_list<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<T>>().into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_uses_up_its_own_room_and_no_other() {
        let mut room = Room::new();
        let long = |number: usize| format!("{number}{}", "x".repeat(100 << 10));
        let fits = |room: &mut Room, name: &str, number| {
            let text = long(number);
            let taken = room.take(name, &[&text], 1 << 10);
            taken.map(|()| room.text(&text)).is_ok()
        };
        let taken = (0..100).filter(|it| fits(&mut room, "as.example.com", *it));
        assert_eq!(taken.count(), 5);
        assert!(fits(&mut room, "bs.example.com", 100));
        assert!(room.bytes <= 2 * DEFINITION_BYTES_MAX);
        let again = room.take("as.example.com", &[&long(0)], 0);
        assert_eq!(again, Ok(()), "what is static already takes nothing");
        let more = room.take("as.example.com", &[&long(101)], 0);
        assert_eq!(more, Err(Shortage::Definition));
    }

    #[test]
    fn all_definitions_together_have_a_bound() {
        let mut room = Room::new();
        let mut take = |it: usize| room.take(&it.to_string(), &[], DEFINITION_BYTES_MAX);
        let taken = (0..1000).map_while(|it| take(it).ok()).count();
        assert_eq!(taken, BYTES_MAX / DEFINITION_BYTES_MAX);
        assert_eq!(room.take("new", &["a"], 1), Err(Shortage::Process));
    }
}
