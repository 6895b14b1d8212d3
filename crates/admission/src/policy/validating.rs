//! `ValidatingPolicies`: the plugin `ValidatingAdmissionPolicy`.
//!
//! All policies in force judge a request, with each of their bindings and each set of parameters.
//! Warnings and annotations are those of all; the refusal is that of the first, by name.

use super::binding::Binding;
use super::definition::{Bound, Policy};
use super::exclusion::is_excluded;
use super::forms::{Forms, PolicyParts};
use super::metrics::{Evaluated, error_type};
use super::params;
use super::validation::Validation;
use super::verdicts::{Annotation, Decision, Denial, Verdicts};
use crate::asked::{self, Asked};
use crate::expressions::AccessQuestions;
use crate::matching::Matched;
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::Duration;

/// The annotation about a violation whose action is `Audit`.
const VIOLATION: &str = "validation.policy.admission.k8s.io/validation_failure";
/// The maximum length of the value of an annotation in bytes, as upstream.
const ANNOTATION_MAX: usize = 10 << 10;

/// The cost of an evaluation that takes about a millisecond: others run before the next.
const LONG_COST: u64 = 10_000;

/// The plugin `ValidatingAdmissionPolicy`.
#[derive(Clone, Debug)]
pub struct ValidatingPolicies(PolicyParts);

/// A request while it is judged.
struct Judging<'j, 'r> {
    parts: &'j PolicyParts,
    attributes: &'j Attributes<'r>,
    asked: &'j Asked<'r>,
    questions: AccessQuestions,
    denials: Vec<Denial>,
}

/// The value of [`VIOLATION`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Violation<'a> {
    message: &'a str,
    policy: &'a str,
    binding: &'a str,
    expression_index: usize,
    validation_actions: Vec<&'a str>,
}

/// The annotations of a policy: values by key.
type Annotations = BTreeMap<Str, Vec<String>>;

impl ValidatingPolicies {
    /// The name, as in `--disable-admission-plugins`.
    pub const NAME: &'static str = "ValidatingAdmissionPolicy";

    /// Creates the plugin.
    pub fn new(parts: PolicyParts) -> Self {
        Self(parts)
    }

    async fn judge(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let in_force = self.0.table.validating();
        let asked = Asked::of(attributes);
        let mut judging = Judging {
            parts: &self.0,
            attributes,
            asked: &asked,
            questions: AccessQuestions::new(attributes.user()),
            denials: Vec::new(),
        };
        for bound in &in_force.bound {
            judging.policy(bound).await?;
        }
        match judging.denials.first() {
            Some(denial) => Err(denial.status(attributes)),
            None => Ok(()),
        }
    }
}

impl Judging<'_, '_> {
    async fn policy(&mut self, bound: &Bound<Validation>) -> Result<(), Status> {
        let (policy, asked) = (&*bound.policy, self.asked);
        let Some(criteria) = &policy.criteria else {
            let why = "policy contained no match constraints, a required field";
            self.not_configured(policy, None, why);
            return Ok(());
        };
        let (new, old) = (self.attributes.object(), self.attributes.old_object());
        let matched = match asked.matched(criteria, new, old).await {
            Ok(None) => return Ok(()),
            Ok(Some(matched)) => matched,
            Err(status) => {
                self.not_configured(policy, None, &status.message);
                return Ok(());
            }
        };
        let source = self.parts.table.params();
        let resource = match params::resource(source.as_ref(), policy.param_kind.as_ref()) {
            Ok(resource) => resource,
            Err(why) => {
                self.not_configured(policy, None, &why);
                return Ok(());
            }
        };
        let mut annotations = Annotations::new();
        for binding in &bound.bindings {
            let resource = resource.as_ref();
            let found = params::of_binding(self.attributes, asked, binding, resource);
            let all = match found.await {
                Ok(all) => all,
                Err(why) => {
                    self.not_configured(policy, Some(binding), &why);
                    continue;
                }
            };
            if !all.is_empty() {
                let of = (policy, &**binding);
                self.evaluate(of, matched, &all, &mut annotations).await?;
            }
        }
        for (key, values) in annotations {
            let key = format!("{}/{key}", policy.name);
            self.attributes.cx().annotate(key, values.join(", "));
        }
        Ok(())
    }

