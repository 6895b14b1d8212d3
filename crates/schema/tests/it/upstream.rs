//! The same questions to upstream's code, in the program of `tests/interop/schemas`.

use crate::alike::{coerced_alike, errors_alike, has_sets_of_numbers, in_order};
use crate::program;
use crate::random::{Random, mutated_object, mutated_schema, root_schema, rubbish, value};
use crate::support::{object, props, texts, validate, validate_update};
use kubist_api::apiextensions::v1::JSONSchemaProps;
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_schema::{
    CompiledRules, KnownExpressions, Malformed, RuleChecker, Schema, SchemaOptions, Steps,
    UnknownFields, apply_defaults, blocked_rules, check_schema, check_structural, coerce_metadata,
    prune, remove_nulls, validate_embedded, validate_list_types, validate_rules,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Cases in memory.
const AT_ONCE: u64 = 2_000;
/// The test ends early with more different cases than that.
const FAILED_MAX: usize = 50;
/// The count of differences that come from what upstream does not mean.
const TOLERATED: &str = "(tolerated)";
/// Cases with one schema.
const CASES_PER_SCHEMA: u64 = 4;

#[test]
fn schemas_and_objects_are_treated_as_by_upstream() {
    let (count, start) = (program::count(), program::first_seed());
    let mut seen = BTreeMap::new();
    let (mut first, mut failed) = (start, 0);
    while first < start + count {
        let end = (first + AT_ONCE).min(start + count);
        let cases: Vec<Value> = (first..end).map(case).collect();
        let asked = program::ask(&cases, |asked, theirs| agrees(asked, theirs, &mut seen));
        let Some(different) = asked else { return };
        failed += different;
        assert!(failed <= FAILED_MAX, "{failed} of {} cases", end - start);
        first = end;
    }
    assert_eq!(failed, 0, "of {count} cases");
    println!("{count} cases agree: {seen:?}");
    let tolerated = seen.get(TOLERATED).copied().unwrap_or_default();
    assert!(tolerated * 2_000 <= count + 10_000, "too many: {tolerated}");
    for (name, part) in [
        ("errors", 5),
        ("definition", 10),
        ("pruned", 2),
        ("embedded", 60),
        ("rules", 20),
    ] {
        let found: u64 = seen.get(name).copied().unwrap_or_default();
        assert!(found * part > count, "too few have {name}: {seen:?}");
    }
}

/// Returns a random case.
fn case(seed: u64) -> Value {
    let mut of_schema = Random::new(1 + seed / CASES_PER_SCHEMA);
    let valid = root_schema(&mut of_schema);
    let random = &mut Random::new(seed + (1 << 40));
    let schema = if random.one_in(3) {
        mutated_schema(random, &valid)
    } else {
        valid.clone()
    };
    let mut new = value(random, &valid);
    if random.one_in(3) {
        new = mutated_object(random, &new);
    }
    if random.one_in(12) {
        new = rubbish(random, 3);
    }
    if !new.is_object() {
        new = json!({});
    }
    for (name, value) in [("kind", "Fig"), ("apiVersion", "example.com/v1")] {
        if !random.one_in(10) {
            new[name] = value.into();
        }
    }
    let old = match random.below(4) {
        0 => json!({}),
        1 => new.clone(),
        _ => mutated_object(random, &new),
    };
    let mut case = json!({"schema": schema, "old": old, "new": new});
    if random.one_in(3) {
        case["status"] = true.into();
    }
    if random.one_in(3) {
        let base = if random.one_in(2) { &schema } else { &valid };
        case["oldSchema"] = mutated_schema(random, base);
    }
    case
}

/// Reports whether both answer the same.
#[expect(clippy::print_stdout, reason = "it shows differences")]
fn agrees(asked: &Value, theirs: Value, seen: &mut BTreeMap<String, u64>) -> bool {
    let theirs = object(&theirs);
    for name in theirs.keys() {
        *seen.entry(name.clone()).or_default() += 1;
    }
    if theirs.contains_key("panic") {
        return true;
    }
    let ours = object(&answer(asked));
    let names = ours.keys().chain(theirs.keys());
    let is_refused = theirs.contains_key("definition");
    let mut is_same = true;
    for name in names {
        let (ours, theirs) = (part(&ours, name), part(&theirs, name));
        let same = match name.as_str() {
            "coerced" | "dropped" => coerced_alike(&ours, &theirs),
            "definition" | "update" | "rules" => errors_alike(&ours, &theirs),
            // Of several unsupported keywords, upstream reports any.
            "convert" => ours.is_null() == theirs.is_null(),
            // Not evaluated if the old object is no object of its kind.
            "changedRules" | "passed" => ours.is_null() || errors_alike(&ours, &theirs),
            _ => ours == theirs,
        };
        // An object never meets a schema whose definition is refused.
        let is_of_object = !matches!(
            name.as_str(),
            "definition" | "update" | "structural" | "convert"
        );
        // Nor does it matter in which words a definition with several faults is refused.
        let both_refuse = !is_of_object && !ours.is_null() && !theirs.is_null();
        let is_moot = is_of_object && is_refused || both_refuse && is_many(&ours, &theirs);
        let is_of_rules = matches!(
            name.as_str(),
            "definition" | "update" | "rules" | "changedRules" | "passed"
        );
        if !same && (is_moot || is_of_rules && has_sets_of_numbers(&asked["schema"])) {
            *seen.entry(TOLERATED.to_owned()).or_default() += 1;
        } else if !same && is_same {
            println!("{asked}\n{name}\nours   {ours}\ntheirs {theirs}\n");
            is_same = false;
        }
    }
    is_same
}

/// Reports whether one of two lists of errors has several.
fn is_many(ours: &Value, theirs: &Value) -> bool {
    [ours, theirs]
        .iter()
        .any(|it| it.as_array().is_some_and(|it| it.len() > 1))
}

fn part(answer: &Map<String, Value>, name: &str) -> Value {
    normal(answer.get(name).cloned().unwrap_or_default())
}

/// Returns a value in which numbers are floats, and empty lists absent: JSON does not tell more.
fn normal(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(normal).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members.map(|(name, it)| (name, normal(it))).collect()
        }
        other => other,
    }
}

