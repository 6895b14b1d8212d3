//! `Mutation`: what a mutating policy changes, compiled.

use super::composed::{composed, variables};
use super::definition::Policy;
use super::patching::{self, Unpatched};
use crate::expressions::{Conditions, Evaluator, Expression, Inputs, POLICY_BUDGET, Verdict};
use kubist_api::admissionregistration::v1::{MutatingAdmissionPolicy, Mutation as Step};
use kubist_cel::admission::{self, Uses};
use kubist_cel::{Environment, Variables};
use kubist_field_manager::ObjectType;
use serde_json::Value as Json;

/// What a policy changes.
#[derive(Debug)]
pub(super) struct Mutation {
    variables: Variables,
    conditions: Conditions,
    steps: Vec<CompiledStep>,
    /// Reports whether it runs again if the object changes later.
    pub(super) is_reinvoked: bool,
}

/// One step of it.
#[derive(Debug)]
enum CompiledStep {
    JsonPatch(Expression),
    Apply(Expression),
}

impl Mutation {
    /// Compiles a policy.
    pub(super) fn policy(of: &MutatingAdmissionPolicy) -> Policy<Self> {
        let spec = &of.spec;
        let failure_policy = spec.failure_policy.as_deref();
        let params = spec.param_kind.is_some();
        let variables = variables(&spec.variables, params);
        let uses = Uses {
            params,
            authorizer: true,
        };
        let environment = composed(uses, &variables);
        let with_patches = environment.with_patches();
        let steps = spec.mutations.iter();
        let rules = Self {
            conditions: Conditions::compile(
                &environment,
                &spec.match_conditions,
                failure_policy == Some("Ignore"),
            ),
            steps: steps
                .filter_map(|it| CompiledStep::of(it, &with_patches))
                .collect(),
            is_reinvoked: *spec.reinvocation_policy == *"IfNeeded",
            variables,
        };
        Policy::new(
            &of.metadata.name,
            spec.match_constraints.as_deref(),
            spec.param_kind.as_deref(),
            failure_policy,
            rules,
        )
    }

    /// Judges the match conditions.
    pub(super) fn judge(&self, inputs: &Inputs<'_>) -> Verdict {
        self.conditions.judge(inputs, &self.variables)
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns what a step makes of the object.
    pub(super) fn patched(
        &self,
        step: usize,
        inputs: &Inputs<'_>,
        object: &Json,
        object_type: Option<&ObjectType>,
    ) -> Result<Json, Unpatched> {
        let Some(step) = self.steps.get(step) else {
            return Ok(object.clone());
        };
        let (CompiledStep::JsonPatch(expression) | CompiledStep::Apply(expression)) = step;
        // Upstream words it without the introduction that other expressions have.
        expression.program().map_err(Unpatched::failed)?;
        let mut evaluator = Evaluator::new(inputs, &self.variables, POLICY_BUDGET);
        let value = evaluator.evaluate(expression).map_err(Unpatched::failed)?;
        let value = value.map_err(Unpatched::Failed)?;
        match step {
            CompiledStep::JsonPatch(_) => patching::json_patch(&value, object),
            CompiledStep::Apply(_) => patching::apply(&value, object, object_type),
        }
    }
}

impl CompiledStep {
    fn of(step: &Step, environment: &Environment) -> Option<Self> {
        match (
            &*step.patch_type,
            &step.json_patch,
            &step.apply_configuration,
        ) {
            ("JSONPatch", Some(patch), _) => {
                let wanted = [admission::json_patch_type()];
                let expression = Expression::compile(environment, &patch.expression, &wanted);
                Some(Self::JsonPatch(expression))
            }
            ("ApplyConfiguration", _, Some(patch)) => {
                let wanted = [admission::apply_configuration_type()];
                let expression = Expression::compile(environment, &patch.expression, &wanted);
                Some(Self::Apply(expression))
            }
            _ => None,
        }
    }
}
