//! Roles and ClusterRoles.

use super::grants;
use crate::shared::rules::Errors;
use kubist_api::rbac::v1::{ClusterRole, PolicyRule, Role};
use kubist_apimachinery::{
    BadValue, FieldError, FieldPath, Selector, Status, validate_label_selector,
};
use kubist_registry::{
    Admission, BoxFuture, KindStrategy, MetadataUpdate, NameRule, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct Roles;

#[derive(Debug)]
pub(crate) struct ClusterRoles;

impl KindStrategy for Roles {
    type Kind = Role;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::PathSegment,
        metadata_on_update: MetadataUpdate::WholeThenChange,
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut Role,
        old: Option<&'a Role>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move { grants::check_role(cx, new, old, &new.rules, false).await })
    }

    fn validate(&self, new: &Role) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_rules(&mut errors, &new.rules, true);
        errors
    }
}

impl KindStrategy for ClusterRoles {
    type Kind = ClusterRole;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::PathSegment,
        metadata_on_update: MetadataUpdate::WholeThenChange,
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut ClusterRole,
        old: Option<&'a ClusterRole>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let combines = |it: &ClusterRole| it.aggregation_rule.is_some();
        let aggregates = combines(new) || old.is_some_and(combines);
        Box::pin(async move { grants::check_role(cx, new, old, &new.rules, aggregates).await })
    }

    fn validate(&self, new: &ClusterRole) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_rules(&mut errors, &new.rules, false);
        if let Some(aggregation) = &new.aggregation_rule {
            let path = FieldPath::new("aggregationRule").child("clusterRoleSelectors");
            if aggregation.cluster_role_selectors.is_empty() {
                let detail =
                    "at least one clusterRoleSelector required if aggregationRule is non-nil";
                errors.push(FieldError::required(&path, detail));
            }
            for (index, selector) in aggregation.cluster_role_selectors.iter().enumerate() {
                let path = path.index(index);
                errors.extend(validate_label_selector(selector, &path, false));
                if Selector::try_from(selector).is_err() {
                    let detail = "invalid label selector.";
                    errors.push(FieldError::invalid(&path, BadValue::null(), detail));
                }
            }
        }
        errors
    }
}

fn check_rules(errors: &mut Errors, rules: &[PolicyRule], namespaced: bool) {
    for (index, rule) in rules.iter().enumerate() {
        let path = FieldPath::new("rules").index(index);
        let required = |errors: &mut Errors, name: &str, missing: bool, detail: &str| {
            if missing {
                errors.push(FieldError::required(&path.child(name), detail.to_owned()));
            }
        };
        let no_verbs = rule.verbs.is_empty();
        required(
            errors,
            "verbs",
            no_verbs,
            "verbs must contain at least one value",
        );
        if !rule.non_resource_urls.is_empty() {
            let path = path.child("nonResourceURLs");
            let shown = || BadValue::json(&rule.non_resource_urls);
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                errors.push(FieldError::invalid(&path, shown(), detail));
            }
            let regular = [&rule.api_groups, &rule.resources, &rule.resource_names];
            if regular.iter().any(|list| !list.is_empty()) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.push(FieldError::invalid(&path, shown(), detail));
            }
            continue;
        }
        let groups = rule.api_groups.is_empty();
        required(
            errors,
            "apiGroups",
            groups,
            "resource rules must supply at least one api group",
        );
        let resources = rule.resources.is_empty();
        let detail = "resource rules must supply at least one resource";
        required(errors, "resources", resources, detail);
    }
}
