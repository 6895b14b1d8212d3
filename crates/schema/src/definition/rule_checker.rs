//! `RuleChecker`: compiles the CEL rules of a definition, estimates their costs, and evaluates them
//! for defaults.

use super::internal_form::internal_rule;
use super::rule_costs::{RuleCosts, cost_error};
use super::rules::{RuleSite, RuleStep};
use crate::rules::compile::{CompiledRule, cardinality_max, compile_rules};
use crate::rules::declare::Declarer;
use crate::rules::evaluate::{OBJECT_COST_MAX, evaluate};
use crate::rules::expressions::{KnownExpressions, Language};
use crate::rules::tree::CompiledRules;
use crate::schema::Schema;
use hashbrown::HashMap;
use kubist_api::apiextensions::v1::ValidationRule;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_cel::Program;
use kubist_cel::declared::{Declared, Kind};
use serde_json::Value;
use std::ptr;
use std::sync::Arc;

/// Checks the CEL rules in the schema of one version of a definition.
#[derive(Debug)]
pub struct RuleChecker<'a> {
    known: &'a KnownExpressions,
    /// Whether the cost of one rule is not limited.
    is_unchanged: bool,
    costs: RuleCosts,
    /// What rules for defaults may still cost.
    budget: u64,
    /// The types of schemas, by address.
    types: HashMap<usize, Result<Typed, String>>,
}

/// A schema with the type of its values.
#[derive(Clone, Debug)]
struct Typed {
    schema: Arc<Schema>,
    /// None if the schema around it has a type without such values.
    declared: Option<Arc<Declared>>,
}

impl<'a> RuleChecker<'a> {
    /// Creates a checker. `known` are the expressions of the stored definition; `is_unchanged`
    /// reports whether the schema is the stored one, whose rules may exceed the limit of one rule.
    pub fn new(known: &'a KnownExpressions, is_unchanged: bool) -> Self {
        Self {
            known,
            is_unchanged,
            costs: RuleCosts::default(),
            budget: OBJECT_COST_MAX,
            types: HashMap::new(),
        }
    }

    /// Returns the errors of the rules of one schema. `uncorrelated` is the path of the first
    /// schema around it whose old and new values cannot be correlated, so that rules may not use
    /// `oldSelf`.
    pub(super) fn check_rules(
        &mut self,
        site: &RuleSite<'_>,
        path: &FieldPath,
        uncorrelated: Option<&FieldPath>,
    ) -> Vec<FieldError> {
        let path = path.child("x-kubernetes-validations");
        let typed = match self.typed(site) {
            Ok(typed) => typed,
            Err(error) => {
                let detail = format!(
                    "internal error: failed to construct type information for \
                     x-kubernetes-validations rules: {error}"
                );
                return vec![FieldError::internal(&path, detail)];
            }
        };
        let Some(declared) = typed.declared else {
            let detail = "failed to convert to declType for CEL validation rules";
            return vec![FieldError::internal(&path, detail)];
        };
        let compiled = compile_rules(&typed.schema, &declared, Language::New(self.known));
        let count = site
            .count_max()
            .unwrap_or_else(|| cardinality_max(&declared));
        let mut errors = Vec::new();
        let rules = compiled.iter().zip(&site.schema.x_kubernetes_validations);
        for (index, (compiled, rule)) in rules.enumerate() {
            let path = path.index(index);
            self.check_rule(&mut errors, (compiled, rule), count, &path);
            if compiled.uses_old_self {
                if let Some(uncorrelated) = uncorrelated {
                    let detail = format!(
                        "oldSelf cannot be used on the uncorrelatable portion of the schema \
                         within {uncorrelated}"
                    );
                    let path = path.child("rule");
                    errors.push(FieldError::invalid(&path, &rule.rule, detail));
                }
            } else if let Some(is_optional) = rule.optional_old_self {
                let detail = "may not be set if oldSelf is not used in rule";
                let path = path.child("optionalOldSelf");
                errors.push(FieldError::invalid(&path, is_optional, detail));
            }
        }
        errors
    }

