//! Access reviews: whether somebody may do something, and all that a user may do.

use crate::handlers::call::Call;
use crate::handlers::{review_rules, review_selectors};
use kubist_api::authorization::v1::{
    NonResourceAttributes, NonResourceRule, ResourceAttributes, ResourceRule,
    SubjectAccessReviewSpec, SubjectAccessReviewStatus, SubjectRulesReviewStatus,
};
use kubist_api::rbac::v1::PolicyRule;
use kubist_apimachinery::{FieldSelector, Selector, Str};
use kubist_authentication::aggregate;
use kubist_authorization::node::NODES_GROUP;
use kubist_authorization::{Action, Attributes, ResourceAction, User};

/// The reason of a decision where everything is allowed without asking.
const ALLOWS_ALL: &str = "this server allows all requests of authenticated users";

/// The prefix of the names of kubelets.
const NODE_PREFIX: &str = "system:node:";

/// What a review asks about.
pub(super) struct About<'a> {
    resource: Option<&'a ResourceAttributes>,
    path: Option<&'a NonResourceAttributes>,
    fields: Option<FieldSelector>,
    labels: Option<Selector>,
}

impl<'a> About<'a> {
    pub(super) fn of(
        resource: Option<&'a ResourceAttributes>,
        path: Option<&'a NonResourceAttributes>,
    ) -> Self {
        let fields = resource.and_then(|it| it.field_selector.as_deref());
        let labels = resource.and_then(|it| it.label_selector.as_deref());
        Self {
            resource,
            path,
            fields: fields.and_then(review_selectors::fields),
            labels: labels.and_then(review_selectors::labels),
        }
    }

    fn by<'b>(&'b self, user: &'b User) -> Option<Attributes<'b>> {
        let (verb, action) = match (self.resource, self.path) {
            (Some(it), _) => {
                // As upstream: no version stands for all.
                let version = if it.version.is_empty() {
                    "*"
                } else {
                    &it.version
                };
                let resource = ResourceAction {
                    group: &it.group,
                    version,
                    resource: &it.resource,
                    subresource: &it.subresource,
                    namespace: &it.namespace,
                    name: &it.name,
                    fields: self.fields.as_ref(),
                    labels: self.labels.as_ref(),
                };
                (&it.verb, Action::Resource(resource))
            }
            (None, Some(it)) => (&it.verb, Action::Path(&it.path)),
            (None, None) => return None,
        };
        Some(Attributes { user, verb, action })
    }
}

/// Decides whether a user may do something.
pub(super) async fn decide(
    call: Call<'_>,
    user: &User,
    about: About<'_>,
) -> SubjectAccessReviewStatus {
    let authorization = &call.server.authorization;
    let mut status = SubjectAccessReviewStatus {
        evaluation_error: review_rules::evaluation_error(about.resource),
        ..Default::default()
    };
    if authorization.allows_all() {
        status.allowed = true;
        status.reason = ALLOWS_ALL.into();
        return status;
    }
    let Some(attributes) = about.by(user) else {
        return status;
    };
    let decision = authorization.decide(attributes).await;
    status.allowed = decision.is_allowed();
    status.denied = decision.is_denied();
    status.reason = decision.reason().into();
    let errors = [decision.error(), &*status.evaluation_error];
    let errors = errors.into_iter().filter(|it| !it.is_empty());
    status.evaluation_error = aggregate(errors).into();
    status
}

/// Decides whether the user of a review may do something.
pub(super) async fn decide_for(
    call: Call<'_>,
    spec: &SubjectAccessReviewSpec,
) -> SubjectAccessReviewStatus {
    let extra = spec.extra.iter();
    let user = User {
        name: spec.user.clone(),
        uid: spec.uid.clone(),
        groups: spec.groups.clone(),
        extra: extra
            .map(|(key, it)| (key.clone(), it.items.clone()))
            .collect(),
    };
    let about = About::of(
        spec.resource_attributes.as_deref(),
        spec.non_resource_attributes.as_deref(),
    );
    decide(call, &user, about).await
}

/// Returns all that the user of the request may do in a namespace.
pub(super) fn rules(call: Call<'_>, namespace: &str) -> SubjectRulesReviewStatus {
    let authorization = &call.server.authorization;
    if authorization.allows_all() {
        return everything();
    }
    let mut unlisted: Vec<&str> = authorization
        .others()
        .iter()
        .filter_map(|it| it.unlisted_rules())
        .collect();
    let is_node = call.cx.user.is_in(NODES_GROUP) && call.cx.user.name.starts_with(NODE_PREFIX);
    if authorization.node().is_some() && is_node {
        unlisted.push("node authorizer does not support user rule resolution");
    }
    let Some(roles) = authorization.roles() else {
        return SubjectRulesReviewStatus {
            incomplete: !unlisted.is_empty(),
            evaluation_error: aggregate(unlisted).into(),
            ..Default::default()
        };
    };
    roles.read(|policy| {
        let found = policy.rules_of_user(&call.cx.user, namespace);
        let of_roles = found.errors();
        let is_incomplete = !found.missing.is_empty() || !unlisted.is_empty();
        let errors = unlisted.iter().copied().chain([&*of_roles]);
        let errors = aggregate(errors.filter(|it| !it.is_empty()));
        let of_resources = found.rules.iter().filter(|it| !it.resources.is_empty());
        let of_paths = found
            .rules
            .iter()
            .filter(|it| !it.non_resource_urls.is_empty());
        SubjectRulesReviewStatus {
            resource_rules: of_resources.map(|it| resource_rule(it)).collect(),
            non_resource_rules: of_paths.map(|it| path_rule(it)).collect(),
            incomplete: is_incomplete,
            evaluation_error: errors.into(),
        }
    })
}

fn resource_rule(rule: &PolicyRule) -> ResourceRule {
    ResourceRule {
        verbs: rule.verbs.clone(),
        api_groups: rule.api_groups.clone(),
        resources: rule.resources.clone(),
        resource_names: rule.resource_names.clone(),
    }
}

fn path_rule(rule: &PolicyRule) -> NonResourceRule {
    NonResourceRule {
        verbs: rule.verbs.clone(),
        non_resource_urls: rule.non_resource_urls.clone(),
    }
}

fn everything() -> SubjectRulesReviewStatus {
    let all = || -> Vec<Str> { vec!["*".into()] };
    SubjectRulesReviewStatus {
        resource_rules: vec![ResourceRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            resource_names: Vec::new(),
        }],
        non_resource_rules: vec![NonResourceRule {
            verbs: all(),
            non_resource_urls: all(),
        }],
        incomplete: false,
        evaluation_error: "".into(),
    }
}
