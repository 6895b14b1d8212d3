//! What is stored is obeyed: roles, quotas, limits, Pod security and policies of the sequence's own
//! namespace, and requests that meet them, some of a user who may do little.
//!
//! No controller counts the usage of quotas, so a sequence writes the status of its own.

use crate::plan::Plan;
use crate::step::{Step, Until};
use serde_json::{Value, json};

const GROUP: &str = "rbac.authorization.k8s.io";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const MERGE: &str = "application/merge-patch+json";
/// Whom roles are about.
const USER: &str = "{{tag}}-user";
const TEAM: &str = "{{tag}}-team";

pub(super) fn advance(plan: &mut Plan<'_>) {
    match plan.random.below(100) {
        0..12 => grant(plan),
        12..40 => act(plan),
        40..48 => escalate(plan),
        48..58 => review(plan),
        58..66 => quota(plan),
        66..72 => limit(plan),
        72..78 => secure(plan),
        78..84 => policy(plan),
        84..88 => mutating_policy(plan),
        _ => fill(plan),
    }
}

/// Sends a step as the user, and sometimes as one of its team.
fn by_user(plan: &mut Plan<'_>, step: Step) -> Step {
    let step = step.header("impersonate-user", USER);
    if plan.random.percent(50) {
        return step.header("impersonate-group", TEAM);
    }
    step
}

fn words(plan: &mut Plan<'_>, of: &[&str], most: usize) -> Value {
    let count = 1 + plan.random.below(most);
    (0..count).map(|_| json!(*plan.random.pick(of))).collect()
}

fn rule(plan: &mut Plan<'_>) -> Value {
    const VERBS: [&str; 10] = [
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
        "bind",
        "*",
    ];
    const RESOURCES: [&str; 10] = [
        "pods",
        "pods/status",
        "configmaps",
        "secrets",
        "services",
        "deployments",
        "deployments/scale",
        "roles",
        "rolebindings",
        "*",
    ];
    let verbs = words(plan, &VERBS, 4);
    let groups = words(plan, &["", "", "apps", GROUP, "*"], 3);
    let resources = words(plan, &RESOURCES, 4);
    let mut rule = json!({"verbs": verbs, "apiGroups": groups, "resources": resources});
    if plan.random.percent(20) {
        rule["resourceNames"] = words(plan, &["it-1", "it-2", "it-3", "default"], 2);
    }
    rule
}

fn rules(plan: &mut Plan<'_>) -> Value {
    let count = 1 + plan.random.below(2);
    (0..count).map(|_| rule(plan)).collect()
}

fn role(plan: &mut Plan<'_>) -> (Value, String) {
    let (kind, path) = *plan.random.pick(&[
        ("Role", "/namespaces/{{ns}}/roles"),
        ("ClusterRole", "/clusterroles"),
    ]);
    let name = format!("{{{{tag}}}}-role-{}", plan.steps.len());
    let role = json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind,
        "metadata": {"name": name}, "rules": rules(plan)});
    (role, format!("{RBAC}{path}"))
}

fn binding(plan: &mut Plan<'_>, kind: &str, role: &str) -> (Value, String) {
    let subject = if plan.random.percent(70) {
        json!({"kind": "User", "apiGroup": GROUP, "name": USER})
    } else {
        json!({"kind": "Group", "apiGroup": GROUP, "name": TEAM})
    };
    let is_for_all = kind == "ClusterRole" && plan.random.percent(30);
    let (of, path) = if is_for_all {
        ("ClusterRoleBinding", "/clusterrolebindings")
    } else {
        ("RoleBinding", "/namespaces/{{ns}}/rolebindings")
    };
    let name = format!("{{{{tag}}}}-binding-{}", plan.steps.len());
    let binding = json!({"apiVersion": format!("{GROUP}/v1"), "kind": of,
        "metadata": {"name": name}, "subjects": [subject],
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role}});
    (binding, format!("{RBAC}{path}"))
}

