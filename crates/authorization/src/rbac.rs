//! Role-based access control, as upstream decides it.
//!
//! [`Policy`] holds roles and bindings, is fed by whoever follows them, and answers. It does no I/O
//! and knows no time. [`Policy::check_grant`] keeps users from granting what they do not have.

mod authorizer;
mod binding;
mod cover;
mod grants;
mod policy;
mod rule;
mod rule_text;
mod rules_of_user;
#[cfg(test)]
mod samples;
mod subject;

pub use authorizer::RbacAuthorizer;
pub use cover::{Escalation, covers, missing};
pub use grants::{GrantError, Grants};
pub use policy::{Policy, RoleNotFound};
pub use rule::allows;
pub use rule_text::rule_text;
pub use rules_of_user::RulesOfUser;

/// The API group of roles and bindings.
pub const GROUP: &str = "rbac.authorization.k8s.io";
