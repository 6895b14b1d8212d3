//! `Trie`: a persistent hash trie, which makes snapshots cheap.
//!
//! A clone costs one reference count. A change copies only the nodes on its path that a clone still
//! shares (at most a few hundred bytes each), and modifies the others in place. So the cost of
//! publishing a clone after each batch depends on the batch, not on the number of entries.
//!
//! The trie neither hashes nor compares: callers pass a hash and a predicate for the entry.

use std::sync::Arc;

mod walk;

pub(crate) use walk::Walk;

/// The maximum number of entries in a leaf before it becomes a branch.
const LEAF_MAX: usize = 16;
/// A branch with this many entries or fewer becomes a leaf again.
const LEAF_AGAIN: usize = 8;
/// The hash bits used by one level.
const BITS: u32 = 4;
/// The number of levels after which the hash is used up, and leaves grow without bound.
const DEPTH_MAX: u32 = u64::BITS / BITS;

/// Several entries have the hash.
pub(crate) struct Ambiguous;

#[derive(Debug)]
pub(crate) struct Trie<E> {
    root: Link<E>,
    len: usize,
}

#[derive(Debug)]
enum Link<E> {
    Empty,
    /// Never empty.
    Leaf(Arc<[Slot<E>]>),
    Branch(Arc<Branch<E>>),
}

#[derive(Clone, Debug, Default)]
struct Slot<E> {
    hash: u64,
    entry: E,
}

#[derive(Debug)]
struct Branch<E> {
    len: usize,
    links: [Link<E>; 1 << BITS],
}

impl<E> Clone for Trie<E> {
    fn clone(&self) -> Self {
        Self {
            root: self.root.clone(),
            len: self.len,
        }
    }
}

impl<E> Default for Trie<E> {
    fn default() -> Self {
        Self {
            root: Link::Empty,
            len: 0,
        }
    }
}

impl<E> Clone for Link<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Leaf(leaf) => Self::Leaf(Arc::clone(leaf)),
            Self::Branch(branch) => Self::Branch(Arc::clone(branch)),
        }
    }
}

impl<E> Clone for Branch<E> {
    fn clone(&self) -> Self {
        Self {
            len: self.len,
            links: self.links.clone(),
        }
    }
}

/// The index of the child to which a hash belongs, at a depth.
#[expect(clippy::cast_possible_truncation, reason = "four bits of it are used")]
fn child(hash: u64, depth: u32) -> usize {
    (hash >> (depth * BITS)) as usize & ((1 << BITS) - 1)
}

impl<E> Trie<E> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, hash: u64, same: impl Fn(&E) -> bool) -> Option<&E> {
        self.with_hash(hash).find(|entry| same(entry))
    }

    /// Returns the entry with this hash, if there is exactly one.
    pub(crate) fn only(&self, hash: u64) -> Result<Option<&E>, Ambiguous> {
        let mut found = None;
        for slot in self.leaf(hash) {
            if slot.hash == hash && found.replace(&slot.entry).is_some() {
                return Err(Ambiguous);
            }
        }
        Ok(found)
    }

    /// Returns the entries with this hash.
    pub(crate) fn with_hash(&self, hash: u64) -> impl Iterator<Item = &E> {
        let found = self.leaf(hash).iter().filter(move |slot| slot.hash == hash);
        found.map(|slot| &slot.entry)
    }

    fn leaf(&self, hash: u64) -> &[Slot<E>] {
        let mut link = &self.root;
        let mut rest = hash;
        loop {
            match link {
                Link::Empty => return &[],
                Link::Leaf(leaf) => return leaf,
                Link::Branch(branch) => {
                    link = &branch.links[child(rest, 0)];
                    rest >>= BITS;
                }
            }
        }
    }

    /// Returns the hashes of all entries.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.slots().map(|slot| slot.hash)
    }

    /// Iterates over the entries.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &E> {
        self.slots().map(|slot| &slot.entry)
    }

    fn slots(&self) -> Slots<'_, E> {
        let mut slots = Slots {
            branches: Vec::new(),
            leaf: [].iter(),
            remaining: self.len,
        };
        slots.enter(&self.root);
        slots
    }
}

impl<E: Clone + Default> Trie<E> {
    /// Adds an entry or replaces the same one, which is returned.
    pub(crate) fn insert(&mut self, hash: u64, entry: E, same: impl Fn(&E) -> bool) -> Option<E> {
        let old = insert(&mut self.root, 0, Slot { hash, entry }, &same);
        self.len += usize::from(old.is_none());
        old
    }

    pub(crate) fn remove(&mut self, hash: u64, same: impl Fn(&E) -> bool) -> Option<E> {
        // Looking first leaves shared nodes untouched when there is nothing to remove.
        self.get(hash, &same)?;
        let old = remove(&mut self.root, 0, hash, &same);
        self.len -= usize::from(old.is_some());
        old
    }

    pub(crate) fn get_mut(&mut self, hash: u64, same: impl Fn(&E) -> bool) -> Option<&mut E> {
        let mut link = &mut self.root;
        for depth in 0.. {
            match link {
                Link::Empty => return None,
                Link::Branch(branch) => {
                    link = &mut Arc::make_mut(branch).links[child(hash, depth)];
                }
                Link::Leaf(leaf) => {
                    let found = position(leaf, hash, &same)?;
                    return Some(&mut Arc::make_mut(leaf)[found].entry);
                }
            }
        }
        None
    }
}

