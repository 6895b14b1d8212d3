//! `Conflict`: a field that an apply changes and another manager owns.

use crate::manager_id::ManagerId;
use crate::path_element::PathElement;
use std::fmt;

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is a pair")]
pub struct Conflict {
    /// Its owner.
    pub manager: ManagerId,
    /// Its path.
    pub path: Vec<PathElement>,
}

/// The conflicts of an apply; at least one. Ordered by manager, and then by path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflicts(pub(crate) Vec<Conflict>);

impl Conflict {
    /// Returns the path in upstream's notation: `.spec.containers[name="a"].image`.
    pub fn field(&self) -> String {
        self.path.iter().map(ToString::to_string).collect()
    }
}

impl Conflicts {
    /// Returns the conflicts.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.0
    }

    /// Orders conflicts by the identifiers of their managers.
    pub(crate) fn sorted(mut conflicts: Vec<Conflict>) -> Self {
        conflicts.sort_by_cached_key(|it| it.manager.identifier());
        Self(conflicts)
    }

    /// Returns those that `keep` accepts; none if there are none.
    pub(crate) fn filter(self, keep: impl Fn(&Conflict) -> bool) -> Option<Self> {
        let rest: Vec<Conflict> = self.0.into_iter().filter(keep).collect();
        (!rest.is_empty()).then_some(Self(rest))
    }
}

/// The message that upstream's API server answers with.
impl fmt::Display for Conflicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.0[..] {
            let (manager, field) = (&only.manager, only.field());
            return write!(
                f,
                "Apply failed with 1 conflict: conflict with {manager}: {field}"
            );
        }
        write!(f, "Apply failed with {} conflicts:", self.0.len())?;
        let mut before = " ";
        for of_one in self.0.chunk_by(|left, right| left.manager == right.manager) {
            if let Some(first) = of_one.first() {
                write!(f, "{before}conflicts with {}:", first.manager)?;
            }
            for conflict in of_one {
                write!(f, "\n- {}", conflict.field())?;
            }
            before = "\n";
        }
        Ok(())
    }
}

impl std::error::Error for Conflicts {}
