//! Access and token reviews: they are answered and not stored.

use crate::mutation;
use crate::plan::Plan;
use serde_json::{Value, json};

const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";
const AUTHENTICATION: &str = "/apis/authentication.k8s.io/v1";

/// Path, kind and possible specs.
#[expect(clippy::too_many_lines, reason = "it is a table of cases")]
fn review(plan: &mut Plan<'_>) -> (String, Value) {
    let resource = json!({"namespace": "{{ns}}", "verb": "get", "resource": "pods", "name": "a"});
    let selector = json!({"verb": "list", "resource": "pods",
        "labelSelector": {"requirements": [{"key": "a", "operator": "In", "values": ["b"]}]},
        "fieldSelector": {"rawSelector": "metadata.name=a"}});
    let path = json!({"path": "/healthz", "verb": "get"});
    let of = |plural: &str, kind: &str, spec: Value| {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
        (format!("{AUTHORIZATION}/{plural}"), review)
    };
    match plan.random.below(17) {
        0 => {
            let spec = json!({"user": "bob", "resourceAttributes": resource});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        1 => {
            let spec = json!({"user": "bob", "groups": ["g"], "nonResourceAttributes": path});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        2 => {
            let spec = json!({"resourceAttributes": resource});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        3 => {
            let spec = json!({"user": "bob"});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        4 => {
            let spec = json!({"user": "bob", "resourceAttributes": resource,
                "nonResourceAttributes": path});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        5 => {
            let spec = json!({"user": "bob", "resourceAttributes": selector});
            of("subjectaccessreviews", "SubjectAccessReview", spec)
        }
        6 => {
            let spec = json!({"resourceAttributes": resource});
            of("selfsubjectaccessreviews", "SelfSubjectAccessReview", spec)
        }
        7 => {
            let spec = json!({"nonResourceAttributes": path});
            of("selfsubjectaccessreviews", "SelfSubjectAccessReview", spec)
        }
        8 => of(
            "selfsubjectaccessreviews",
            "SelfSubjectAccessReview",
            json!({}),
        ),
        9 | 10 => {
            let namespace = *plan.random.pick(&["{{ns}}", "other", ""]);
            let mut resource = resource;
            resource["namespace"] = json!(namespace);
            let spec = json!({"user": "bob", "resourceAttributes": resource});
            let plural = "localsubjectaccessreviews";
            let (_, mut review) = of(plural, "LocalSubjectAccessReview", spec);
            if plan.random.percent(30) {
                review["metadata"] = json!({"namespace": "other"});
            }
            (
                format!("{AUTHORIZATION}/namespaces/{{{{ns}}}}/{plural}"),
                review,
            )
        }
        11 => {
            let spec = json!({"namespace": "{{ns}}"});
            of("selfsubjectrulesreviews", "SelfSubjectRulesReview", spec)
        }
        12 => of(
            "selfsubjectrulesreviews",
            "SelfSubjectRulesReview",
            json!({}),
        ),
        13 => token(json!({"token": "nonsense"})),
        14 => token(json!({"token": "", "audiences": ["a"]})),
        15 => token(json!({"token": "s.e.t", "audiences": ["a", "a"]})),
        _ => {
            let review = json!({"apiVersion": "authentication.k8s.io/v1",
                "kind": "SelfSubjectReview"});
            (format!("{AUTHENTICATION}/selfsubjectreviews"), review)
        }
    }
}

fn token(spec: Value) -> (String, Value) {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview",
        "spec": spec});
    (format!("{AUTHENTICATION}/tokenreviews"), review)
}

pub(super) fn advance(plan: &mut Plan<'_>) {
    let (path, mut review) = review(plan);
    if plan.random.percent(35) {
        mutation::edit(&review, plan.catalogue, &mut plan.random).apply(&mut review);
    }
    let method = match plan.random.below(20) {
        0 => "GET",
        1 => "PUT",
        2 => "DELETE",
        _ => "POST",
    };
    let mut step = plan.step(method, path).json(review);
    if plan.random.percent(15) {
        let accept = *plan.random.pick(&[
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/yaml",
        ]);
        step = step.header("accept", accept);
    }
    let step = plan.with_write_options(step);
    plan.push(step);
}
