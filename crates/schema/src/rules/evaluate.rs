//! The evaluation of the rules of an object, with upstream's errors and costs.
//!
//! Rules see the object itself: nothing is copied. Where upstream iterates a map in random order,
//! names are in order here.

use super::compile::{CompiledRule, OLD_SELF, SELF};
use super::message::{self, Made};
use super::rule_errors::RuleErrors;
use super::tree::{CompiledRules, Node};
use super::unchanged::Unchanged;
use crate::correlate::{Comparisons, Correlation};
use crate::go_value::{bad_value, is_too_deep};
use crate::place::{Place, Problems};
use crate::schema::{Kind, Schema};
use kubist_api::apiextensions::v1::ValidationRule;
use kubist_apimachinery::{BadValue, FieldError, FieldErrorKind, FieldPath};
use kubist_cel::declared::{Declared, Kind as Declares};
use kubist_cel::{Activation, Budget, EvalError, Value as CelValue};
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// The cost that all rules of one object may have.
pub(crate) const OBJECT_COST_MAX: u64 = 10_000_000;

const OUT_OF_BUDGET: &str = "validation failed due to running out of cost budget, no further \
                             validation rules will be run";
const BLOCKED: &str = "some validation rules were not checked because the object was invalid; \
                       correct the existing errors to complete validation";

/// Whether rules are still evaluated.
type Flow = ControlFlow<()>;

/// Validates a value by the CEL rules of its schema. Without an old value, rules that compare with
/// it are not evaluated. Errors of unchanged values pass.
///
/// The value is one that [validates](crate::validate). A value that nests too deeply has no errors.
pub fn validate_rules(
    new: &Value,
    old: Option<&Value>,
    schema: &Schema,
    rules: &CompiledRules,
    path: &FieldPath,
) -> RuleErrors {
    let correlation = old.map(|old| Correlation { new, old, schema });
    let mut budget = OBJECT_COST_MAX;
    evaluate((new, old, correlation), schema, rules, path, &mut budget)
}

/// Returns the error that stands for the rules of an object, if there are errors because of which
/// rules cannot be evaluated.
pub fn blocked_rules(errors: &[FieldError]) -> Option<FieldError> {
    let is_blocking = |error: &FieldError| {
        matches!(
            error.kind,
            FieldErrorKind::NotSupported
                | FieldErrorKind::Required
                | FieldErrorKind::TooLong
                | FieldErrorKind::TooMany
                | FieldErrorKind::TypeInvalid
        )
    };
    let is_blocked = errors.iter().any(is_blocking);
    is_blocked.then(|| FieldError::invalid(&FieldPath::ROOT, BadValue::null(), BLOCKED))
}

/// Evaluates the rules of a new and an old value, with the correlation in which errors of unchanged
/// values pass. The budget is 0 if it was exceeded.
pub(crate) fn evaluate<'a>(
    (new, old, correlation): (&'a Value, Option<&'a Value>, Option<Correlation<'a>>),
    schema: &'a Schema,
    rules: &'a CompiledRules,
    path: &FieldPath,
    budget: &mut u64,
) -> RuleErrors {
    if is_too_deep(new) || old.is_some_and(is_too_deep) {
        return RuleErrors::default();
    }
    let mut evaluation = Evaluation {
        comparisons: Comparisons::default(),
        problems: Problems::default(),
        passed: Problems::default(),
        budget,
    };
    let site = Site {
        node: &rules.root,
        schema,
        new,
        old,
        unchanged: Unchanged {
            current: correlation,
            nearest: None,
        },
    };
    if evaluation.value(site, &Place::Root(path)).is_break() {
        *evaluation.budget = 0;
    }
    RuleErrors {
        errors: evaluation.problems.into_list(),
        passed: evaluation.passed.into_list(),
    }
}

/// A value with its rules.
#[derive(Clone, Copy)]
struct Site<'a> {
    node: &'a Node,
    schema: &'a Schema,
    new: &'a Value,
    old: Option<&'a Value>,
    unchanged: Unchanged<'a>,
}

impl<'a> Site<'a> {
    /// Returns a member with the old member of the same name.
    fn member(self, name: &str, node: &'a Node, schema: &'a Schema, new: &'a Value) -> Self {
        Self {
            node,
            schema,
            new,
            old: self.old.and_then(|it| it.as_object()?.get(name)),
            unchanged: self.unchanged.member(name),
        }
    }
}

