//! A linearizability checker for calls to one key.
//!
//! Wing and Gong's search with Lowe's memoization: it tries every order in which each call takes
//! effect at one moment between its start and its end. A call with an unknown outcome may have
//! taken effect at any time after its start, or never. Values are unique, so comparing revisions is
//! comparing values.

use std::collections::BTreeSet;

/// Maximum number of calls in a history.
pub const CALLS_MAX: usize = 64;

/// A call to a key, as its client saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a record of what was seen")]
pub struct Call {
    /// The call and its result.
    pub effect: Effect,
    /// When it began, on a counter that all clients share.
    pub started: u64,
    /// When it returned; `u64::MAX` if it did not.
    pub ended: u64,
}

/// A call. The value `None` means that the key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the search decides on each")]
pub enum Effect {
    /// It read this value.
    Read(Option<u64>),
    /// It replaced one value by another.
    Replaced(Option<u64>, Option<u64>),
    /// It expected the first value but found the second.
    Refused(Option<u64>, Option<u64>),
    /// It may have replaced one value by another, or may still do so.
    Unknown(Option<u64>, Option<u64>),
}

impl Effect {
    /// Reports whether the call can take effect on `value` with its result.
    fn fits(self, value: Option<u64>) -> bool {
        match self {
            Self::Read(found) => found == value,
            Self::Replaced(expected, _) | Self::Unknown(expected, _) => expected == value,
            Self::Refused(expected, found) => expected != value && found == value,
        }
    }

    /// Returns the value afterwards.
    fn after(self, value: Option<u64>) -> Option<u64> {
        match self {
            Self::Read(_) | Self::Refused(..) => value,
            Self::Replaced(_, new) | Self::Unknown(_, new) => new,
        }
    }
}

/// Reports whether the calls are linearizable, starting without a value.
///
/// # Panics
/// There are more than [`CALLS_MAX`].
pub fn is_linearizable(calls: &[Call]) -> bool {
    assert!(calls.len() <= CALLS_MAX, "a history is short");
    search(calls, 0, None, &mut BTreeSet::new())
}

/// `done` has a bit for each call that has taken effect.
fn search(
    calls: &[Call],
    done: u64,
    value: Option<u64>,
    seen: &mut BTreeSet<(u64, Option<u64>)>,
) -> bool {
    let left = || {
        let numbered = calls.iter().enumerate();
        numbered.filter(move |(at, _)| done & (1 << at) == 0)
    };
    // No call can take effect after the end of a call that has not.
    let horizon = left().map(|(_, call)| call.ended).min().unwrap_or(u64::MAX);
    if horizon == u64::MAX {
        return true; // What is left is not known to have happened.
    }
    if !seen.insert((done, value)) {
        return false;
    }
    left()
        .filter(|(_, call)| call.started < horizon)
        .any(|(at, call)| {
            let effect = call.effect;
            effect.fits(value) && search(calls, done | 1 << at, effect.after(value), seen)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(effect: Effect, started: u64, ended: u64) -> Call {
        Call {
            effect,
            started,
            ended,
        }
    }

    #[test]
    fn overlapping_calls_may_take_effect_in_either_order() {
        let create = call(Effect::Replaced(None, Some(1)), 0, 3);
        let absent = call(Effect::Read(None), 1, 2);
        let present = call(Effect::Read(Some(1)), 1, 2);
        assert!(is_linearizable(&[create, absent]));
        assert!(is_linearizable(&[create, present]));
        assert!(!is_linearizable(&[
            create,
            absent,
            call(Effect::Read(None), 4, 5)
        ]));
    }

    #[test]
    fn a_stale_read_is_found() {
        let history = [
            call(Effect::Replaced(None, Some(1)), 0, 1),
            call(Effect::Replaced(Some(1), Some(2)), 2, 3),
            call(Effect::Read(Some(1)), 4, 5),
        ];
        assert!(!is_linearizable(&history));
    }

    #[test]
    fn two_winners_of_one_compare_are_found() {
        let history = [
            call(Effect::Replaced(None, Some(1)), 0, 5),
            call(Effect::Replaced(None, Some(2)), 0, 5),
        ];
        assert!(!is_linearizable(&history));
        let refused = call(Effect::Refused(None, Some(1)), 0, 5);
        assert!(is_linearizable(&[history[0], refused]));
        assert!(!is_linearizable(&[refused]));
    }

    #[test]
    fn a_call_without_a_result_may_have_happened_late_or_never() {
        let lost = call(Effect::Unknown(None, Some(1)), 0, u64::MAX);
        let read = |found, at| call(Effect::Read(found), at, at + 1);
        assert!(is_linearizable(&[lost, read(None, 1), read(None, 5)]));
        assert!(is_linearizable(&[lost, read(None, 1), read(Some(1), 5)]));
        assert!(!is_linearizable(&[lost, read(Some(1), 1), read(None, 5)]));
    }
}
