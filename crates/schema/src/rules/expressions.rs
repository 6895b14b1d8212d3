//! `KnownExpressions`: the expressions of an old definition, which stay valid.

use crate::props::any;
use hashbrown::HashSet;
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::Str;
use kubist_cel::{Environment, Version};
use std::cell::RefCell;
use std::sync::LazyLock;

/// The version whose libraries new expressions may use: the oldest to which a server can be rolled
/// back.
static NEW: LazyLock<Environment> = LazyLock::new(|| Environment::new(Version::minor(35)));
static STORED: LazyLock<Environment> = LazyLock::new(|| Environment::new(Version::STORED));

/// The expressions of the stored definition. An update may keep them, even if they use libraries
/// that new expressions may not use.
#[derive(Clone, Debug, Default)]
pub struct KnownExpressions {
    rules: HashSet<Str>,
    messages: HashSet<Str>,
}

impl KnownExpressions {
    /// Collects the expressions of all schemas of a definition.
    pub fn of<'a>(schemas: impl IntoIterator<Item = &'a JSONSchemaProps>) -> Self {
        let known = RefCell::new(Self::default());
        for schema in schemas {
            any(schema, &|it| {
                known.borrow_mut().add(it);
                false
            });
        }
        known.into_inner()
    }

    fn add(&mut self, schema: &JSONSchemaProps) {
        for rule in &schema.x_kubernetes_validations {
            self.rules.insert(rule.rule.clone());
            if !rule.message_expression.is_empty() {
                self.messages.insert(rule.message_expression.clone());
            }
        }
    }
}

/// What expressions may use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Language<'a> {
    /// Everything: the expressions are stored.
    Stored,
    /// The libraries of new expressions, except for known ones.
    New(&'a KnownExpressions),
}

impl Language<'_> {
    /// Returns the environment of a rule.
    pub(crate) fn of_rule(self, rule: &str) -> &'static Environment {
        self.environment(|known| known.rules.contains(rule))
    }

    /// Returns the environment of a message expression.
    pub(crate) fn of_message(self, expression: &str) -> &'static Environment {
        self.environment(|known| known.messages.contains(expression))
    }

    fn environment(self, is_known: impl Fn(&KnownExpressions) -> bool) -> &'static Environment {
        match self {
            Self::New(known) if !is_known(known) => &NEW,
            _ => &STORED,
        }
    }
}
