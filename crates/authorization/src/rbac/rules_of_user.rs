//! `RulesOfUser`: what a user may do in a namespace, as rules.

use crate::rbac::policy::RoleNotFound;
use kubist_api::rbac::v1::PolicyRule;

/// The rules of a user in a namespace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RulesOfUser<'a> {
    /// The rules, in the order of the bindings.
    pub rules: Vec<&'a PolicyRule>,
    /// Roles that bindings name and that do not exist.
    pub missing: Vec<RoleNotFound>,
}

impl RulesOfUser<'_> {
    /// Returns the errors as one text, as upstream; empty if there are none.
    pub fn errors(&self) -> String {
        joined(&self.missing)
    }
}

/// Returns different errors as one text: one by itself, several in brackets.
pub(crate) fn joined(errors: &[RoleNotFound]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match &mut texts[..] {
        [] => String::new(),
        [one] => std::mem::take(one),
        several => format!("[{}]", several.join(", ")),
    }
}
