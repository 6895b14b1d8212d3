//! Policies: the plugins `MutatingAdmissionPolicy` and `ValidatingAdmissionPolicy`.
//!
//! A policy says in CEL what it demands or changes; bindings say where it is in force, and with
//! which parameters. Whoever follows them puts them into a [`PolicyTable`], where each is compiled
//! once. What no policy names costs a look into an index.

mod binding;
mod composed;
mod definition;
mod exclusion;
mod forms;
mod metrics;
mod mutating;
mod mutation;
mod params;
mod patching;
mod refusals;
mod table;
mod validating;
mod validation;
mod verdicts;

pub use self::forms::PolicyParts;
pub use self::metrics::PolicyMetrics;
pub use self::mutating::MutatingPolicies;
pub use self::params::{ParamResource, ParamSource};
pub use self::table::PolicyTable;
pub use self::validating::ValidatingPolicies;