/// The administrator grants something.
fn grant(plan: &mut Plan<'_>) {
    let (role, path) = role(plan);
    let (kind, name) = (role["kind"].clone(), role["metadata"]["name"].clone());
    let step = plan.step("POST", path).json(role);
    plan.push(step);
    let kind = kind.as_str().unwrap_or_default();
    let (binding, path) = binding(plan, kind, name.as_str().unwrap_or_default());
    let step = plan.step("POST", path).json(binding);
    plan.push(step);
    pause(plan, Until::Soon);
}

/// A step that waits until what was written counts on both servers.
fn pause(plan: &mut Plan<'_>, until: Until) {
    let mut step = plan.step("GET", "/api/v1/namespaces/{{ns}}");
    step.until = Some(until);
    plan.push(step);
}

/// The user tries something.
fn act(plan: &mut Plan<'_>) {
    let plural = *plan
        .random
        .pick(&["configmaps", "pods", "secrets", "services", "deployments"]);
    let made = plan.some_of(plural);
    let collection = made.kind.collection();
    let mut step = match plan.random.below(10) {
        0 | 1 => plan.step("GET", made.path.as_str()),
        2 => plan.step("GET", collection),
        // Other sequences make objects meanwhile.
        3 => plan
            .step("GET", made.kind.everywhere())
            .query("fieldSelector", "metadata.namespace={{ns}}"),
        4 => plan
            .step("GET", collection)
            .query("fieldSelector", format!("metadata.name={}", made.name)),
        5 => {
            let object = plan.object(made.kind);
            plan.step("POST", collection).json(object)
        }
        6 => {
            let body = plan.changed(&made);
            plan.step("PUT", made.path.as_str())
                .body("application/json", body)
        }
        7 => {
            let labels = crate::step::Body::Json(json!({"metadata": {"labels": {"by": "user"}}}));
            plan.step("PATCH", made.path.as_str()).body(MERGE, labels)
        }
        8 => plan
            .step("DELETE", made.path.as_str())
            .query("dryRun", "All"),
        _ => {
            let path = *plan
                .random
                .pick(&["/healthz", "/version", "/metrics", "/api"]);
            plan.step("GET", path)
        }
    };
    // Documents and metrics differ in content.
    if step.path == "/metrics" || step.path == "/api" {
        step = step.query("timeout", "5s");
        step.method = "HEAD";
    }
    let step = by_user(plan, step);
    plan.push(step);
}

/// The user tries to grant something.
fn escalate(plan: &mut Plan<'_>) {
    let (body, path) = if plan.random.percent(50) {
        role(plan)
    } else {
        let name = *plan
            .random
            .pick(&["view", "edit", "admin", "cluster-admin", "not-there"]);
        // The default roles are long, and a refusal lists all their rules.
        let name = if name == "edit" {
            "system:discovery"
        } else {
            name
        };
        binding(plan, "ClusterRole", name)
    };
    let step = plan.step("POST", path).json(body);
    let step = by_user(plan, step);
    plan.push(step);
}

fn review(plan: &mut Plan<'_>) {
    const BASE: &str = "/apis/authorization.k8s.io/v1";
    let verb = *plan
        .random
        .pick(&["get", "list", "create", "delete", "escalate", "*"]);
    let resource = *plan
        .random
        .pick(&["pods", "configmaps", "deployments", "roles", "*"]);
    let namespace = *plan.random.pick(&["{{ns}}", "", "other"]);
    let name = *plan.random.pick(&["", "it-1", "it-9"]);
    let attributes = json!({"verb": verb, "resource": resource, "namespace": namespace,
        "group": *plan.random.pick(&["", "apps", GROUP]), "name": name});
    let review = |kind: &str, spec: Value| json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
    let step = match plan.random.below(3) {
        0 => {
            let spec = json!({"resourceAttributes": attributes, "user": USER, "groups": [TEAM]});
            let review = review("SubjectAccessReview", spec);
            plan.step("POST", format!("{BASE}/subjectaccessreviews"))
                .json(review)
        }
        1 => {
            let review = review(
                "SelfSubjectAccessReview",
                json!({"resourceAttributes": attributes}),
            );
            let step = plan.step("POST", format!("{BASE}/selfsubjectaccessreviews"));
            by_user(plan, step.json(review))
        }
        _ => {
            let review = review("SelfSubjectRulesReview", json!({"namespace": "{{ns}}"}));
            let step = plan.step("POST", format!("{BASE}/selfsubjectrulesreviews"));
            by_user(plan, step.json(review))
        }
    };
    plan.push(step);
}