fn position<E>(leaf: &[Slot<E>], hash: u64, same: &impl Fn(&E) -> bool) -> Option<usize> {
    leaf.iter()
        .position(|slot| slot.hash == hash && same(&slot.entry))
}

fn insert<E: Clone + Default>(
    link: &mut Link<E>,
    depth: u32,
    slot: Slot<E>,
    same: &impl Fn(&E) -> bool,
) -> Option<E> {
    match link {
        Link::Empty => {
            *link = Link::Leaf(Arc::new([slot]));
            None
        }
        Link::Leaf(leaf) => {
            if let Some(found) = position(leaf, slot.hash, same) {
                let place = &mut Arc::make_mut(leaf)[found];
                return Some(std::mem::replace(place, slot).entry);
            }
            let longer = longer(leaf, slot);
            if longer.len() <= LEAF_MAX || depth == DEPTH_MAX {
                *leaf = longer;
                return None;
            }
            let mut longer = longer;
            let mut branch = Branch {
                len: 0,
                links: std::array::from_fn(|_| Link::Empty),
            };
            for moved in Arc::make_mut(&mut longer).iter_mut().map(std::mem::take) {
                branch.len += 1;
                let place = &mut branch.links[child(moved.hash, depth)];
                // All entries are different, so nothing is replaced.
                insert(place, depth + 1, moved, same);
            }
            *link = Link::Branch(Arc::new(branch));
            None
        }
        Link::Branch(branch) => {
            let branch = Arc::make_mut(branch);
            let place = &mut branch.links[child(slot.hash, depth)];
            let old = insert(place, depth + 1, slot, same);
            branch.len += usize::from(old.is_none());
            old
        }
    }
}

fn remove<E: Clone + Default>(
    link: &mut Link<E>,
    depth: u32,
    hash: u64,
    same: &impl Fn(&E) -> bool,
) -> Option<E> {
    match link {
        Link::Empty => None,
        Link::Leaf(leaf) => {
            let found = position(leaf, hash, same)?;
            let entry = leaf[found].entry.clone();
            if leaf.len() == 1 {
                *link = Link::Empty;
            } else {
                *leaf = shorter(leaf, found);
            }
            Some(entry)
        }
        Link::Branch(branch) => {
            let branch = Arc::make_mut(branch);
            let old = remove(&mut branch.links[child(hash, depth)], depth + 1, hash, same)?;
            branch.len -= 1;
            if branch.len <= LEAF_AGAIN {
                let mut leaf = Vec::with_capacity(branch.len);
                for link in &branch.links {
                    gather(link, &mut leaf);
                }
                *link = if leaf.is_empty() {
                    Link::Empty
                } else {
                    Link::Leaf(leaf.into())
                };
            }
            Some(old)
        }
    }
}

/// Returns a leaf with one more entry. Entries of an unshared leaf are moved, because cloning them
/// would touch the memory to which they refer.
fn longer<E: Clone + Default>(leaf: &mut Arc<[Slot<E>]>, slot: Slot<E>) -> Arc<[Slot<E>]> {
    match Arc::get_mut(leaf) {
        Some(own) => own.iter_mut().map(std::mem::take).chain([slot]).collect(),
        None => leaf.iter().cloned().chain([slot]).collect(),
    }
}

/// Returns a leaf without the entry at `gone`, moving entries likewise.
fn shorter<E: Clone + Default>(leaf: &mut Arc<[Slot<E>]>, gone: usize) -> Arc<[Slot<E>]> {
    if let Some(own) = Arc::get_mut(leaf) {
        let (before, after) = own.split_at_mut(gone);
        let after = after.iter_mut().skip(1);
        return before.iter_mut().chain(after).map(std::mem::take).collect();
    }
    let (before, after) = (&leaf[..gone], &leaf[gone + 1..]);
    before.iter().chain(after).cloned().collect()
}

fn gather<E: Clone>(link: &Link<E>, into: &mut Vec<Slot<E>>) {
    match link {
        Link::Empty => {}
        Link::Leaf(leaf) => into.extend(leaf.iter().cloned()),
        Link::Branch(branch) => branch.links.iter().for_each(|link| gather(link, into)),
    }
}

/// Iterates over the slots of a [`Trie`] in hash order. The order is the same for the same contents
/// only if leaves were filled in the same order.
#[derive(Debug)]
struct Slots<'a, E> {
    branches: Vec<std::slice::Iter<'a, Link<E>>>,
    leaf: std::slice::Iter<'a, Slot<E>>,
    remaining: usize,
}

impl<'a, E> Slots<'a, E> {
    fn enter(&mut self, link: &'a Link<E>) {
        match link {
            Link::Empty => {}
            Link::Leaf(leaf) => self.leaf = leaf.iter(),
            Link::Branch(branch) => self.branches.push(branch.links.iter()),
        }
    }
}

impl<'a, E> Iterator for Slots<'a, E> {
    type Item = &'a Slot<E>;

    fn next(&mut self) -> Option<&'a Slot<E>> {
        loop {
            if let Some(slot) = self.leaf.next() {
                self.remaining -= 1;
                return Some(slot);
            }
            match self.branches.last_mut()?.next() {
                Some(link) => self.enter(link),
                None => drop(self.branches.pop()),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<E> ExactSizeIterator for Slots<'_, E> {}

#[cfg(test)]
mod tests;
