//! `StaticTexts`: the static texts of definitions, with limits on their size.
//!
//! Static memory is never released. So equal texts are stored once; each definition has its own
//! limit, which survives deletion and re-creation; and all definitions together have a limit.

use std::collections::{BTreeMap, BTreeSet};

/// The maximum of static bytes of one definition during the life of the process: some hundred
/// changes of its names and columns.
pub(crate) const DEFINITION_BYTES_MAX: usize = 512 << 10;
/// The maximum of static bytes of all definitions.
const BYTES_MAX: usize = 256 << 20;
/// The overhead of a text in bytes: its set entry and the allocator's overhead.
const TEXT_BYTES: usize = 64;
/// The bytes of an item in a static list.
pub(crate) const ITEM_BYTES: usize = 16;

/// The limit that is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    /// The limit of the definition, which has changed too often.
    Definition,
    /// The limit of all definitions together.
    Process,
}

impl Shortage {
    /// Returns the message for the condition.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Definition => {
                "the definition has changed too often since the server started, or is too large"
            }
            Self::Process => "the server's limit for definitions is exhausted",
        }
    }
}

/// The static texts so far.
#[derive(Debug)]
pub(crate) struct StaticTexts {
    texts: BTreeSet<&'static str>,
    /// The static bytes of each definition, by name.
    reserved: BTreeMap<String, usize>,
    bytes: usize,
}

impl StaticTexts {
    pub(crate) const fn new() -> Self {
        Self {
            texts: BTreeSet::new(),
            reserved: BTreeMap::new(),
            bytes: 0,
        }
    }

    /// Reserves static memory for a definition: for these texts, unless they are static already,
    /// and for `more` further bytes.
    ///
    /// # Errors
    /// A limit is exhausted. In that case, nothing is reserved.
    pub(crate) fn reserve(
        &mut self,
        definition: &str,
        texts: &[&str],
        more: usize,
    ) -> Result<(), Shortage> {
        let new = texts.iter().filter(|it| !self.texts.contains(**it));
        let bytes = more + new.map(|it| TEXT_BYTES + it.len()).sum::<usize>();
        let reserved = self.reserved.get(definition).copied().unwrap_or_default();
        if reserved + bytes > DEFINITION_BYTES_MAX {
            return Err(Shortage::Definition);
        }
        if self.bytes + bytes > BYTES_MAX {
            return Err(Shortage::Process);
        }
        self.bytes += bytes;
        self.reserved
            .insert(definition.to_owned(), reserved + bytes);
        Ok(())
    }

    /// Returns a text as a static string. The caller has reserved the memory for it.
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

    /// Returns several texts as a static list.
    pub(crate) fn all<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
    ) -> &'static [&'static str] {
        leak_list(texts.map(|it| self.text(it)))
    }
}

/// Returns a static list of the items.
pub(crate) fn leak_list<T>(items: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(items.collect::<Vec<T>>().into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_uses_up_its_own_limit_and_no_other() {
        let mut statics = StaticTexts::new();
        let long = |number: usize| format!("{number}{}", "x".repeat(100 << 10));
        let fits = |statics: &mut StaticTexts, name: &str, number| {
            let text = long(number);
            let reserved = statics.reserve(name, &[&text], 1 << 10);
            reserved.map(|()| statics.text(&text)).is_ok()
        };
        let fitting = (0..100).filter(|it| fits(&mut statics, "as.example.com", *it));
        assert_eq!(fitting.count(), 5);
        assert!(fits(&mut statics, "bs.example.com", 100));
        assert!(statics.bytes <= 2 * DEFINITION_BYTES_MAX);
        let again = statics.reserve("as.example.com", &[&long(0)], 0);
        assert_eq!(again, Ok(()), "static texts need no more memory");
        let more = statics.reserve("as.example.com", &[&long(101)], 0);
        assert_eq!(more, Err(Shortage::Definition));
    }

    #[test]
    fn all_definitions_together_have_a_bound() {
        let mut statics = StaticTexts::new();
        let mut take = |it: usize| statics.reserve(&it.to_string(), &[], DEFINITION_BYTES_MAX);
        let reserved = (0..1000).map_while(|it| take(it).ok()).count();
        assert_eq!(reserved, BYTES_MAX / DEFINITION_BYTES_MAX);
        assert_eq!(statics.reserve("new", &["a"], 1), Err(Shortage::Process));
    }
}
