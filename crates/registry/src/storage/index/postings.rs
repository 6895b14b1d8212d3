//! `Postings`: which objects have a label or an indexed field, and with which value.
//!
//! Pure. Objects and terms have numbers, and the objects of a term are a compressed bitmap of
//! numbers, so a label that all objects share costs a few bytes for each thousand, and an object
//! without labels and fields costs nothing. An object beyond the bounds is not lost: it is in
//! `unknown`, which every query returns.

use crate::storage::predicate::wanted::{Origin, Wanted};
use bytes::Bytes;
use hashbrown::{DefaultHashBuilder, HashTable};
use kubist_storage::KeyRange;
use roaring::RoaringBitmap;
use std::hash::BuildHasher;
use std::mem;

/// The maximum of terms of one object; with more it is unknown.
const TERMS_OF_OBJECT_MAX: usize = 64;
/// The maximum length of a key and a value together: valid labels have 63 + 317 bytes.
const TERM_BYTES_MAX: usize = 512;
/// The maximum of distinct terms of a resource; objects with further ones are unknown.
const TERMS_MAX: usize = 1 << 20;

/// A property of an object: a name with a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property<'a> {
    pub(crate) origin: Origin,
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

/// The postings of a resource.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    objects: Vec<Object>,
    unused_objects: Vec<u32>,
    by_key: HashTable<u32>,
    terms: Vec<Term>,
    unused_terms: Vec<u32>,
    by_text: HashTable<u32>,
    /// The objects whose terms are not known.
    unknown: RoaringBitmap,
    hashing: DefaultHashBuilder,
}

#[derive(Debug, Default)]
struct Object {
    key: Bytes,
    /// Its terms, sorted.
    terms: Box<[u32]>,
}