/// A quota whose usage is counted from nothing.
fn quota(plan: &mut Plan<'_>) {
    const LIMITED: [(&str, &str); 10] = [
        ("pods", "2"),
        ("configmaps", "2"),
        ("secrets", "1"),
        ("services", "1"),
        ("services.nodeports", "1"),
        ("requests.cpu", "300m"),
        ("limits.memory", "1Gi"),
        ("persistentvolumeclaims", "1"),
        ("requests.storage", "2Gi"),
        ("count/deployments.apps", "1"),
    ];
    let mut hard = json!({});
    for _ in 0..=plan.random.below(3) {
        let (name, most) = *plan.random.pick(&LIMITED);
        hard[name] = json!(most);
    }
    let mut spec = json!({"hard": hard});
    if plan.random.percent(15) {
        spec["scopes"] = words(plan, &["BestEffort", "NotBestEffort", "NotTerminating"], 1);
    }
    let name = format!("quota-{}", plan.steps.len());
    let mut quota = json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": name}, "spec": spec});
    let path = "/api/v1/namespaces/{{ns}}/resourcequotas";
    let step = plan.step("POST", path).json(quota.clone());
    plan.push(step);
    // Without a counted status, everything that the quota limits is refused.
    if plan.random.percent(90) {
        let used = hard.as_object().into_iter().flatten();
        let used: Value = used.map(|(name, _)| (name.clone(), json!("0"))).collect();
        quota["status"] = json!({"hard": hard, "used": used});
        let step = plan
            .step("PUT", format!("{path}/{name}/status"))
            .json(quota);
        plan.push(step);
    }
    plan.touch(&format!("{path}/{name}"));
    pause(plan, Until::Soon);
}

fn limit(plan: &mut Plan<'_>) {
    let mut limit =
        json!({"type": *plan.random.pick(&["Container", "Pod", "PersistentVolumeClaim"])});
    let of = if limit["type"] == "PersistentVolumeClaim" {
        ["storage", "storage"]
    } else {
        ["cpu", "memory"]
    };
    for (field, amounts) in [
        ("min", ["10m", "1Mi"]),
        ("max", ["200m", "1Gi"]),
        ("default", ["100m", "64Mi"]),
        ("defaultRequest", ["50m", "32Mi"]),
        ("maxLimitRequestRatio", ["2", "3"]),
    ] {
        let only_containers = field.starts_with("default");
        if plan.random.percent(50) && (!only_containers || limit["type"] == "Container") {
            let at = plan.random.below(2);
            let amount = if of[at] == "storage" {
                "1Gi"
            } else {
                amounts[at]
            };
            limit[field] = json!({of[at]: amount});
        }
    }
    let name = format!("limit-{}", plan.steps.len());
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": name},
        "spec": {"limits": [limit]}});
    let step = plan
        .step("POST", "/api/v1/namespaces/{{ns}}/limitranges")
        .json(range);
    plan.push(step);
    pause(plan, Until::Soon);
}

fn secure(plan: &mut Plan<'_>) {
    let mut labels = json!({});
    for mode in ["enforce", "audit", "warn"] {
        if plan.random.percent(60) {
            let level = *plan
                .random
                .pick(&["privileged", "baseline", "restricted", "unknown"]);
            labels[format!("pod-security.kubernetes.io/{mode}")] = json!(level);
            if plan.random.percent(30) {
                let version = *plan.random.pick(&["v1.0", "v1.22", "v1.36", "latest", "x"]);
                labels[format!("pod-security.kubernetes.io/{mode}-version")] = json!(version);
            }
        }
    }
    let body = crate::step::Body::Json(json!({"metadata": {"labels": labels}}));
    let step = plan
        .step("PATCH", "/api/v1/namespaces/{{ns}}")
        .body(MERGE, body);
    plan.push(step);
    pause(plan, Until::Soon);
}

