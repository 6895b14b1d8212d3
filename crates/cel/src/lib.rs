//! Kubernetes' CEL: expressions that are type checked, costed and evaluated as kube-apiserver does.
//!
//! An [`Environment`] is built once for a [`Version`] and extended with variables. It compiles text
//! to a [`Program`], which has a type and a cost estimate. The program is evaluated with an
//! [`Activation`] within a [`Budget`]:
//!
//! ```
//! use kubist_cel::{Activation, Budget, Environment, Type, Value, Version};
//!
//! let environment = Environment::new(Version::minor(36)).extend([("replicas", Type::Int)]);
//! let program = environment.compile("replicas >= 1 && replicas <= 10")?;
//! let activation = Activation::new().bind("replicas", Value::Int(3));
//! let evaluated = program.evaluate(&activation, Budget::default());
//! assert!(matches!(evaluated.value, Ok(Value::Bool(true))));
//! assert_eq!(evaluated.cost, 4);
//! # Ok::<(), kubist_cel::CompileError>(())
//! ```
//!
//! Objects are not copied: a [`Value`] can be a view of JSON, typed by a [`declared`] type.
//!
//! Errors, estimates and costs equal upstream's. No expression recurses deeper than a limit, and no
//! evaluation costs more than its budget.
//!
//! This is not all of CEL: there are no protobuf messages, and nothing is evaluated without its
//! types.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod admission;
mod cel_type;
mod check;
mod composition;
pub mod cost;
mod costing;
pub mod declared;
mod environment;
mod error;
mod escape;
mod evaluate;
mod function;
mod library;
mod plan;
mod program;
mod regex;
mod selects;
mod signature;
mod source;
mod syntax;
mod value;

pub use cel_type::{Name, Parameter, Type};
pub use composition::{VariableValues, Variables};
pub use environment::{Environment, Version};
pub use error::{CompileError, EvalError, Issue};
pub use escape::{escape, is_reserved, unescape};
pub use evaluate::Budget;
pub use function::{EstimatedCost, Function, Implementation, RegexImplementation, RuntimeCost};
pub use library::authorizer::{
    AccessDecision, AccessRequest, Authorizer, authorizer_type, authorizer_value,
    resource_check_type, resource_check_value,
};
pub use program::{Activation, Evaluated, Program};
pub use selects::selects;
pub use source::Location;
pub use value::{Blob, Duration, Key, List, Map, Opaque, OpaqueValue, Text, Timestamp, Value};
