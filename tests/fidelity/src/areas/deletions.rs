//! Deletions: options in body and query, preconditions, finalizers, collections.

use crate::plan::{Made, Plan};
use crate::step::{Body, Edit};
use serde_json::{Value, json};

pub(super) fn advance(plan: &mut Plan<'_>) {
    match plan.random.below(100) {
        0..18 => create(plan),
        18..72 => {
            let made = plan.some();
            delete(plan, &made);
            if plan.random.percent(50) {
                let step = plan.step("GET", made.path);
                plan.push(step);
            }
        }
        72..86 => collection(plan),
        _ => {
            let made = plan.some();
            let list = *plan
                .random
                .pick(&[&[][..], &["example.com/other"], &["orphan"]]);
            let patch = json!({"metadata": {"finalizers": list}});
            let step = plan.step("PATCH", made.path.as_str());
            let step = step.body("application/merge-patch+json", Body::Json(patch));
            plan.push(step);
        }
    }
}

/// Returns an object, half of the time with a finalizer.
fn create(plan: &mut Plan<'_>) {
    let kind = plan.catalogue.any(&mut plan.random);
    let mut object = plan.object(kind);
    if plan.random.percent(50) {
        let finalizers = json!(["example.com/keep"]);
        Edit::Set("/metadata/finalizers".to_owned(), finalizers).apply(&mut object);
    }
    plan.create_object(kind, object, false);
}

/// An option that needs a graceful deleter, which upstream's storage of roles, role bindings and
/// namespaces lacks: it fails.
const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

fn has_unsafe_deleter(made: &Made<'_>) -> bool {
    let group = "rbac.authorization.k8s.io/";
    !made.kind.api_version.starts_with(group) && made.kind.plural != "namespaces"
}

fn options(plan: &mut Plan<'_>, made: &Made<'_>) -> Value {
    let step = made.step;
    let reference = |field: &str| json!(format!("{{{{{step}.{field}}}}}"));
    let fields = match plan.random.below(24) {
        0 => json!({"preconditions": {"uid": reference("uid")}}),
        1 => json!({"preconditions": {"uid": "11111111-2222-3333-4444-555555555555"}}),
        2 => json!({"preconditions": {"resourceVersion": reference("rv")}}),
        3 => json!({"preconditions": {"resourceVersion": "1"}}),
        4 => json!({"preconditions": {"uid": reference("uid"), "resourceVersion": "1"}}),
        5 => json!({"preconditions": {}}),
        6 => json!({"propagationPolicy": "Foreground"}),
        7 => json!({"propagationPolicy": "Orphan"}),
        8 => json!({"propagationPolicy": "Background"}),
        9 => json!({"propagationPolicy": "background"}),
        10 => json!({"orphanDependents": true}),
        11 => json!({"orphanDependents": false, "propagationPolicy": "Foreground"}),
        12 => json!({"gracePeriodSeconds": 0}),
        13 => json!({"gracePeriodSeconds": 5}),
        14 => json!({"gracePeriodSeconds": -1}),
        15 => json!({"gracePeriodSeconds": "5"}),
        16 => json!({"dryRun": ["All"]}),
        17 => json!({"dryRun": ["Some"]}),
        18 => json!({"dryRun": ["All", "All"]}),
        19 => json!({"unknownField": 1}),
        20 => json!({"kind": "Other"}),
        21 => json!({"apiVersion": "apps/v1"}),
        22 => json!({"kind": null, "apiVersion": null, "gracePeriodSeconds": 0}),
        _ if has_unsafe_deleter(made) => json!({IGNORE_READ_ERROR: true}),
        _ => json!({}),
    };
    Plan::delete_options(&fields)
}

const QUERIES: [(&str, &str); 16] = [
    ("propagationPolicy", "Foreground"),
    ("propagationPolicy", "Orphan"),
    ("propagationPolicy", "Background"),
    ("propagationPolicy", "bad"),
    ("orphanDependents", "true"),
    ("orphanDependents", "x"),
    ("gracePeriodSeconds", "0"),
    ("gracePeriodSeconds", "7"),
    ("gracePeriodSeconds", "-1"),
    ("gracePeriodSeconds", "x"),
    ("dryRun", "All"),
    ("dryRun", "bad"),
    ("pretty", "true"),
    ("fieldManager", "x"),
    (IGNORE_READ_ERROR, "true"),
    ("unknown", "x"),
];

fn delete(plan: &mut Plan<'_>, made: &Made<'_>) {
    let path = if plan.random.percent(6) {
        format!("{}-not-there", made.path)
    } else {
        made.path.clone()
    };
    let mut step = plan.step("DELETE", path);
    match plan.random.below(100) {
        0..62 => {
            let options = options(plan, made);
            step = step.json(options);
        }
        62..72 => {
            let text = *plan.random.pick(&[
                "null",
                "[]",
                "{",
                "7",
                "\"a\"",
                "{}",
                "{}{}",
                " ",
                "{\"kind\":\"DeleteOptions\"}",
            ]);
            step = step.body("application/json", Body::Text(text.to_owned()));
        }
        _ => {}
    }
    if plan.random.percent(35) {
        let (name, value) = *plan.random.pick(&QUERIES);
        if name != IGNORE_READ_ERROR || has_unsafe_deleter(made) {
            step = step.query(name, value);
        }
    }
    plan.push(step);
}

fn collection(plan: &mut Plan<'_>) {
    let made = plan.some();
    let mut step = plan.step("DELETE", made.kind.collection());
    if !made.kind.is_namespaced {
        // This does not select the objects of other sequences.
        let own = format!("metadata.name={}", made.name);
        plan.push(step.query("fieldSelector", own));
        return;
    }
    let queries = [
        ("labelSelector", "app=web"),
        ("labelSelector", "app!=web"),
        ("labelSelector", "in ("),
        ("fieldSelector", "metadata.name=it-1"),
        ("fieldSelector", "spec.unknown=a"),
        ("limit", "1"),
        ("resourceVersion", "x"),
        ("dryRun", "All"),
    ];
    if plan.random.percent(60) {
        let (name, value) = *plan.random.pick(&queries);
        step = step.query(name, value);
    }
    if plan.random.percent(40) {
        let options = options(plan, &made);
        step = step.json(options);
    }
    plan.push(step);
}