/// Answers as the program does.
fn answer(asked: &Value) -> Value {
    let mut out = json!({});
    let props = props(&asked["schema"]);
    let has_status = asked["status"] == true;
    let path = FieldPath::new("s");
    let check = |options, old: Option<&JSONSchemaProps>| {
        let known = KnownExpressions::of(old);
        let mut rules = RuleChecker::new(&known, old == Some(&props));
        sorted(check_schema(
            &props,
            has_status,
            options,
            Some(&mut rules),
            &path,
        ))
    };
    put(&mut out, "definition", check(SchemaOptions::CREATE, None));
    if asked["oldSchema"].is_object() {
        let old = crate::support::props(&asked["oldSchema"]);
        put(
            &mut out,
            "update",
            check(SchemaOptions::update([&old], false), Some(&old)),
        );
    }
    let schema = match Schema::convert(&props) {
        Ok(schema) => schema,
        Err(error) => {
            out["convert"] = error.to_string().into();
            return out;
        }
    };
    let structural = sorted(check_structural(&props, &path));
    if !structural.is_empty() {
        put(&mut out, "structural", structural);
        return out;
    }
    let pruned = schema
        .with_pruned_defaults()
        .expect("its defaults are pruned");
    operations(asked, &pruned, &mut out);
    let (new, old) = (&asked["new"], &asked["old"]);
    put(&mut out, "errors", in_order(validate(new, &schema)));
    put(
        &mut out,
        "changed",
        in_order(validate_update(new, old, &schema)),
    );
    let of_new = object(new);
    let root = &FieldPath::ROOT;
    put(
        &mut out,
        "embedded",
        sorted(validate_embedded(&of_new, &pruned, root)),
    );
    put(
        &mut out,
        "lists",
        sorted(validate_list_types(&of_new, &pruned, root)),
    );
    put_last(&mut out, of_new, old, (&schema, &pruned));
    out
}

/// Answers for an object as it is stored: pruned, and with defaults.
fn put_last(
    out: &mut Value,
    mut last: Map<String, Value>,
    old: &Value,
    (schema, pruned): (&Schema, &Schema),
) {
    let root = &FieldPath::ROOT;
    prune(&mut last, Some(pruned), None);
    remove_nulls(&mut last, pruned);
    if coerce_metadata(&mut last, pruned, Malformed::Drop, None).is_ok() {
        apply_defaults(&mut last, pruned);
        let lists = validate_list_types(&last, pruned, root);
        let last = Value::Object(last);
        let errors = kubist_schema::validate(&last, schema, root, &mut Steps::default());
        put(out, "final", sorted(errors.clone()));
        let errors = [errors, lists].concat();
        put_rules(out, &last, old, pruned, &errors);
    }
}

/// Evaluates rules, if no other errors block them.
fn put_rules(out: &mut Value, new: &Value, old: &Value, schema: &Schema, errors: &[FieldError]) {
    let Some(rules) = CompiledRules::compile(schema) else {
        return;
    };
    if blocked_rules(errors).is_some() {
        put(out, "rules", vec!["blocked".to_owned()]);
        return;
    }
    let of = |old| validate_rules(new, old, schema, &rules, &FieldPath::ROOT);
    put(out, "rules", sorted(of(None).errors));
    // Which of several wrong values upstream finds first is random.
    let of_old = kubist_schema::validate(old, schema, &FieldPath::ROOT, &mut Steps::default());
    let is_named = |name: &str| old[name].is_null() || old[name].is_string();
    if of_old.is_empty() && is_named("apiVersion") && is_named("kind") {
        let changed = of(Some(old));
        put(out, "changedRules", sorted(changed.errors));
        put(out, "passed", sorted(changed.passed));
    }
}

fn operations(asked: &Value, schema: &Arc<Schema>, out: &mut Value) {
    let fresh = || object(&asked["new"]);
    let mut pruned = fresh();
    let mut unknown = UnknownFields::new();
    prune(&mut pruned, Some(schema), Some(&mut unknown));
    out["pruned"] = pruned.into();
    put(out, "unknown", unknown.into_paths());
    let mut nulls = fresh();
    remove_nulls(&mut nulls, schema);
    out["nulls"] = nulls.into();
    let mut defaulted = fresh();
    apply_defaults(&mut defaulted, schema);
    out["defaulted"] = defaulted.into();
    for (name, malformed) in [("coerced", Malformed::Refuse), ("dropped", Malformed::Drop)] {
        let mut coerced = fresh();
        let mut unknown = UnknownFields::new();
        let result = coerce_metadata(&mut coerced, schema, malformed, Some(&mut unknown));
        let mut answer = json!({});
        if let Err(error) = result {
            answer["errors"] = json!([error.to_string()]);
        } else {
            answer["object"] = coerced.into();
            put(&mut answer, "unknown", unknown.into_paths());
        }
        out[name] = answer;
    }
}

fn put(out: &mut Value, name: &str, list: Vec<String>) {
    if !list.is_empty() {
        out[name] = list.into();
    }
}

fn sorted(errors: Vec<FieldError>) -> Vec<String> {
    in_order(texts(&errors))
}
