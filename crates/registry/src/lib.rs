//! The storage stack of the API server.

mod kind_strategy;
mod name_rule;
mod object_fields;
mod request_context;
mod strategy;

pub use kind_strategy::{ForKind, KindStrategy};
pub use name_rule::NameRule;
pub use object_fields::text_at;
pub use request_context::{RequestContext, User};
pub use strategy::{
    Admission, BoxFuture, Dependents, Generation, Lookup, PlainStrategy, StatusKeeps, Strategy,
};