struct Evaluation<'b> {
    comparisons: Comparisons,
    problems: Problems,
    passed: Problems,
    budget: &'b mut u64,
}

impl Evaluation<'_> {
    fn value(&mut self, site: Site<'_>, at: &Place<'_>) -> Flow {
        if site.new.is_null() {
            return Flow::Continue(());
        }
        let site = Site {
            old: site.old.filter(|it| !it.is_null()),
            ..site
        };
        if !site.node.rules.is_empty() || !site.schema.rules().is_empty() {
            self.rules(site, at)?;
        }
        match site.new {
            Value::Object(members) => self.members(site, members, at),
            Value::Array(items) => self.items(site, items, at),
            _ => Flow::Continue(()),
        }
    }

    fn members<'a>(
        &mut self,
        site: Site<'a>,
        members: &'a Map<String, Value>,
        at: &Place<'_>,
    ) -> Flow {
        if let (Some(node), Some(schema)) = (&site.node.additional, site.schema.additional()) {
            for (name, new) in members {
                let member = site.member(name, node, schema, new);
                self.value(member, &Place::Key(at, name))?;
            }
        }
        for (name, node) in &site.node.properties {
            let name = name.as_str();
            if let (Some(new), Some(schema)) = (members.get(name), site.schema.property(name)) {
                let member = site.member(name, node, schema, new);
                self.value(member, &Place::Child(at, name))?;
            }
        }
        Flow::Continue(())
    }

    fn items(&mut self, site: Site<'_>, items: &[Value], at: &Place<'_>) -> Flow {
        let (Some(node), Some(schema)) = (&site.node.items, site.schema.items.as_deref()) else {
            return Flow::Continue(());
        };
        let list = site.old.map(|old| Correlation {
            new: site.new,
            old,
            schema: site.schema,
        });
        let old_items = list.and_then(Correlation::old_items);
        for (index, new) in items.iter().enumerate() {
            let item = list.zip(old_items.as_ref());
            let item = item.and_then(|(list, items)| list.item(new, items));
            let site = Site {
                node,
                schema,
                new,
                old: item.map(|it| it.old),
                unchanged: site.unchanged.item(item),
            };
            self.value(site, &Place::Index(at, index))?;
        }
        Flow::Continue(())
    }

    fn rules(&mut self, site: Site<'_>, at: &Place<'_>) -> Flow {
        let Some(declared) = &site.node.declared else {
            let detail = "rule compiler initialization error: failed to convert to declType for \
                          CEL validation rules";
            self.invalid(at, &site.schema.kind, detail);
            return Flow::Continue(());
        };
        if *self.budget == 0 {
            self.invalid(at, &site.schema.kind, OUT_OF_BUDGET);
            return Flow::Break(());
        }
        // Message expressions see the old value only beside rules that compare with it.
        let uses_old = site.node.rules.iter().any(|it| it.uses_old_self);
        let new = CelValue::view(site.new, declared);
        let old = site.old.filter(|_| uses_old);
        let old = old.map(|old| CelValue::view(old, declared));
        let plain = Activation::new().bind_result(SELF, new.clone());
        let plain = match &old {
            Some(old) => plain.bind_result(OLD_SELF, old.clone()),
            None => plain,
        };
        let optional = || {
            let old = site.old.map(|old| optional_old(old, declared));
            let old = old.transpose().map(CelValue::optional);
            let activation = Activation::new().bind_result(SELF, new.clone());
            if uses_old {
                activation.bind_result(OLD_SELF, old)
            } else {
                activation
            }
        };
        for (compiled, rule) in site.node.rules.iter().zip(site.schema.rules()) {
            if rule.optional_old_self == Some(true) {
                self.rule((compiled, rule), &optional(), site, at)?;
            } else {
                self.rule((compiled, rule), &plain, site, at)?;
            }
        }
        Flow::Continue(())
    }

    fn rule<'a>(
        &mut self,
        (compiled, rule): (&'a CompiledRule, &ValidationRule),
        activation: &Activation<'a>,
        site: Site<'a>,
        at: &Place<'_>,
    ) -> Flow {
        let kind = &site.schema.kind;
        let program = match &compiled.program {
            Some(Ok(program)) => program,
            Some(Err(error)) => {
                self.invalid(at, kind, &format!("rule compile error: {error}"));
                return Flow::Continue(());
            }
            None => return Flow::Continue(()),
        };
        // There is nothing to compare with, unless the rule allows for that.
        if compiled.uses_old_self && site.old.is_none() && rule.optional_old_self != Some(true) {
            return Flow::Continue(());
        }
        let evaluated = program.evaluate(activation, Budget::default());
        let Some(left) = self.budget.checked_sub(evaluated.cost) else {
            self.invalid(at, kind, OUT_OF_BUDGET);
            return Flow::Break(());
        };
        *self.budget = left;
        match evaluated.value {
            Ok(CelValue::Bool(true)) => Flow::Continue(()),
            Ok(_) => self.failed((compiled, rule), activation, site, at),
            Err(error) => {
                let (flow, detail) = evaluation_error(&error, rule);
                self.invalid(at, kind, &detail);
                flow
            }
        }
    }

    /// Reports a rule that fails.
    fn failed<'a>(
        &mut self,
        (compiled, rule): (&'a CompiledRule, &ValidationRule),
        activation: &Activation<'a>,
        site: Site<'a>,
        at: &Place<'_>,
    ) -> Flow {
        let path = at.path();
        let path = match &compiled.field_path {
            Some(field) => path.child(field),
            None => path,
        };
        let text = &rule.message_expression;
        let made = match &compiled.message {
            Some(Ok(program)) => message::evaluate(program, text, activation, self.budget),
            _ => Made::Nothing,
        };
        let (flow, error) = match made {
            Made::TooExpensive(detail) => {
                let error = FieldError::invalid(&path, site.schema.kind.as_str(), detail);
                (Flow::Break(()), error)
            }
            Made::Message(text) => (Flow::Continue(()), error_of(rule, &path, site, text)),
            Made::Nothing => {
                let error = error_of(rule, &path, site, message::of_rule(rule));
                (Flow::Continue(()), error)
            }
        };
        if compiled.uses_old_self || !self.is_unchanged(site.unchanged) {
            self.problems.extend([error]);
        } else {
            self.passed.extend([error]);
        }
        flow
    }

    fn is_unchanged(&mut self, unchanged: Unchanged<'_>) -> bool {
        let correlation = unchanged.current.or(unchanged.nearest);
        correlation.is_some_and(|it| self.comparisons.are_equal(it))
    }

    fn invalid(&mut self, at: &Place<'_>, kind: &Kind, detail: &str) {
        self.problems
            .add(at, |path| FieldError::invalid(path, kind.as_str(), detail));
    }
}

