//! [`Scope`]: the names that an expression can use, and how they are found from within a container.

use crate::cel_type::{Name, Type};
use crate::declared::Object;
use crate::function::{Function, Registry};
use crate::library::patches;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of an environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Variables with their types.
    pub(crate) variables: BTreeMap<Name, Type>,
    /// Types that expressions can name.
    pub(crate) types: Arc<BTreeMap<&'static str, Type>>,
    pub(crate) functions: Arc<Registry>,
    /// The namespace in which names are looked up first.
    pub(crate) container: Name,
    /// Reports whether `object.namespace` names the field `namespace`, as escapes are else needed.
    pub(crate) has_keyword_fields: bool,
    /// Reports whether expressions can create the messages of patches.
    pub(crate) has_patches: bool,
    /// Reports whether durations, timestamps, regular expressions and aggregates are validated.
    pub(crate) validates_literals: bool,
}

/// What a name refers to.
#[derive(Debug, Clone)]
pub(crate) enum Declared {
    /// A variable, by its full name.
    Variable(Name, Type),
    /// A type.
    Type(Type),
}

impl Scope {
    /// Returns the full names that a name can stand for, the most specific first.
    pub(crate) fn candidates(&self, name: &str) -> Vec<String> {
        if let Some(absolute) = name.strip_prefix('.') {
            return vec![absolute.to_owned()];
        }
        let mut container = &*self.container;
        let mut found = Vec::new();
        while !container.is_empty() {
            found.push(format!("{container}.{name}"));
            container = container.rsplit_once('.').map_or("", |it| it.0);
        }
        found.push(name.to_owned());
        found
    }

    /// Returns what a name refers to.
    pub(crate) fn find(&self, name: &str) -> Option<Declared> {
        self.candidates(name).into_iter().find_map(|candidate| {
            let variable = self.variables.get_key_value(&*candidate);
            let variable =
                variable.map(|(name, kind)| Declared::Variable(Arc::clone(name), kind.clone()));
            variable.or_else(|| self.types.get(&*candidate).cloned().map(Declared::Type))
        })
    }

    /// Returns the message type of a name.
    pub(crate) fn message(&self, name: &str) -> Option<Arc<Object>> {
        if !self.has_patches {
            return None;
        }
        patches::message(name.strip_prefix('.').unwrap_or(name))
    }

    /// Returns the function of a name.
    pub(crate) fn function(&self, name: &str) -> Option<&Arc<Function>> {
        if self.container.is_empty() {
            return self.functions.get(name.strip_prefix('.').unwrap_or(name));
        }
        self.candidates(name)
            .iter()
            .find_map(|candidate| self.functions.get(candidate))
    }

    /// Reports whether a name with dots may begin with this one.
    pub(crate) fn may_qualify(&self, first: &str) -> bool {
        let begins = |name: &str| {
            name.strip_prefix(first)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        !self.container.is_empty()
            || self.types.keys().any(|it| begins(it))
            || self.variables.keys().any(|it| begins(it))
    }
}