/// What a policy is about: something in this namespace.
fn constraints(plan: &mut Plan<'_>) -> Value {
    let resources = words(plan, &["configmaps", "secrets", "services", "pods"], 2);
    json!({
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "{{ns}}"}},
        "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": resources,
            "operations": words(plan, &["CREATE", "UPDATE", "DELETE", "*"], 2)}],
    })
}

fn policy(plan: &mut Plan<'_>) {
    const EXPRESSIONS: [&str; 10] = [
        "object.metadata.name != 'it-1'",
        "!has(object.metadata.labels) || size(object.metadata.labels) < 2",
        "has(object.data) && size(object.data) > 1",
        "oldObject == null || oldObject.metadata.name == object.metadata.name",
        "request.userInfo.username.endsWith('-user')",
        "request.operation in ['CREATE', 'UPDATE']",
        "object.spec.containers.all(c, c.image.contains(':'))",
        "namespaceObject.metadata.name == 'other'",
        "authorizer.group('').resource('pods').namespace('default').check('get').allowed()",
        "variables.named",
    ];
    let expression = *plan.random.pick(&EXPRESSIONS);
    let mut validation = json!({"expression": expression});
    match plan.random.below(4) {
        0 => validation["message"] = json!("it is not as it should be"),
        1 => validation["messageExpression"] = json!("'refused: ' + request.name"),
        2 => validation["reason"] = json!(*plan.random.pick(&["Unauthorized", "Forbidden", "Odd"])),
        _ => {}
    }
    let name = format!("{{{{tag}}}}-policy-{}", plan.steps.len());
    let mut spec = json!({"matchConstraints": constraints(plan), "validations": [validation],
        "failurePolicy": *plan.random.pick(&["Fail", "Ignore"]),
        "variables": [{"name": "named", "expression": "has(object.metadata.labels)"}]});
    if plan.random.percent(25) {
        spec["matchConditions"] = json!([{"name": "some",
            "expression": "request.kind.kind != 'Secret'"}]);
    }
    if plan.random.percent(20) {
        spec["auditAnnotations"] = json!([{"key": "seen", "valueExpression": "request.name"}]);
    }
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec});
    let step = plan
        .step("POST", format!("{ADMISSION}/validatingadmissionpolicies"))
        .json(policy);
    plan.push(step);
    let actions = match plan.random.below(4) {
        0 => json!(["Warn"]),
        1 => json!(["Warn", "Audit"]),
        2 => json!(["Deny", "Warn"]),
        _ => json!(["Deny"]),
    };
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": actions}});
    let path = format!("{ADMISSION}/validatingadmissionpolicybindings");
    let step = plan.step("POST", path).json(binding);
    plan.push(step);
    pause(plan, Until::Later);
    fill(plan);
}

fn mutating_policy(plan: &mut Plan<'_>) {
    const MUTATIONS: [(&str, &str); 4] = [
        (
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'made': 'yes'}}]",
        ),
        (
            "JSONPatch",
            "[JSONPatch{op: 'replace', path: '/data/a', value: 'changed'}]",
        ),
        (
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{annotations: {'made': object.metadata.name}}}",
        ),
        (
            "ApplyConfiguration",
            "Object{data: {'added': request.operation}}",
        ),
    ];
    let (kind, expression) = *plan.random.pick(&MUTATIONS);
    let field = if kind == "JSONPatch" {
        "jsonPatch"
    } else {
        "applyConfiguration"
    };
    let name = format!("{{{{tag}}}}-change-{}", plan.steps.len());
    let mut matched = constraints(plan);
    matched["resourceRules"][0]["operations"] = json!(["CREATE", "UPDATE"]);
    matched["resourceRules"][0]["resources"] = json!(["configmaps"]);
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"matchConstraints": matched, "reinvocationPolicy": "Never",
            "failurePolicy": *plan.random.pick(&["Fail", "Ignore"]),
            "mutations": [{"patchType": kind, field: {"expression": expression}}]}});
    let step = plan
        .step("POST", format!("{ADMISSION}/mutatingadmissionpolicies"))
        .json(policy);
    plan.push(step);
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name},
        "spec": {"policyName": name}});
    let path = format!("{ADMISSION}/mutatingadmissionpolicybindings");
    let step = plan.step("POST", path).json(binding);
    plan.push(step);
    pause(plan, Until::Later);
    fill(plan);
}