/// Returns the value of an optional `oldSelf`. Upstream forgets the types within.
fn optional_old<'a>(old: &'a Value, declared: &'a Declared) -> Result<CelValue<'a>, EvalError> {
    static ANY: Declared = Declared::new(Declares::Dyn, u64::MAX, 0);
    match CelValue::view(old, declared) {
        Ok(CelValue::List(_) | CelValue::Map(_) | CelValue::Preserved(_)) => {
            CelValue::view(old, &ANY)
        }
        Ok(scalar) => Ok(scalar),
        Err(error) => Err(EvalError::failed(format!(
            "unsupported conversion to ref.Val: (*errors.errorString){error}"
        ))),
    }
}

/// Returns the text of an error of the evaluation, and whether other rules are evaluated.
fn evaluation_error(error: &EvalError, rule: &ValidationRule) -> (Flow, String) {
    let shown = message::shown(rule);
    if matches!(error, EvalError::CostLimitExceeded) {
        let detail = format!(
            "'{error}': no further validation rules will be run due to call cost exceeds limit \
             for rule: {shown}"
        );
        return (Flow::Break(()), detail);
    }
    let text = error.to_string();
    let detail = if text.starts_with("no such overload") {
        format!(
            "'{text}': call arguments did not match a supported operator, function or macro \
             signature for rule: {shown}"
        )
    } else {
        format!("{text} evaluating rule: {shown}")
    };
    (Flow::Continue(()), detail)
}

/// Returns the error of a rule that fails, of the kind that the rule names.
fn error_of(rule: &ValidationRule, path: &FieldPath, site: Site<'_>, detail: String) -> FieldError {
    let value = || match site.schema.kind {
        Kind::Object | Kind::Array => BadValue::omitted(),
        _ => bad_value(site.new),
    };
    match rule.reason.as_deref() {
        Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
        Some("FieldValueRequired") => FieldError::required(path, detail),
        Some("FieldValueDuplicate") => FieldError::duplicate(path, value()),
        _ => FieldError::invalid(path, value(), detail),
    }
}