    async fn evaluate(
        &mut self,
        (policy, binding): (&Policy<Validation>, &Binding),
        matched: &Matched,
        all: &[Option<Json>],
        annotations: &mut Annotations,
    ) -> Result<(), Status> {
        let namespace = self.asked.namespace_object().await?;
        let forms = Forms::of(self.attributes, self.asked, matched, namespace).await;
        let forms = match forms {
            Ok(forms) => forms,
            Err(status) => {
                let why = format!("failed to convert object version: {status}");
                self.not_configured(policy, Some(binding), &why);
                return Ok(());
            }
        };
        for params in all {
            let verdicts = loop {
                let inputs = forms.inputs(params.as_ref(), &self.questions);
                let verdicts = policy.rules.judge(&inputs);
                if !self.questions.settle(&*self.parts.authorizer).await {
                    break verdicts;
                }
            };
            let cost = verdicts.cost;
            self.apply((policy, binding), verdicts, annotations);
            if cost > LONG_COST {
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Takes the consequences of verdicts.
    fn apply(
        &mut self,
        (policy, binding): (&Policy<Validation>, &Binding),
        verdicts: Verdicts,
        annotations: &mut Annotations,
    ) {
        let mut took = verdicts.took.into_iter();
        for (index, decision) in verdicts.decisions.into_iter().enumerate() {
            let evaluated = Evaluated {
                policy: &policy.name,
                binding: &binding.name,
                error_type: error_of(&decision),
                took: took.next().unwrap_or_default(),
            };
            match decision {
                Decision::Admit => {}
                Decision::FailedOpen(_) => {
                    let metrics = self.parts.table.metrics();
                    metrics.validated(evaluated, "allow");
                }
                Decision::Deny { message, reason } => {
                    let violation = (index, &*message, &reason);
                    self.violated((policy, binding), violation, evaluated);
                }
            }
        }
        for annotation in verdicts.annotations {
            match annotation {
                Annotation::Publish { key, mut value } => {
                    truncate(&mut value);
                    let values = annotations.entry(key).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Annotation::Failed(message) => {
                    let evaluated = Evaluated {
                        policy: &policy.name,
                        binding: &binding.name,
                        error_type: error_type(&message),
                        took: Duration::ZERO,
                    };
                    self.parts.table.metrics().validated(evaluated, "deny");
                    self.denials.push(Denial {
                        policy: policy.name.clone(),
                        binding: Some(binding.name.clone()),
                        message,
                        reason: Str::default(),
                    });
                }
            }
        }
    }

    /// Takes the actions of a binding for a violation.
    fn violated(
        &mut self,
        (policy, binding): (&Policy<Validation>, &Binding),
        (index, message, reason): (usize, &str, &Str),
        evaluated: Evaluated<'_>,
    ) {
        let metrics = self.parts.table.metrics();
        for action in &binding.actions {
            match action.as_str() {
                "Deny" => {
                    self.denials.push(Denial {
                        policy: policy.name.clone(),
                        binding: Some(binding.name.clone()),
                        message: message.to_owned(),
                        reason: reason.clone(),
                    });
                    metrics.validated(evaluated, "deny");
                }
                "Audit" => {
                    self.note_violation(policy, binding, (index, message));
                    metrics.validated(evaluated, "audit");
                }
                "Warn" => {
                    self.attributes.cx().warn(format!(
                        "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': \
                         {message}",
                        policy.name, binding.name
                    ));
                    metrics.validated(evaluated, "warn");
                }
                _ => {}
            }
        }
    }

    fn note_violation(
        &self,
        policy: &Policy<Validation>,
        binding: &Binding,
        (expression_index, message): (usize, &str),
    ) {
        let violation = Violation {
            message,
            policy: &policy.name,
            binding: &binding.name,
            expression_index,
            validation_actions: binding.actions.iter().map(|it| &**it).collect(),
        };
        // It consists of texts and numbers, which have a JSON form.
        if let Ok(value) = serde_json::to_string(&[violation]) {
            self.attributes.cx().annotate(VIOLATION, value);
        }
    }

    /// Notes that a policy or a binding cannot be used for the request.
    fn not_configured(
        &mut self,
        policy: &Policy<Validation>,
        binding: Option<&Binding>,
        why: &str,
    ) {
        if policy.fails_open {
            return;
        }
        let what = if binding.is_some() {
            "binding"
        } else {
            "policy"
        };
        self.denials.push(Denial {
            policy: policy.name.clone(),
            binding: binding.map(|it| it.name.clone()),
            message: format!("failed to configure {what}: {why}"),
            reason: Str::default(),
        });
    }
}

/// Returns upstream's word for what an expression says, by the words of the decision.
fn error_of(decision: &Decision) -> &'static str {
    match decision {
        Decision::FailedOpen(message) | Decision::Deny { message, .. } => error_type(message),
        Decision::Admit => "no_error",
    }
}

fn truncate(value: &mut String) {
    if value.len() > ANNOTATION_MAX {
        let mut end = ANNOTATION_MAX;
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        value.truncate(end);
    }
}

impl AdmissionPlugin for ValidatingPolicies {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let operation = asked::operations(target.operation);
        let table = &self.0.table;
        table.may_validate(target.resource.plural, operation) && !is_excluded(target)
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(self.judge(attributes))
    }
}