/// The administrator writes what quotas, limits and policies are about.
fn fill(plan: &mut Plan<'_>) {
    let plural = *plan.random.pick(&[
        "configmaps",
        "secrets",
        "services",
        "pods",
        "pods",
        "persistentvolumeclaims",
        "deployments",
    ]);
    if plan.random.percent(60) {
        let kind = plan.catalogue.kind(plural);
        let mut object = plan.object(kind);
        if plural == "pods" {
            harden(plan, &mut object);
        }
        plan.create_object(kind, object, true);
        return;
    }
    let made = plan.some_of(plural);
    let body = plan.changed(&made);
    let step = match plan.random.below(3) {
        0 => plan.step("DELETE", made.path),
        _ => plan.step("PUT", made.path).body("application/json", body),
    };
    let step = plan.with_write_options(step);
    plan.push(step);
}

/// Changes what the levels of Pod security and quotas look at.
fn harden(plan: &mut Plan<'_>, pod: &mut Value) {
    for _ in 0..plan.random.below(4) {
        let (pointer, value) = plan.random.pick(&hardenings()).clone();
        crate::step::Edit::Set(pointer.to_owned(), value).apply(pod);
    }
}

fn hardenings() -> Vec<(&'static str, Value)> {
    let drop = json!({"drop": ["ALL"]});
    let resources = json!({"requests": {"cpu": "100m", "memory": "64Mi"},
        "limits": {"cpu": "200m", "memory": "128Mi"}});
    vec![
        ("/spec/hostNetwork", json!(true)),
        ("/spec/hostPID", json!(true)),
        ("/spec/securityContext/runAsNonRoot", json!(true)),
        ("/spec/securityContext/runAsUser", json!(0)),
        (
            "/spec/securityContext/seccompProfile",
            json!({"type": "RuntimeDefault"}),
        ),
        (
            "/spec/securityContext/sysctls",
            json!([{"name": "kernel.msgmax", "value": "1"}]),
        ),
        ("/spec/containers/0/securityContext/privileged", json!(true)),
        (
            "/spec/containers/0/securityContext/allowPrivilegeEscalation",
            json!(false),
        ),
        ("/spec/containers/0/securityContext/capabilities", drop),
        (
            "/spec/containers/0/securityContext/capabilities/add",
            json!(["NET_ADMIN"]),
        ),
        (
            "/spec/containers/0/securityContext/procMount",
            json!("Unmasked"),
        ),
        (
            "/spec/containers/0/securityContext/seLinuxOptions",
            json!({"type": "x_t"}),
        ),
        (
            "/spec/containers/0/ports",
            json!([{"containerPort": 80, "hostPort": 8080}]),
        ),
        ("/spec/containers/0/resources", resources),
        ("/spec/containers/0/resources/requests", json!({"cpu": "2"})),
        (
            "/spec/volumes",
            json!([{"name": "host", "hostPath": {"path": "/"}}]),
        ),
        ("/spec/terminationGracePeriodSeconds", json!(0)),
        ("/spec/activeDeadlineSeconds", json!(60)),
        (
            "/metadata/annotations/container.apparmor.security.beta.kubernetes.io~1c",
            json!("unconfined"),
        ),
    ]
}
