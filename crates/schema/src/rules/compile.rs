//! The compilation of the rules of one schema.

use super::declare::{Namer, REQUEST_BYTES_MAX};
use super::expressions::Language;
use super::field_path::normalized;
use crate::schema::Schema;
use kubist_api::apiextensions::v1::ValidationRule;
use kubist_cel::cost::DeclaredSizes;
use kubist_cel::declared::Declared;
use kubist_cel::{CompileError, Environment, Program, Type};
use std::sync::Arc;

/// The variable for the value that a rule is about.
pub(super) const SELF: &str = "self";
/// The variable for the old value in the same place.
pub(super) const OLD_SELF: &str = "oldSelf";

/// A compiled rule.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    /// The rule, or why it does not compile; none if it is empty.
    pub(crate) program: Option<Result<Program, String>>,
    /// The message expression, if there is one and the rule compiles.
    pub(crate) message: Option<Result<Program, String>>,
    /// Whether the rule compares with the old value.
    pub(crate) uses_old_self: bool,
    /// The path of the field that errors report, below the value.
    pub(crate) field_path: Option<Box<str>>,
}

/// Compiles the rules of a schema whose values have a declared type.
pub(crate) fn compile_rules(
    schema: &Schema,
    declared: &Arc<Declared>,
    language: Language<'_>,
) -> Vec<CompiledRule> {
    if schema.rules().is_empty() {
        return Vec::new();
    }
    let named = Namer::default().named(declared, "selfType");
    let scope = Scope {
        self_type: named.cel_type(),
        declared: named,
        language,
    };
    let rules = schema.rules().iter();
    rules.map(|rule| scope.compile(rule, schema)).collect()
}

/// Returns how often a value fits into a request at most.
pub(crate) fn cardinality_max(declared: &Declared) -> u64 {
    REQUEST_BYTES_MAX / (declared.min_serialized_size + 1)
}

/// What the rules of one schema share.
struct Scope<'a> {
    self_type: Type,
    declared: Arc<Declared>,
    language: Language<'a>,
}

impl Scope<'_> {
    fn compile(&self, rule: &ValidationRule, schema: &Schema) -> CompiledRule {
        let mut compiled = CompiledRule {
            program: None,
            message: None,
            uses_old_self: false,
            field_path: None,
        };
        if rule.rule.trim().is_empty() {
            return compiled;
        }
        let environment = self.extended(self.language.of_rule(&rule.rule), rule);
        let program = program(&environment, &rule.rule, &Type::Bool, RULE_WORDS);
        if let Ok(program) = &program {
            compiled.uses_old_self = program.uses(OLD_SELF);
            let expression = &rule.message_expression;
            if !expression.is_empty() {
                let base = self.language.of_message(expression);
                let environment = self.extended(base, rule);
                let message = self::program(&environment, expression, &Type::String, MESSAGE_WORDS);
                compiled.message = Some(message);
            }
            if !rule.field_path.is_empty() && compiled.message.as_ref().is_none_or(Result::is_ok) {
                compiled.field_path = normalized(&rule.field_path, schema).map(Into::into);
            }
        }
        compiled.program = Some(program);
        compiled
    }

    fn extended(&self, base: &Environment, rule: &ValidationRule) -> Environment {
        let this = self.self_type.clone();
        let old = if rule.optional_old_self == Some(true) {
            Type::optional(this.clone())
        } else {
            this.clone()
        };
        base.extend([(SELF, this), (OLD_SELF, old)])
            .with_sizes(DeclaredSizes(Arc::clone(&self.declared)))
    }
}

/// Introductions of errors: of compilation, of the type, and of constants.
type Words = [&'static str; 3];

const RULE_WORDS: Words = [
    "compilation failed: ",
    "cel expression must evaluate to a bool",
    "program instantiation failed: ",
];
const MESSAGE_WORDS: Words = [
    "messageExpression compilation failed: ",
    "messageExpression must evaluate to a string",
    "messageExpression instantiation failed: ",
];

fn program(
    environment: &Environment,
    expression: &str,
    output: &Type,
    [compilation, kind, instantiation]: Words,
) -> Result<Program, String> {
    let program = environment
        .compile(expression)
        .map_err(|error: CompileError| {
            let words = if error.is_instantiation() {
                instantiation
            } else {
                compilation
            };
            format!("{words}{error}")
        })?;
    if program.output_type() == output {
        Ok(program)
    } else {
        Err(kind.to_owned())
    }
}
