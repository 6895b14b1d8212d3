//! `Mistake`: why a scenario cannot be explored at all, found before anything runs.

use crate::explore::scenario::Scenario;
use crate::explore::world::USER;
use std::collections::BTreeSet;

/// The most copies of one controller.
pub(crate) const COPIES_MAX: usize = 100;

/// What is wrong with a scenario itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The pointer of an excuse is no JSON pointer.
    #[error("the pointer of {excuse} does not begin with /, as JSON pointers do")]
    NoPointer {
        /// The excuse, with its kind and its pointer.
        excuse: String,
    },
    /// [`acts_as`](Scenario::acts_as) names a controller that there is not.
    #[error("acts_as names the controller {name:?}, and there is {}", .there.join(", "))]
    UnknownController {
        /// The name.
        name: String,
        /// Those that there are.
        there: Vec<String>,
    },
    /// A controller has no name.
    #[error("a controller has no name")]
    Unnamed,
    /// A controller has the name of another, or of a copy of another. What one wrote would be told
    /// of the other.
    #[error("two controllers are called {name:?}: each needs a name of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// A controller has the name under which the steps of the user are told.
    #[error("a controller is called {name:?}, as who takes the steps: it needs another name")]
    ReservedName {
        /// The name.
        name: String,
    },
    /// A controller has too many copies.
    #[error("the controller {name:?} has {copies} copies: at most {COPIES_MAX}")]
    TooManyCopies {
        /// The controller.
        name: String,
        /// Its copies.
        copies: usize,
    },
}

impl Mistake {
    /// Returns the first mistake of a scenario.
    pub(crate) fn of(scenario: &Scenario) -> Option<Self> {
        Self::of_excuses(scenario)
            .or_else(|| Self::of_names(scenario))
            .or_else(|| Self::of_logins(scenario))
    }

    fn of_excuses(scenario: &Scenario) -> Option<Self> {
        let mut excuses = scenario.excuses.iter();
        let wrong = excuses.find(|it| !it.pointer.is_empty() && !it.pointer.starts_with('/'))?;
        let excuse = wrong.to_string();
        Some(Self::NoPointer { excuse })
    }

    fn of_names(scenario: &Scenario) -> Option<Self> {
        let mut taken = BTreeSet::new();
        for candidate in &scenario.controllers {
            let (name, copies) = (candidate.name.clone(), candidate.copies);
            if name.is_empty() {
                return Some(Self::Unnamed);
            }
            if copies > COPIES_MAX {
                return Some(Self::TooManyCopies { name, copies });
            }
            // One that has copies may not be called like one of them, either.
            let labels = (0..copies).map(|number| candidate.label(number));
            let names: BTreeSet<String> = labels.chain([name]).collect();
            for name in names {
                if name == USER {
                    return Some(Self::ReservedName { name });
                }
                if !taken.insert(name.clone()) {
                    return Some(Self::SameName { name });
                }
            }
        }
        None
    }

    fn of_logins(scenario: &Scenario) -> Option<Self> {
        let there = || scenario.controllers.iter().map(|it| it.name.clone());
        let unknown = |it: &&String| !there().any(|name| name == **it);
        let name = scenario.logins.keys().find(unknown)?.clone();
        let there = there().collect();
        Some(Self::UnknownController { name, there })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn scenario(controllers: &[(&str, usize)]) -> Scenario {
        let add = |scenario: Scenario, (name, copies): &(&str, usize)| {
            scenario.copies(*name, *copies, |_, _| async { Ok::<_, Infallible>(()) })
        };
        controllers.iter().fold(Scenario::new("names"), add)
    }

    #[test]
    fn names_of_controllers_and_their_copies_have_to_be_different() {
        let same = |name: &str| {
            let name = name.to_owned();
            Some(Mistake::SameName { name })
        };
        let of = |controllers: &[(&str, usize)]| Mistake::of(&scenario(controllers));
        assert_eq!(of(&[("a", 1), ("b", 2), ("a-0", 1)]), None);
        assert_eq!(of(&[("a", 1), ("a", 1)]), same("a"));
        assert_eq!(of(&[("a", 2), ("a-1", 1)]), same("a-1"));
        let name = USER.to_owned();
        assert_eq!(of(&[(USER, 1)]), Some(Mistake::ReservedName { name }));
        assert_eq!(of(&[("", 1)]), Some(Mistake::Unnamed));
        assert!(matches!(
            of(&[("a", usize::MAX)]),
            Some(Mistake::TooManyCopies { .. })
        ));
    }
}
