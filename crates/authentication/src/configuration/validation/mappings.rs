//! The mappings of claims to a user.

use super::super::expression::{About, Expression};
use super::super::file::{
    ClaimMappings, ClaimOrExpression, ExtraMapping, PrefixedClaimOrExpression,
};
use super::super::mapping::{Mapping, Mappings};
use super::rules::ClaimRules;
use kubist_apimachinery::validate_name::domain_prefixed_path;
use kubist_apimachinery::{FieldError, FieldPath};
use std::collections::BTreeSet;

const BOTH: &str = "claim and expression can't both be set";
const EMAIL: &str = "claims.email_verified must be used in claimMappings.username.expression or \
                     claimMappings.extra[*].valueExpression or \
                     claimValidationRules[*].expression when claims.email is used in \
                     claimMappings.username.expression";

pub(super) fn compile(
    file: ClaimMappings,
    path: &FieldPath,
    rules: &ClaimRules,
    errors: &mut Vec<FieldError>,
) -> Mappings {
    let of_name = path.child("username");
    let name = file.username.expression.clone();
    let mappings = Mappings {
        username: prefixed(file.username, &of_name, true, errors),
        groups: prefixed(file.groups, &path.child("groups"), false, errors),
        uid: uid(file.uid, &path.child("uid"), errors),
        extra: extra(file.extra, &path.child("extra"), errors),
    };
    if let Mapping::Expression(it) = &mappings.username
        && it.selects("email")
    {
        let others = rules.expressions.iter().chain(&mappings.extra);
        let mut all = others.chain([it]);
        if !all.any(|it| it.selects("email_verified")) {
            errors.push(FieldError::invalid(
                &of_name.child("expression"),
                &name,
                EMAIL,
            ));
        }
    }
    mappings
}

fn prefixed(
    file: PrefixedClaimOrExpression,
    path: &FieldPath,
    is_required: bool,
    errors: &mut Vec<FieldError>,
) -> Mapping {
    let PrefixedClaimOrExpression {
        claim,
        prefix,
        expression,
    } = file;
    match (claim.is_empty(), expression.is_empty()) {
        (false, false) => errors.push(FieldError::invalid(path, "", BOTH)),
        (true, true) if is_required => {
            errors.push(FieldError::required(
                path,
                "claim or expression is required",
            ));
        }
        (true, true) => {}
        (true, false) => {
            if let Some(prefix) = &prefix {
                let why = "may not be specified when expression is set";
                errors.push(FieldError::invalid(&path.child("prefix"), prefix, why));
            }
            return expression_at(&expression, &path.child("expression"), errors);
        }
        (false, true) => {
            if prefix.is_none() {
                let why = "prefix is required when claim is set. It can be set to an empty string \
                           to disable prefixing";
                errors.push(FieldError::required(&path.child("prefix"), why));
            }
            let prefix = prefix.unwrap_or_default();
            return Mapping::Claim {
                name: claim,
                prefix,
            };
        }
    }
    Mapping::None
}

fn uid(file: ClaimOrExpression, path: &FieldPath, errors: &mut Vec<FieldError>) -> Mapping {
    match (file.claim.is_empty(), file.expression.is_empty()) {
        (false, false) => errors.push(FieldError::invalid(path, "", BOTH)),
        (true, true) => {}
        (true, false) => return expression_at(&file.expression, &path.child("expression"), errors),
        (false, true) => {
            return Mapping::Claim {
                name: file.claim,
                prefix: String::new(),
            };
        }
    }
    Mapping::None
}

fn expression_at(text: &str, path: &FieldPath, errors: &mut Vec<FieldError>) -> Mapping {
    match Expression::compile(About::Claims, text, "", false) {
        Ok(expression) => Mapping::Expression(expression),
        Err(why) => {
            errors.push(FieldError::invalid(path, text, why));
            Mapping::None
        }
    }
}

fn extra(
    file: Vec<ExtraMapping>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> Vec<Expression> {
    let mut compiled = Vec::new();
    let mut keys = BTreeSet::new();
    for (
        at,
        ExtraMapping {
            key,
            value_expression,
        },
    ) in file.into_iter().enumerate()
    {
        let path = path.index(at);
        let (of_key, of_value) = (path.child("key"), path.child("valueExpression"));
        check_key(&key, &of_key, errors);
        if !keys.insert(key.clone()) {
            errors.push(FieldError::duplicate(&of_key, &key));
            continue;
        }
        if value_expression.is_empty() {
            errors.push(FieldError::required(&of_value, ""));
            continue;
        }
        match Expression::compile(About::Claims, &value_expression, &key, false) {
            Ok(expression) => compiled.push(expression),
            Err(why) => errors.push(FieldError::invalid(&of_value, &value_expression, why)),
        }
    }
    compiled
}

fn check_key(key: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    errors.extend(domain_prefixed_path(key, path));
    if key != key.to_lowercase() {
        errors.push(FieldError::invalid(path, key, "must be lowercase"));
    }
    let domain = key.split_once('/').map_or("", |it| it.0);
    let reserved = ["kubernetes.io", "k8s.io"];
    let is_reserved = reserved.iter().any(|it| {
        let before = domain.strip_suffix(it);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    if is_reserved {
        let why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
        errors.push(FieldError::invalid(path, key, why));
    }
}
