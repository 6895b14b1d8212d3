//! Environments of policies: what expressions can use, with the variables of the policy.

use crate::expressions::Expression;
use kubist_api::admissionregistration::v1::Variable;
use kubist_cel::admission::{Uses, stored};
use kubist_cel::{Environment, Variables};

/// Compiles the variables of a policy. Each may use those before it.
pub(super) fn variables(of: &[Variable], has_params: bool) -> Variables {
    let environment = stored(Uses {
        params: has_params,
        authorizer: true,
    });
    let mut variables = Variables::new();
    for variable in of {
        let environment = with_variables(&environment, &variables);
        let expression = Expression::compile(&environment, &variable.expression, &[]);
        variables.push(&variable.name, expression.into_program());
    }
    variables
}

/// Returns the environment of the other expressions of a policy.
pub(super) fn composed(uses: Uses, variables: &Variables) -> Environment {
    with_variables(&stored(uses), variables)
}

fn with_variables(environment: &Environment, variables: &Variables) -> Environment {
    environment.extend([(Variables::NAME, variables.cel_type())])
}
