//! `Numbering`: the numbers that a store gives to its objects.
//!
//! Numbers of removed objects are used again, the last first, so that they stay close together.

#[derive(Debug, Default)]
pub(crate) struct Numbering {
    unused: Vec<u32>,
    /// All numbers from here on are unused.
    end: u32,
}

impl Numbering {
    /// Returns the number after the highest that was ever used.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Returns an unused number, which is used from now on.
    pub(crate) fn take(&mut self) -> u32 {
        self.unused.pop().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        })
    }

    /// Takes back a number in use.
    pub(crate) fn put_back(&mut self, number: u32) {
        self.unused.push(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_before_new_ones() {
        let mut numbers = Numbering::default();
        let taken: Vec<_> = (0..4).map(|_| numbers.take()).collect();
        assert_eq!(taken, [0, 1, 2, 3]);
        numbers.put_back(1);
        numbers.put_back(3);
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [3, 1, 4]);
        assert_eq!(numbers.end(), 5);
    }
}
