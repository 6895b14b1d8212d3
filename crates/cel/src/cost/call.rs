//! The operands of a call, as the functions that estimate its cost see them.

use super::estimate::{CallEstimate, CostEstimate, SizeEstimate};
use super::sizes::{PathElement, SizeEstimator, SizeNode};
use super::{REGEX_LENGTH, STRING_TRAVERSAL};
use crate::cel_type::Type;
use crate::value::Value;

/// The operands of a call whose cost is estimated.
pub struct Operands<'e, 'o> {
    /// The overload.
    pub overload: &'static str,
    /// The target of a member function.
    pub target: Option<Operand<'e, 'o>>,
    /// The arguments.
    pub arguments: &'o [Operand<'e, 'o>],
}

/// An operand of a call.
#[derive(Clone)]
pub struct Operand<'e, 'o> {
    pub(crate) path: Option<Vec<PathElement>>,
    pub(crate) kind: Type,
    pub(crate) computed: Option<SizeEstimate>,
    pub(crate) literal: Option<&'o Value<'static>>,
    pub(crate) sizes: &'e dyn SizeEstimator,
}

impl Operand<'_, '_> {
    /// Returns the size: computed, declared or unknown.
    pub fn size(&self) -> SizeEstimate {
        let declared = || {
            self.sizes.estimate(&SizeNode {
                path: self.path.as_deref(),
                kind: &self.kind,
            })
        };
        self.computed
            .or_else(declared)
            .unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// Returns the size that follows from the expression or is declared.
    pub const fn computed_size(&self) -> Option<SizeEstimate> {
        self.computed
    }

    /// Returns the type.
    pub const fn kind(&self) -> &Type {
        &self.kind
    }

    /// Returns the value of a literal.
    pub const fn literal(&self) -> Option<&Value<'static>> {
        self.literal
    }

    /// Returns the elements of a list or a map's keys, as one operand; none of a type without
    /// parameters.
    pub fn element(&self) -> Option<Self> {
        let kind = match &self.kind {
            Type::List(element) => (**element).clone(),
            Type::Map(map) => map.0.clone(),
            Type::Opaque(opaque) => opaque.1.first()?.clone(),
            _ => return None,
        };
        let path = self.path.as_ref().map(|path| {
            let mut path = path.clone();
            path.push(PathElement::Items);
            path
        });
        Some(Self {
            path,
            kind,
            computed: None,
            literal: None,
            sizes: self.sizes,
        })
    }
}

impl std::fmt::Debug for Operand<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operand")
            .field("kind", &self.kind)
            .field("computed", &self.computed)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Operands<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Operands");
        debug
            .field("overload", &self.overload)
            .field("target", &self.target)
            .field("arguments", &self.arguments)
            .finish()
    }
}

/// Returns the default cost of a call, without its arguments.
#[expect(clippy::too_many_lines, reason = "a table of overloads")]
pub(crate) fn default(asked: &Operands<'_, '_>) -> CallEstimate {
    let size = |at: usize| {
        asked
            .arguments
            .get(at)
            .and_then(|it| it.computed)
            .unwrap_or(SizeEstimate::UNKNOWN)
    };
    let target = asked
        .target
        .as_ref()
        .map(|it| it.computed.unwrap_or(SizeEstimate::UNKNOWN));
    let traversal = |size: SizeEstimate| size.times_factor(STRING_TRAVERSAL);
    match (asked.overload, target, asked.arguments.len()) {
        ("string_format", Some(target), _) => CallEstimate::of(traversal(target)),
        ("string_to_bytes", _, 1) => {
            let result = SizeEstimate {
                min: size(0).min,
                max: size(0).max.wrapping_mul(4),
            };
            CallEstimate {
                cost: traversal(size(0)),
                result_size: Some(result),
            }
        }
        ("bytes_to_string", _, 1) => {
            let result = SizeEstimate {
                min: size(0).min / 4,
                max: size(0).max,
            };
            CallEstimate {
                cost: traversal(size(0)),
                result_size: Some(result),
            }
        }
        ("strings_quote", _, 1) => {
            let SizeEstimate { min, max } = size(0);
            let result = SizeEstimate {
                min: min.wrapping_add(2),
                max: max.wrapping_mul(2).wrapping_add(2),
            };
            CallEstimate {
                cost: traversal(size(0)),
                result_size: Some(result),
            }
        }
        ("starts_with_string" | "ends_with_string", _, 1) => CallEstimate::of(traversal(size(0))),
        ("in_list", _, 2) => CallEstimate::of(size(1).times_factor(1.0)),
        ("matches_string", Some(target), 1) => {
            let text = traversal(target.plus(SizeEstimate::fixed(1)));
            CallEstimate::of(text.times(size(0).times_factor(REGEX_LENGTH)))
        }
        ("contains_string", Some(target), 1) => {
            CallEstimate::of(traversal(target).times(traversal(size(0))))
        }
        (overload @ ("add_string" | "add_bytes" | "add_list"), _, 2) => {
            let result = size(0).plus(size(1));
            let cost = if overload == "add_list" {
                CostEstimate::fixed(1)
            } else {
                traversal(result)
            };
            CallEstimate {
                cost,
                result_size: Some(result),
            }
        }
        (
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes"
            | "equals"
            | "not_equals",
            _,
            2,
        ) => {
            let max = size(0).max.min(size(1).max);
            let cost = CostEstimate {
                min: u64::from(max > 0),
                max,
            };
            CallEstimate::of(cost.times_factor(STRING_TRAVERSAL))
        }
        _ => CallEstimate::fixed(1),
    }
}
