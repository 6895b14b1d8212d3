//! The lines that two texts have in common: the longest block of them first, then what is before
//! and after it in the same way. So does what upstream compares texts with.
//!
//! Lines that a long text has often are no beginning of a block, but may be part of one.

use std::collections::BTreeMap;

/// Lines of a text at which those that are there often begin not to count.
const LONG: usize = 200;
/// Pairs of equal lines that are looked at before the rest is taken for different.
const PAIRS_MAX: usize = 1 << 20;

/// So many lines from `old` and `new` on are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) lines: usize,
}

/// A part of both texts: where it begins and ends.
#[derive(Clone, Copy)]
struct Part {
    old: (usize, usize),
    new: (usize, usize),
}

/// What is compared, and how much may still be.
struct Matches<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// Where the new text has each line.
    places: BTreeMap<&'a str, Vec<usize>>,
    pairs_left: usize,
}

/// The blocks, in their order.
pub(super) fn blocks(old: &[&str], new: &[&str]) -> Vec<Block> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    if new.len() >= LONG {
        let often = new.len() / 100 + 1;
        places.retain(|_, at| at.len() <= often);
    }
    let mut matches = Matches {
        old,
        new,
        places,
        pairs_left: PAIRS_MAX,
    };
    let mut found = Vec::new();
    let mut parts = vec![Part {
        old: (0, old.len()),
        new: (0, new.len()),
    }];
    while let Some(part) = parts.pop() {
        let block = matches.longest(part);
        if block.lines == 0 {
            continue;
        }
        found.push(block);
        let (old_end, new_end) = (block.old + block.lines, block.new + block.lines);
        parts.push(Part {
            old: (part.old.0, block.old),
            new: (part.new.0, block.new),
        });
        parts.push(Part {
            old: (old_end, part.old.1),
            new: (new_end, part.new.1),
        });
    }
    found.sort_by_key(|it| (it.old, it.new));
    found
}

impl Matches<'_> {
    /// The longest block of a part; the first of several.
    fn longest(&mut self, part: Part) -> Block {
        let mut best = Block {
            old: part.old.0,
            new: part.new.0,
            lines: 0,
        };
        // How many lines before each place of the new text, and with it, are the same.
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        for at in part.old.0..part.old.1 {
            let mut now = BTreeMap::new();
            let places = self.old.get(at).and_then(|line| self.places.get(line));
            for &place in places.into_iter().flatten() {
                if place < part.new.0 {
                    continue;
                }
                if place >= part.new.1 || self.pairs_left == 0 {
                    break;
                }
                self.pairs_left -= 1;
                let above = place.checked_sub(1).and_then(|it| before.get(&it));
                let lines = above.copied().unwrap_or_default() + 1;
                now.insert(place, lines);
                if lines > best.lines {
                    best = Block {
                        old: at + 1 - lines,
                        new: place + 1 - lines,
                        lines,
                    };
                }
            }
            before = now;
        }
        self.grown(best, part)
    }

    /// A block with the lines around it that are the same, too, though they are there often.
    fn grown(&self, mut block: Block, part: Part) -> Block {
        let same = |old: usize, new: usize| {
            let lines = self.old.get(old).zip(self.new.get(new));
            lines.is_some_and(|(old, new)| old == new)
        };
        while block.old > part.old.0 && block.new > part.new.0 && same(block.old - 1, block.new - 1)
        {
            block.old -= 1;
            block.new -= 1;
            block.lines += 1;
        }
        while block.old + block.lines < part.old.1
            && block.new + block.lines < part.new.1
            && same(block.old + block.lines, block.new + block.lines)
        {
            block.lines += 1;
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(old: &str, new: &str) -> Vec<(usize, usize, usize)> {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split(' ').collect(), new.split(' ').collect());
        let found = blocks(&old, &new).into_iter();
        found.map(|it| (it.old, it.new, it.lines)).collect()
    }

    #[test]
    fn the_longest_block_is_kept_and_what_is_around_it_follows() {
        assert_eq!(of("a b c d", "a b c d"), [(0, 0, 4)]);
        assert_eq!(of("a b x c d e", "a b c d e"), [(0, 0, 2), (3, 2, 3)]);
        // The shortest way would keep more lines.
        assert_eq!(of("a x b y c d", "c d a b"), [(4, 0, 2)]);
        assert_eq!(of("a", "b"), []);
    }

    #[test]
    fn what_a_long_text_has_often_begins_no_block() {
        let mut old: Vec<&str> = vec!["often"; 300];
        let new = old.clone();
        assert_eq!(blocks(&old, &new)[0].lines, 300, "but it grows one");
        old.insert(0, "other");
        let with_one: Vec<&str> = std::iter::once("one").chain(new).collect();
        assert_eq!(blocks(&old, &with_one), []);
    }
}