#[derive(Debug)]
struct Term {
    text: Text,
    members: Members,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Text {
    /// A name, whatever its value.
    Name(Origin, Box<str>),
    /// The term of a name, and a value. The term of the name lives as long: each object with the
    /// value has the name.
    Value(u32, Box<str>),
}

/// The text of a term for look-ups, borrowed.
#[derive(Clone, Copy)]
enum TextRef<'a> {
    Name(Origin, &'a str),
    Value(u32, &'a str),
}

/// The objects of a term. Many terms have one.
#[derive(Debug, Default)]
enum Members {
    #[default]
    None,
    One(u32),
    Many(RoaringBitmap),
}

impl Postings {
    /// Returns the number of objects with properties.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Sets the properties of an object; `None` if they cannot be read.
    pub(crate) fn put(&mut self, key: &Bytes, properties: Option<&[Property<'_>]>) {
        if properties.is_some_and(<[_]>::is_empty) {
            // No query finds it, so it needs no number.
            return self.remove(key);
        }
        let object = self.number_of(key);
        let terms = properties.and_then(|it| self.terms_of(it));
        if terms.is_some() {
            self.unknown.remove(object);
        } else {
            self.unknown.insert(object);
        }
        self.replace(object, terms.unwrap_or_default());
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        let hash = self.hashing.hash_one(key);
        let objects = &self.objects;
        let is_key = |it: &u32| key_of(objects, *it) == key;
        let Ok(entry) = self.by_key.find_entry(hash, is_key) else {
            return;
        };
        let (object, _) = entry.remove();
        self.replace(object, Vec::new());
        self.unknown.remove(object);
        if let Some(it) = self.objects.get_mut(object as usize) {
            it.key = Bytes::new();
        }
        self.unused_objects.push(object);
    }

    /// Returns the objects that may have everything that is wanted; `None` if nothing is.
    pub(crate) fn candidates<'a, V: AsRef<str> + 'a>(
        &self,
        wanted: impl Iterator<Item = Wanted<'a, V>>,
    ) -> Option<RoaringBitmap> {
        let mut found: Option<RoaringBitmap> = None;
        for wanted in wanted {
            let having = self.having(wanted);
            found = Some(match found {
                None => having,
                Some(mut found) => {
                    found &= having;
                    found
                }
            });
        }
        found.map(|mut found| {
            found |= &self.unknown;
            found
        })
    }

    /// Returns the keys of these objects that are in a range, in order.
    pub(crate) fn keys(&self, objects: &RoaringBitmap, range: &KeyRange) -> Vec<Bytes> {
        let keys = objects.iter().filter_map(|it| {
            let key = &self.objects.get(it as usize)?.key;
            range.contains(key).then(|| key.clone())
        });
        let mut keys: Vec<Bytes> = keys.collect();
        keys.sort_unstable();
        keys
    }

    fn having<V: AsRef<str>>(&self, wanted: Wanted<'_, V>) -> RoaringBitmap {
        let mut having = RoaringBitmap::new();
        let Some(name) = self.find(TextRef::Name(wanted.origin, wanted.name)) else {
            return having;
        };
        match wanted.values {
            None => self.add_members(name, &mut having),
            Some(values) => {
                for value in values {
                    if let Some(term) = self.find(TextRef::Value(name, value.as_ref())) {
                        self.add_members(term, &mut having);
                    }
                }
            }
        }
        having
    }

    fn add_members(&self, term: u32, having: &mut RoaringBitmap) {
        match self.terms.get(term as usize).map(|it| &it.members) {
            Some(Members::One(object)) => drop(having.insert(*object)),
            Some(Members::Many(objects)) => *having |= objects,
            Some(Members::None) | None => {}
        }
    }

    fn find(&self, text: TextRef<'_>) -> Option<u32> {
        let hash = self.hash(text);
        let is_text = |it: &u32| {
            self.terms
                .get(*it as usize)
                .is_some_and(|it| it.text.is(text))
        };
        self.by_text.find(hash, is_text).copied()
    }

    fn hash(&self, text: TextRef<'_>) -> u64 {
        hash_of(&self.hashing, text)
    }

    fn number_of(&mut self, key: &Bytes) -> u32 {
        let hash = self.hashing.hash_one(&key[..]);
        let objects = &self.objects;
        if let Some(known) = self.by_key.find(hash, |it| key_of(objects, *it) == key) {
            return *known;
        }
        let new = Object {
            key: key.clone(),
            terms: Box::default(),
        };
        let number = placed(&mut self.objects, &mut self.unused_objects, new);
        let (objects, hashing) = (&self.objects, &self.hashing);
        let rehash = |it: &u32| hashing.hash_one(key_of(objects, *it));
        self.by_key.insert_unique(hash, number, rehash);
        number
    }

    /// Returns the terms of these properties, sorted; `None` if they are beyond a bound.
    fn terms_of(&mut self, properties: &[Property<'_>]) -> Option<Vec<u32>> {
        let is_long = |it: &Property<'_>| it.name.len() + it.value.len() > TERM_BYTES_MAX;
        let count = properties.len() * 2;
        let room = TERMS_MAX.saturating_sub(self.by_text.len());
        if count > TERMS_OF_OBJECT_MAX.min(room) || properties.iter().any(is_long) {
            return None;
        }
        let mut terms = Vec::with_capacity(count);
        for property in properties {
            let name = self.term(TextRef::Name(property.origin, property.name));
            terms.push(name);
            terms.push(self.term(TextRef::Value(name, property.value)));
        }
        terms.sort_unstable();
        terms.dedup();
        Some(terms)
    }

    fn term(&mut self, text: TextRef<'_>) -> u32 {
        if let Some(known) = self.find(text) {
            return known;
        }
        let hash = self.hash(text);
        let new = Term {
            text: text.owned(),
            members: Members::None,
        };
        let number = placed(&mut self.terms, &mut self.unused_terms, new);
        let (terms, hashing) = (&self.terms, &self.hashing);
        let rehash = |it: &u32| {
            let text = terms.get(*it as usize).map(|it| it.text.borrowed());
            text.map_or(0, |text| hash_of(hashing, text))
        };
        self.by_text.insert_unique(hash, number, rehash);
        number
    }

    /// Replaces the terms of an object by these, which are sorted.
    fn replace(&mut self, object: u32, terms: Vec<u32>) {
        let Some(known) = self.objects.get_mut(object as usize) else {
            return;
        };
        if *known.terms == *terms {
            return;
        }
        let before = mem::replace(&mut known.terms, terms.into_boxed_slice());
        // Few, and sorted.
        let after = known.terms.clone();
        for term in after.iter().filter(|it| before.binary_search(it).is_err()) {
            if let Some(term) = self.terms.get_mut(*term as usize) {
                term.members.insert(object);
            }
        }
        for term in before.iter().filter(|it| after.binary_search(it).is_err()) {
            self.leave(*term, object);
        }
    }

    /// Removes an object from a term, and the term with its last object.
    fn leave(&mut self, number: u32, object: u32) {
        let Some(term) = self.terms.get_mut(number as usize) else {
            return;
        };
        if !term.members.remove(object) {
            return;
        }
        let text = mem::take(&mut term.text);
        let hash = hash_of(&self.hashing, text.borrowed());
        if let Ok(entry) = self.by_text.find_entry(hash, |it| *it == number) {
            entry.remove();
            self.unused_terms.push(number);
        }
    }
}

impl Members {
    fn insert(&mut self, object: u32) {
        match self {
            Self::None => *self = Self::One(object),
            Self::One(known) if *known == object => {}
            Self::One(known) => *self = Self::Many([*known, object].into_iter().collect()),
            Self::Many(objects) => drop(objects.insert(object)),
        }
    }

    /// Removes an object. Returns whether it was the last.
    fn remove(&mut self, object: u32) -> bool {
        match self {
            Self::None => true,
            Self::One(known) => {
                let is_last = *known == object;
                if is_last {
                    *self = Self::None;
                }
                is_last
            }
            Self::Many(objects) => {
                objects.remove(object);
                if objects.len() == 1
                    && let Some(last) = objects.min()
                {
                    *self = Self::One(last);
                }
                false
            }
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Value(0, Box::default())
    }
}

impl Text {
    fn borrowed(&self) -> TextRef<'_> {
        match self {
            Self::Name(origin, name) => TextRef::Name(*origin, name),
            Self::Value(name, value) => TextRef::Value(*name, value),
        }
    }

    fn is(&self, text: TextRef<'_>) -> bool {
        match (self, text) {
            (Self::Name(origin, name), TextRef::Name(other, text)) => {
                *origin == other && **name == *text
            }
            (Self::Value(name, value), TextRef::Value(other, text)) => {
                *name == other && **value == *text
            }
            _ => false,
        }
    }
}

impl TextRef<'_> {
    fn owned(self) -> Text {
        match self {
            Self::Name(origin, name) => Text::Name(origin, name.into()),
            Self::Value(name, value) => Text::Value(name, value.into()),
        }
    }
}

fn hash_of(hashing: &DefaultHashBuilder, text: TextRef<'_>) -> u64 {
    match text {
        TextRef::Name(origin, name) => hashing.hash_one((origin, name)),
        TextRef::Value(name, value) => hashing.hash_one((name, value)),
    }
}

fn key_of(objects: &[Object], number: u32) -> &[u8] {
    objects.get(number as usize).map_or(&[], |it| &it.key)
}

/// Puts an item at an unused number, or at the next.
fn placed<T>(items: &mut Vec<T>, unused: &mut Vec<u32>, item: T) -> u32 {
    if let Some(number) = unused.pop()
        && let Some(place) = items.get_mut(number as usize)
    {
        *place = item;
        return number;
    }
    // Numbers beyond 32 bits would need more memory than any process has.
    let number = u32::try_from(items.len()).unwrap_or(u32::MAX);
    items.push(item);
    number
}

#[cfg(test)]
mod tests;
