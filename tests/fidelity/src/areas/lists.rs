//! Lists: paged, with selectors, at versions.

use crate::plan::{Made, Plan};
use crate::step::{Edit, Step};
use serde_json::json;

const LABELS: [&str; 26] = [
    "app=web",
    "app==web",
    "app!=web",
    "app",
    "!app",
    "app in (web,db)",
    "app notin (web)",
    "number in (0,2), app",
    "number>0",
    "number<2",
    "number>x",
    "app in ()",
    "app in (",
    "app=",
    "=web",
    "app=a b",
    "app=-bad-",
    "a/b/c=d",
    "app,,number",
    ",",
    "!",
    "app=web,app!=web",
    "app === web",
    "(app)",
    "app=\u{e4}",
    " app = web ",
];
const FIELDS: [&str; 22] = [
    "metadata.name=it-1",
    "metadata.name!=it-1",
    "metadata.name==it-2",
    "metadata.namespace={{ns}}",
    "metadata.namespace=other",
    "metadata.name",
    "metadata.uid=x",
    "metadata.labels=a",
    "status.phase=Pending",
    "status.phase!=Running",
    "spec.nodeName=",
    "spec.nodeName=n,status.phase=Pending",
    "spec.restartPolicy=Always",
    "spec.unknown=a",
    "type=Opaque",
    "type=Normal",
    "reason=Started,involvedObject.kind=Pod",
    "spec.unschedulable=false",
    "status.successful=0",
    "=",
    "metadata.name=a\\,b",
    "metadata.name=a\\x",
];
const OTHERS: [(&str, &str); 28] = [
    ("limit", "0"),
    ("limit", "-1"),
    ("limit", "x"),
    ("limit", "99999999999999999999"),
    ("limit", "1.5"),
    ("limit", ""),
    ("continue", "nonsense"),
    ("continue", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"),
    ("continue", "e30x"),
    ("continue", "mg"),
    ("continue", "eyJydiI6MS41fQ"),
    (
        "continue",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhLy4uL2IifQ",
    ),
    ("resourceVersion", "x"),
    ("resourceVersion", "-1"),
    ("resourceVersion", "9000000000000000"),
    ("resourceVersionMatch", "Exact"),
    ("resourceVersionMatch", "NotOlderThan"),
    ("resourceVersionMatch", "Unknown"),
    ("timeoutSeconds", "x"),
    ("timeoutSeconds", "10"),
    ("timeoutSeconds", "-5"),
    ("sendInitialEvents", "true"),
    ("allowWatchBookmarks", "true"),
    ("allowWatchBookmarks", "x"),
    ("watch", "0"),
    ("watch", "false"),
    ("shardSelector", "x"),
    ("fieldValidation", "Strict"),
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    if plan.made.len() < 3 {
        several(plan);
        return;
    }
    let made = plan.some();
    if !made.kind.is_namespaced {
        by_name(plan, &made);
        return;
    }
    let collection = made.kind.collection();
    match plan.random.below(100) {
        0..30 => pieces(plan, &collection),
        30..50 => {
            let selector = *plan.random.pick(&LABELS);
            let step = plan.step("GET", collection);
            plan.push(step.query("labelSelector", selector));
        }
        50..70 => {
            let selector = *plan.random.pick(&FIELDS);
            let step = plan.step("GET", collection);
            plan.push(step.query("fieldSelector", selector));
        }
        70..80 => {
            let step = plan.step("GET", made.kind.everywhere());
            plan.push(step.query("fieldSelector", "metadata.namespace={{ns}}"));
        }
        80..86 => {
            let at = *plan.random.pick(&["NotOlderThan", "Exact"]);
            let step = plan.step("GET", collection);
            let step = step.query("resourceVersion", format!("{{{{{}.rv}}}}", made.step));
            plan.push(step.query("resourceVersionMatch", at));
        }
        _ => {
            let step = plan.step("GET", collection);
            let step = with_others(plan, step, [100, 35]);
            plan.push(step);
        }
    }
}

/// A list of one cluster-scoped object: others differ, and other sequences change them.
fn by_name(plan: &mut Plan<'_>, made: &Made<'_>) {
    let step = plan.step("GET", made.kind.collection());
    let own = format!("metadata.name={}", made.name);
    let mut step = step.query("fieldSelector", own);
    if plan.random.percent(40) {
        let selector = *plan.random.pick(&LABELS);
        step = step.query("labelSelector", selector);
    }
    let step = with_others(plan, step, [50, 20]);
    plan.push(step);
}

/// Adds up to two other options, each with a probability in percent.
fn with_others(plan: &mut Plan<'_>, mut step: Step, shares: [usize; 2]) -> Step {
    for share in shares {
        if plan.random.percent(share) {
            let (name, value) = *plan.random.pick(&OTHERS);
            step = step.query(name, value);
        }
    }
    step
}

/// Creates objects of one kind with different labels.
fn several(plan: &mut Plan<'_>) {
    let kind = plan.catalogue.any_namespaced(&mut plan.random);
    for number in 0..3 {
        let mut object = plan.object(kind);
        let number = json!(number.to_string());
        Edit::Set("/metadata/labels/number".to_owned(), number).apply(&mut object);
        plan.create_object(kind, object, false);
    }
}

/// Adds a list that is read in two or three pages.
fn pieces(plan: &mut Plan<'_>, collection: &str) {
    let limit = *plan.random.pick(&["1", "2", "2", "500"]);
    let step = plan.step("GET", collection).query("limit", limit);
    let mut before = plan.push(step);
    for _ in 0..=plan.random.below(2) {
        let token = match plan.random.below(10) {
            // At its beginning: its length depends on that of the version in it.
            0 => format!("!{{{{{before}.continue}}}}"),
            _ => format!("{{{{{before}.continue}}}}"),
        };
        let mut step = plan.step("GET", collection);
        step = step.query("limit", limit).query("continue", token);
        if plan.random.percent(15) {
            let version = *plan.random.pick(&["0", "1"]);
            step = step.query("resourceVersion", version);
        }
        if plan.random.percent(10) {
            step = step.query("labelSelector", "app=web");
        }
        before = plan.push(step);
    }
}
