//! Objects of all kinds: created, read, replaced, deleted; unchanged and mutated.

use crate::catalogue::with_generated_name;
use crate::plan::Plan;
use crate::step::Body;

const JSON: &str = "application/json";

pub(super) fn advance(plan: &mut Plan<'_>) {
    match plan.random.below(100) {
        0..14 => {
            let kind = plan.catalogue.any(&mut plan.random);
            let object = plan.object(kind);
            plan.create_object(kind, object, true);
        }
        14..50 => create_mutated(plan),
        50..74 => replace(plan),
        74..80 => read(plan),
        80..84 => create_again(plan),
        84..88 => {
            let kind = plan.catalogue.any(&mut plan.random);
            let prefix = format!("gen-{}-", plan.steps.len());
            let object = with_generated_name(plan.object(kind), &prefix);
            plan.create_object(kind, object, true);
        }
        88..92 => replace_what_is_not_there(plan),
        92..96 => {
            let made = plan.some();
            let step = plan.step("DELETE", made.path);
            plan.push(step);
        }
        _ => {
            // In another namespace, which does not exist.
            let kind = plan.catalogue.any_namespaced(&mut plan.random);
            let object = plan.object(kind);
            let path = kind.collection().replace("{{ns}}", "not-there");
            let step = plan.step("POST", path).json(object);
            plan.push(step);
        }
    }
}

fn create_mutated(plan: &mut Plan<'_>) {
    let kind = plan.catalogue.any(&mut plan.random);
    let mut object = plan.object(kind);
    for edit in plan.edits(&object) {
        edit.apply(&mut object);
    }
    plan.create_object(kind, object, true);
}

fn replace(plan: &mut Plan<'_>) {
    let made = plan.some();
    let body = plan.changed(&made);
    let step = plan.step("PUT", made.path.as_str()).body(JSON, body);
    let step = plan.with_write_options(step);
    plan.push(step);
    if plan.random.percent(30) {
        let step = plan.step("GET", made.path);
        plan.push(step);
    }
}

fn read(plan: &mut Plan<'_>) {
    let made = plan.some();
    let path = match plan.random.below(5) {
        0 => format!("{}-not-there", made.path),
        // Other sequences create cluster-scoped objects at the same time.
        1 if made.kind.is_namespaced => made.kind.collection(),
        _ => made.path,
    };
    let mut step = plan.step("GET", path);
    let options = [
        ("pretty", "true"),
        ("pretty", "1"),
        ("resourceVersion", "0"),
        ("resourceVersion", "x"),
        ("resourceVersion", "-1"),
        ("exact", "true"),
    ];
    if plan.random.percent(50) {
        let (name, value) = *plan.random.pick(&options);
        step = step.query(name, value);
    }
    plan.push(step);
}

fn create_again(plan: &mut Plan<'_>) {
    let made = plan.some();
    let step = plan.step("POST", made.kind.collection()).json(made.object);
    let step = plan.with_write_options(step);
    plan.push(step);
}

fn replace_what_is_not_there(plan: &mut Plan<'_>) {
    let kind = plan.catalogue.any(&mut plan.random);
    let object = plan.object(kind);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let path = format!("{}/{name}", kind.collection());
    let step = plan.step("PUT", path).body(JSON, Body::Json(object));
    plan.push(step);
}
