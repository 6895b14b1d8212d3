//! Costs: what an expression may cost at most before it runs, and what it did cost.
//!
//! Costs are part of Kubernetes' API: they decide which rules a definition may have. So they equal
//! upstream's, quirks included.

pub(crate) mod call;
pub(crate) mod estimate;
pub(crate) mod runtime;
pub(crate) mod sizes;

pub use call::{Operand, Operands};
pub use estimate::{CallEstimate, CostEstimate, SizeEstimate};
pub use runtime::CallCost;
pub use sizes::{DeclaredSizes, PathElement, SizeEstimator, SizeNode};

/// The cost of a character of a string that is read.
pub const STRING_TRAVERSAL: f64 = 0.1;
/// The cost of a character of a regular expression.
pub const REGEX_LENGTH: f64 = 0.25;
/// The cost of creating a list.
pub const LIST_CREATION: u64 = 10;
/// The cost of creating a map.
pub const MAP_CREATION: u64 = 30;
/// The cost of creating a message.
pub const MESSAGE_CREATION: u64 = 40;
/// The cost limit of an expression.
pub const PER_CALL_LIMIT: u64 = 1_000_000;