    /// Checks the expressions of one rule. `count` is how often it may be evaluated.
    fn check_rule(
        &mut self,
        errors: &mut Vec<FieldError>,
        (compiled, rule): (&CompiledRule, &ValidationRule),
        count: u64,
        path: &FieldPath,
    ) {
        let of_rule = path.child("rule");
        let (cost, error) = outcome(compiled.program.as_ref());
        let cost = cost.saturating_mul(count);
        if !self.is_unchanged {
            errors.extend(cost_error(&of_rule, "estimated rule cost", cost));
        }
        self.costs.add(&of_rule, cost);
        if let Some(error) = error {
            errors.push(FieldError::invalid(&of_rule, internal_rule(rule), error));
        }
        let of_message = path.child("messageExpression");
        let (cost, error) = outcome(compiled.message.as_ref());
        if let Some(error) = error {
            errors.push(FieldError::invalid(&of_message, internal_rule(rule), error));
        } else if compiled.message.is_some() {
            if !self.is_unchanged {
                let what = "estimated messageExpression cost";
                errors.extend(cost_error(&of_message, what, cost));
            }
            self.costs.add(&of_message, cost);
        }
    }

    /// Returns the errors of a default, which fits its schema otherwise.
    pub(super) fn check_default(
        &mut self,
        schema: &Schema,
        is_resource: bool,
        default: &Value,
        path: &FieldPath,
    ) -> Vec<FieldError> {
        let Some(rules) = CompiledRules::of(schema, is_resource) else {
            return Vec::new();
        };
        let mut budget = self.budget;
        let values = (default, Some(default), None);
        let mut errors = evaluate(values, schema, &rules, path, &mut budget).errors;
        if errors.is_empty() {
            // Rules with an optional old value also apply to new values.
            let mut of_new = self.budget;
            let values = (default, None, None);
            errors = evaluate(values, schema, &rules, path, &mut of_new).errors;
            budget = budget.min(of_new);
        }
        self.budget = budget;
        errors
    }

    /// Reports whether there is no budget left to evaluate rules for defaults.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// Returns the errors of all rules together: their total cost.
    pub(super) fn check_total(&self, path: &FieldPath) -> Vec<FieldError> {
        self.costs.total_errors(path)
    }

    /// Returns the type of a schema: as that of the outermost schema with rules around it has it,
    /// if expressions can name it there.
    fn typed(&mut self, site: &RuleSite<'_>) -> Result<Typed, String> {
        let key = ptr::from_ref(site.schema).addr();
        if let Some(known) = self.types.get(&key) {
            return known.clone();
        }
        let around = match site.parent {
            Some(parent) if parent.is_in_rules() => self.typed(parent).map(Some),
            _ => Ok(None),
        };
        let typed = around.and_then(|around| {
            let found = around.and_then(|it| below(&it, site.step));
            found.map_or_else(|| converted(site), Ok)
        });
        self.types.insert(key, typed.clone());
        typed
    }
}

/// Returns the type of a schema by itself.
fn converted(site: &RuleSite<'_>) -> Result<Typed, String> {
    let schema = Schema::convert(site.schema).map_err(|error| error.to_string())?;
    let is_resource = site.parent.is_none() || schema.is_embedded_resource;
    let made = Declarer::default().declare(&schema, is_resource);
    if made.is_typed {
        let declared = Some(made.declared);
        Ok(Typed { schema, declared })
    } else {
        Err("unable to convert structural schema to CEL declarations".to_owned())
    }
}

/// Returns the type of a schema within another one; none if expressions cannot name it.
fn below(around: &Typed, step: RuleStep<'_>) -> Option<Typed> {
    let (schema, declared) = (&around.schema, around.declared.as_ref()?);
    let (schema, declared) = match step {
        RuleStep::Property(name) => {
            let Kind::Object(object) = &declared.kind else {
                return None;
            };
            let field = object.field(name)?;
            let is_named = field.exposed && field.escaped.is_some();
            let declared = is_named.then_some(&field.declared)?;
            (schema.property(name)?, Some(declared))
        }
        RuleStep::Items => (schema.items.as_ref()?, declared.elements()),
        RuleStep::AdditionalProperties => (schema.additional()?, declared.elements()),
        RuleStep::Root => return None,
    };
    Some(Typed {
        schema: Arc::clone(schema),
        declared: declared.cloned(),
    })
}

/// Returns the maximum cost of an expression, or why it does not compile.
fn outcome(program: Option<&Result<Program, String>>) -> (u64, Option<&str>) {
    match program {
        Some(Ok(program)) => (program.cost_estimate().max, None),
        Some(Err(error)) => (0, Some(error)),
        None => (0, None),
    }
}
