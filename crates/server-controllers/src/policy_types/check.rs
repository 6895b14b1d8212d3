//! The check itself: a policy and the types of the kinds that it is about become warnings.

use kubist_api::admissionregistration::v1::{ExpressionWarning, ValidatingAdmissionPolicy};
use kubist_cel::declared::Declared;
use kubist_cel::{Environment, Type, Variables, admission};
use std::sync::Arc;

/// Characters of a warning at most; the rest is left out.
const WARNING_MAX: usize = 64 << 10;

/// What a policy is about.
#[derive(Default)]
pub(super) struct Kinds {
    /// The kinds of objects, in their order.
    pub(super) objects: Vec<Named>,
    /// Whether there are parameters.
    pub(super) has_params: bool,
    /// The kind of parameters; none if it is unknown.
    pub(super) params: Option<Arc<Declared>>,
}

/// A kind with its name in warnings.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) declared: Arc<Declared>,
}

/// Returns the warnings about the validations of a policy.
pub(super) fn warnings(policy: &ValidatingAdmissionPolicy, of: &Kinds) -> Vec<ExpressionWarning> {
    let params = of.params.as_ref().map_or(Type::Dyn, |it| it.cel_type());
    let params = of.has_params.then_some(&params);
    let environments: Vec<(&str, Environment)> = of
        .objects
        .iter()
        .map(|kind| {
            let base = admission::typed(&kind.declared.cel_type(), params);
            (&*kind.name, with_variables(&base, policy))
        })
        .collect();
    let mut warnings = Vec::new();
    for (place, validation) in policy.spec.validations.iter().enumerate() {
        let texts = [
            ("expression", &validation.expression),
            ("messageExpression", &validation.message_expression),
        ];
        for (field, text) in texts {
            if text.is_empty() {
                continue;
            }
            let problems = environments
                .iter()
                .filter_map(|(kind, environment)| problem(kind, environment, text));
            let problems: Vec<String> = problems.collect();
            if problems.is_empty() {
                continue;
            }
            let problems: String = problems.join("\n").chars().take(WARNING_MAX).collect();
            warnings.push(ExpressionWarning {
                field_ref: format!("spec.validations[{place}].{field}").into(),
                warning: problems.into(),
            });
        }
    }
    warnings
}

/// Adds the variables of a policy: each can use those before it. One that has problems itself is
/// dynamic.
fn with_variables(base: &Environment, policy: &ValidatingAdmissionPolicy) -> Environment {
    let mut variables = Variables::new();
    let mut environment = base.extend([(Variables::NAME, variables.cel_type())]);
    for variable in &policy.spec.variables {
        let program = environment.compile(&variable.expression);
        variables.push(&variable.name, program.map_err(|it| it.to_string()));
        environment = base.extend([(Variables::NAME, variables.cel_type())]);
    }
    environment
}

/// Returns what is wrong with an expression about a kind, in upstream's words.
fn problem(kind: &str, environment: &Environment, text: &str) -> Option<String> {
    let error = environment.compile(text).err()?;
    // Upstream does not go on to instantiate what it has checked.
    (!error.is_instantiation()).then(|| format!("{kind}: {error}\n"))
}

#[cfg(test)]
mod tests {
    use super::super::declare::declare;
    use super::*;
    use serde_json::{Value, json};

    fn kinds() -> Kinds {
        let schema = json!({"type": "object", "properties": {
            "kind": {"type": "string"},
            "apiVersion": {"type": "string"},
            "metadata": {"type": "object", "properties": {
                "name": {"type": "string"},
                "generateName": {"type": "string"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            }},
            "spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        }});
        let nothing = serde_json::Map::new();
        let named = |name: &str| Named {
            name: name.to_owned(),
            declared: declare(&nothing, &schema, "Deployment").expect("it has a type"),
        };
        Kinds {
            objects: vec![named("apps/v1, Kind=Deployment")],
            ..Kinds::default()
        }
    }

    fn found(spec: &Value, kinds: &Kinds) -> Vec<(String, String)> {
        let policy = json!({"metadata": {"name": "p"}, "spec": spec});
        let policy = serde_json::from_value(policy).expect("it is a policy");
        let warnings = warnings(&policy, kinds).into_iter();
        warnings
            .map(|it| (it.field_ref.to_string(), it.warning.to_string()))
            .collect()
    }

    #[test]
    fn types_that_match_are_not_warned_about() {
        let spec = json!({
            "variables": [
                {"name": "replicas", "expression": "object.spec.replicas"},
                {"name": "odd", "expression": "variables.replicas % 2 == 1"},
            ],
            "validations": [
                {"expression": "object.spec.replicas > 1"},
                {"expression": "variables.odd && oldObject == null"},
                {"expression": "object.metadata.labels.all(it, it != '')"},
                {"expression": "authorizer.group('').resource('pods').check('get').allowed()"},
                {"expression": "request.userInfo.username != '' && namespaceObject != null"},
            ],
        });
        assert_eq!(found(&spec, &kinds()), []);
    }

    #[test]
    fn types_that_do_not_match_are_warned_about_in_upstreams_words() {
        let spec = json!({"validations": [{
            "expression": "object.spec.replicas > '1'",
            "messageExpression": "'wants replicas > 1, got ' + object.spec.replicas",
        }, {"expression": "object.spec.missing < 10"}]});
        let [first, second, third] = &found(&spec, &kinds())[..] else {
            panic!("there are three");
        };
        assert_eq!(first.0, "spec.validations[0].expression");
        assert_eq!(
            first.1,
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' \
             applied to '(int, string)'\n | object.spec.replicas > '1'\n | \
             .....................^\n"
        );
        assert_eq!(second.0, "spec.validations[0].messageExpression");
        let overload = "found no matching overload for '_+_' applied to '(string, int)'";
        assert!(second.1.contains(overload), "{}", second.1);
        assert!(third.1.contains("undefined field 'missing'"), "{}", third.1);
    }

    #[test]
    fn variables_with_problems_are_dynamic_and_parameters_may_be() {
        let spec = json!({
            "paramKind": {"apiVersion": "v1", "kind": "Nothing"},
            "variables": [{"name": "bad", "expression": "object.nope"}],
            "validations": [{"expression": "variables.bad > 1 && params.anything == 'x'"}],
        });
        let mut kinds = kinds();
        assert_eq!(found(&spec, &kinds).len(), 1, "there are no parameters");
        kinds.has_params = true;
        assert_eq!(found(&spec, &kinds), []);
    }

    #[test]
    fn a_warning_names_every_kind_that_it_is_about() {
        let mut kinds = kinds();
        let mut other = self::kinds().objects.remove(0);
        other.name = "apps/v1, Kind=ReplicaSet".to_owned();
        kinds.objects.push(other);
        let spec = json!({"validations": [{"expression": "object.nope"}]});
        let warnings = found(&spec, &kinds);
        assert_eq!(warnings.len(), 1);
        let of = |kind: &str| {
            warnings[0]
                .1
                .contains(&format!("apps/v1, Kind={kind}: ERROR"))
        };
        assert!(of("Deployment") && of("ReplicaSet") && warnings[0].1.contains("\n\n"));
    }
}
