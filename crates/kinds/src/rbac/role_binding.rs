//! RoleBindings and ClusterRoleBindings.

use super::grants;
use crate::shared::rules::{self, Errors};
use crate::shared::{fill, go_struct, metadata_checks};
use kubist_api::rbac::v1::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};
use kubist_apimachinery::{FieldError, FieldPath, Status, validate_name};
use kubist_registry::{
    Admission, BoxFuture, KindStrategy, MetadataUpdate, NameRule, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct RoleBindings;

#[derive(Debug)]
pub(crate) struct ClusterRoleBindings;

const GROUP: &str = "rbac.authorization.k8s.io";

impl KindStrategy for RoleBindings {
    type Kind = RoleBinding;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::PathSegment,
        metadata_on_update: MetadataUpdate::Whole,
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut RoleBinding) {
        apply_defaults(&mut object.role_ref, &mut object.subjects);
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut RoleBinding,
        old: Option<&'a RoleBinding>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move { grants::check_binding(cx, new, old, &new.role_ref).await })
    }

    fn validate(&self, new: &RoleBinding) -> Vec<FieldError> {
        check(
            &new.role_ref,
            &new.subjects,
            &["Role", "ClusterRole"],
            false,
        )
    }
    fn validate_update(&self, new: &RoleBinding, old: &RoleBinding) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        check_update(&mut errors, &new.role_ref, &old.role_ref);
        errors
    }
}

impl KindStrategy for ClusterRoleBindings {
    type Kind = ClusterRoleBinding;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::PathSegment,
        metadata_on_update: MetadataUpdate::Whole,
        allow_create_on_update: true,
        ..StrategyFacts::PLAIN
    };

    fn apply_defaults(&self, object: &mut ClusterRoleBinding) {
        apply_defaults(&mut object.role_ref, &mut object.subjects);
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut ClusterRoleBinding,
        old: Option<&'a ClusterRoleBinding>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move { grants::check_binding(cx, new, old, &new.role_ref).await })
    }

    fn validate(&self, new: &ClusterRoleBinding) -> Vec<FieldError> {
        check(&new.role_ref, &new.subjects, &["ClusterRole"], true)
    }
    fn validate_update(
        &self,
        new: &ClusterRoleBinding,
        old: &ClusterRoleBinding,
    ) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        check_update(&mut errors, &new.role_ref, &old.role_ref);
        errors
    }
}

fn apply_defaults(role: &mut RoleRef, subjects: &mut [Subject]) {
    fill::text(&mut role.api_group, GROUP);
    for subject in subjects {
        if matches!(subject.kind.as_str(), "User" | "Group") {
            fill::text(&mut subject.api_group, GROUP);
        }
    }
}

fn check(role: &RoleRef, subjects: &[Subject], kinds: &[&str], namespaces: bool) -> Errors {
    let mut errors = Vec::new();
    let path = FieldPath::new("roleRef");
    rules::one_of_texts(
        &mut errors,
        &role.api_group,
        &[GROUP],
        &path.child("apiGroup"),
    );
    rules::one_of_texts(&mut errors, &role.kind, kinds, &path.child("kind"));
    let at = path.child("name");
    if rules::required(&mut errors, &role.name, &at) {
        rules::text(&mut errors, &role.name, &at, rules::path_segment);
    }
    for (index, subject) in subjects.iter().enumerate() {
        let path = FieldPath::new("subjects").index(index);
        let at = path.child("name");
        let named = rules::required(&mut errors, &subject.name, &at);
        if named && subject.kind == "ServiceAccount" {
            rules::text(
                &mut errors,
                &subject.name,
                &at,
                validate_name::dns1123_subdomain,
            );
        }
        let group = match subject.kind.as_str() {
            "ServiceAccount" => "",
            "User" | "Group" => GROUP,
            other => {
                let supported = ["ServiceAccount", "User", "Group"];
                errors.push(FieldError::not_supported_text(
                    &path.child("kind"),
                    other,
                    &supported,
                ));
                continue;
            }
        };
        rules::one_of_texts(
            &mut errors,
            &subject.api_group,
            &[group],
            &path.child("apiGroup"),
        );
        if subject.kind == "ServiceAccount" && namespaces {
            rules::required(&mut errors, &subject.namespace, &path.child("namespace"));
        }
    }
    errors
}

fn check_update(errors: &mut Errors, new: &RoleRef, old: &RoleRef) {
    if new != old {
        let detail = "cannot change roleRef";
        let path = FieldPath::new("roleRef");
        errors.push(FieldError::invalid(&path, go_struct::shown(new), detail));
    }
}
