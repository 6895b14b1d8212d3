//! The same sequences of applies and updates in Go's structured-merge-diff, in the program of
//! `tests/interop/merge`: schemas that change, objects of several versions, versions that end.

use crate::program;
use crate::random::{ROOT, Random, schema, value};
use crate::schemas::parse;
use crate::upstream::comparable;
use kubist_apimachinery::Str;
use kubist_field_manager::schema::{Schema, TypeRef};
use kubist_field_manager::{
    ConvertError, Duplicates, FieldFilter, FieldSet, ManagedFields, ManagerId, TypedValue,
    UpdateError, Updater, VersionConverter,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const VERSIONS: [&str; 3] = ["v1", "v2", "v3"];
const STEPS: usize = 8;
/// Sequences in memory.
const AT_ONCE: usize = 1_000;

#[test]
fn sequences_of_writes_have_the_same_objects_managers_and_conflicts() {
    // A sequence takes as long as several other cases.
    let count = (program::count() / 5).max(1);
    let mut seen = Seen::default();
    for first in (1..=count).step_by(AT_ONCE) {
        let all = first..=count.min(first + AT_ONCE - 1);
        let sequences: Vec<Value> = all.map(sequence).collect();
        if !program::ask(&sequences, |asked, theirs| seen.agrees(asked, theirs)) {
            return;
        }
    }
    println!("{count} sequences agree: {seen:?}");
    assert!(
        seen.conflicts * 40 > seen.steps,
        "too few conflicts: {seen:?}"
    );
    assert!(seen.done * 3 > seen.steps, "too few writes: {seen:?}");
    assert!(
        seen.panics * 20 < count,
        "upstream panics too often: {seen:?}"
    );
}

#[derive(Debug, Default)]
struct Seen {
    steps: usize,
    done: usize,
    conflicts: usize,
    errors: usize,
    panics: usize,
}

impl Seen {
    /// Reports whether both do the same in each step.
    #[expect(clippy::print_stdout, reason = "it shows a difference")]
    fn agrees(&mut self, asked: &Value, theirs: Value) -> bool {
        let theirs = theirs.as_array().cloned().unwrap_or_default();
        let ours = run(&asked["sequence"]);
        for (at, (ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
            if theirs.get("panic").is_some() {
                self.panics += 1;
                return true;
            }
            self.count(&theirs);
            let (ours, theirs) = (comparable(ours), comparable(theirs));
            if ours != theirs {
                println!("{asked}\nstep {at}\nours   {ours}\ntheirs {theirs}\n");
                return false;
            }
        }
        true
    }

    fn count(&mut self, step: &Value) {
        self.steps += 1;
        self.done += usize::from(step.get("managers").is_some());
        self.conflicts += usize::from(step.get("conflicts").is_some());
        self.errors += usize::from(step.get("error").is_some());
    }
}

/// Returns a random sequence, as the program reads it.
fn sequence(seed: usize) -> Value {
    let mut random = Random::new(u64::try_from(seed).unwrap_or_default() + (1 << 40));
    let base = schema(&mut random);
    let mut steps = Vec::with_capacity(STEPS);
    for at in 0..STEPS {
        let versions = if random.one_in(3) { 3 } else { 1 };
        let version = VERSIONS[random.below(versions)];
        let root = json!({"namedType": ROOT});
        let apply = !random.one_in(3);
        let name = ["a", "b", "c"][random.below(3)];
        let mut step = json!({
            "version": version,
            "manager": format!("{}:{name}", if apply { "apply" } else { "update" }),
            "object": renamed(value(&mut random, &base, &root, 3), version),
            "apply": apply,
            "force": random.one_in(2),
        });
        if at == 0 {
            step["schema"] = versioned(&base);
            step["versions"] = json!(VERSIONS);
        } else if random.one_in(12) {
            step["versions"] = json!([version, "v1"]);
        }
        if at > 0 && random.one_in(5) {
            step["schema"] = versioned(&with_other_relationships(&base, &mut random));
        }
        steps.push(step);
    }
    let mut filters = Map::new();
    if random.one_in(3) {
        for version in VERSIONS {
            let excluded = format!("{{\"f:a_{version}\":{{}}}}");
            filters.insert(version.to_owned(), excluded.into());
        }
    }
    json!({"sequence": {"filters": filters, "steps": steps}})
}

/// Returns the schema with some types of maps or lists atomic, or granular again.
fn with_other_relationships(schema: &Value, random: &mut Random) -> Value {
    match schema {
        Value::Object(members) => {
            let mut out = Map::new();
            for (name, it) in members {
                let mut changed = with_other_relationships(it, random);
                let is_type = name == "map" || name == "list";
                let is_deduced = members.get("name") == Some(&json!("__untyped_deduced_"));
                if is_type && !is_deduced && random.one_in(5) {
                    changed["elementRelationship"] = "atomic".into();
                }
                out.insert(name.clone(), changed);
            }
            Value::Object(out)
        }
        Value::Array(items) => items
            .iter()
            .map(|it| with_other_relationships(it, random))
            .collect(),
        other => other.clone(),
    }
}

/// Returns a schema with a root type for each version.
fn versioned(schema: &Value) -> Value {
    let all = schema["types"].as_array().cloned().unwrap_or_default();
    let (roots, mut types): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it["name"] == ROOT);
    for (root, version) in roots
        .iter()
        .flat_map(|it| VERSIONS.map(|version| (it, version)))
    {
        let mut root = root.clone();
        root["name"] = version.into();
        for field in root["map"]["fields"].as_array_mut().into_iter().flatten() {
            let name = field["name"].as_str().unwrap_or_default();
            field["name"] = format!("{name}_{version}").into();
        }
        types.push(root);
    }
    json!({"types": types})
}

fn renamed(object: Value, version: &str) -> Value {
    match object {
        Value::Object(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, it)| (format!("{name}_{version}"), it))
                    .collect(),
            )
        }
        other => other,
    }
}

struct Converter {
    schema: Arc<Schema>,
    versions: Vec<String>,
}

impl Converter {
    fn typed(&self, value: Value, version: &str, duplicates: Duplicates) -> Option<TypedValue> {
        let schema = Arc::clone(&self.schema);
        TypedValue::new(value, schema, TypeRef::named(version), duplicates).ok()
    }
}

impl VersionConverter for Converter {
    fn convert(
        &self,
        object: &TypedValue,
        from: &str,
        to: &str,
    ) -> Result<TypedValue, ConvertError> {
        if from == to {
            return Ok(object.clone());
        }
        if !self.versions.iter().any(|it| it == to) {
            return Err(ConvertError::NoVersion);
        }
        let plain = match object.value() {
            Value::Object(members) => {
                let suffix = format!("_{from}");
                let plain = |name: &str| name.strip_suffix(&suffix).unwrap_or(name).to_owned();
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(name, it)| (plain(name), it.clone()))
                        .collect(),
                )
            }
            other => other.clone(),
        };
        let converted = self.typed(renamed(plain, to), to, Duplicates::Allowed);
        converted.ok_or_else(|| ConvertError::Failed("invalid".to_owned()))
    }
}

struct Run {
    converter: Converter,
    filters: BTreeMap<Str, FieldFilter>,
    live: Value,
    version: String,
    managers: ManagedFields,
}

/// Answers as the program does.
fn run(sequence: &Value) -> Vec<Value> {
    let filters = sequence["filters"].as_object().into_iter().flatten();
    let filters = filters.map(|(version, text)| {
        let text = text.as_str().unwrap_or_default();
        let excluded = FieldSet::from_json(text).expect("it is a set");
        (version.as_str().into(), FieldFilter::Exclude(excluded))
    });
    let mut run = Run {
        converter: Converter {
            schema: Arc::default(),
            versions: Vec::new(),
        },
        filters: filters.collect(),
        live: json!({}),
        version: String::new(),
        managers: ManagedFields::default(),
    };
    let steps = sequence["steps"].as_array().into_iter().flatten();
    steps.map(|step| run.step(step)).collect()
}

impl Run {
    fn step(&mut self, step: &Value) -> Value {
        if step["schema"].is_object() {
            self.converter.schema = Arc::new(parse(&step["schema"]));
        }
        if let Some(versions) = step["versions"].as_array() {
            let names = versions.iter().filter_map(Value::as_str);
            self.converter.versions = names.map(str::to_owned).collect();
        }
        let version = step["version"].as_str().unwrap_or_default();
        if self.version.is_empty() {
            version.clone_into(&mut self.version);
        }
        let invalid = json!({"invalid": true});
        let live = self.live.clone();
        let Some(live) = self
            .converter
            .typed(live, &self.version, Duplicates::Allowed)
        else {
            return invalid;
        };
        let Ok(live) = self.converter.convert(&live, &self.version, version) else {
            return invalid;
        };
        let config = step["object"].clone();
        let Some(config) = self.converter.typed(config, version, Duplicates::Refused) else {
            return invalid;
        };
        match self.write(step, &live, &config, version) {
            Err(UpdateError::Conflicts(conflicts)) => {
                let all = conflicts.conflicts().iter();
                let all = all.map(|it| format!("{} {}", named(&it.manager), it.field()));
                let mut all: Vec<String> = all.collect();
                all.sort();
                json!({"conflicts": all})
            }
            Err(_) => json!({"error": true}),
            Ok((object, managers)) => {
                let same = object.is_none();
                self.live = object.unwrap_or(live).into_value();
                self.managers = managers;
                version.clone_into(&mut self.version);
                self.answer(same)
            }
        }
    }

    fn write(
        &self,
        step: &Value,
        live: &TypedValue,
        config: &TypedValue,
        version: &str,
    ) -> Result<(Option<TypedValue>, ManagedFields), UpdateError> {
        let api_version = version.into();
        let updater = Updater {
            converter: &self.converter,
            filters: &self.filters,
            api_version: &api_version,
        };
        let managers = self.managers.clone();
        let name = step["manager"].as_str().unwrap_or_default();
        let name = name.split_once(':').map_or(name, |(_, name)| name);
        if step["apply"] == true {
            let manager = ManagerId::applier(name, "");
            let force = step["force"] == true;
            let applied = updater.apply(live, config, managers, &manager, force)?;
            return Ok((applied.object, applied.managers));
        }
        let failed = |_| UpdateError::Convert("", String::new());
        let new = live.merge(config).map_err(failed)?;
        let manager = ManagerId::updater(name, "", "");
        let managers = updater.update(live, &new, managers, &manager)?;
        Ok((Some(new), managers))
    }

    fn answer(&self, same: bool) -> Value {
        let mut out = json!({});
        if !self.live.is_null() {
            out["object"] = self.live.clone();
        }
        if same {
            out["same"] = true.into();
        }
        let mut managers = Map::new();
        for (id, owned) in self.managers.iter() {
            let of_one = json!({
                "version": *owned.api_version,
                "applied": id.operation.as_str() == "Apply",
                "fields": owned.fields.to_json(),
            });
            managers.insert(named(id), of_one);
        }
        if !managers.is_empty() {
            out["managers"] = managers.into();
        }
        out
    }
}

fn named(id: &ManagerId) -> String {
    format!("{}:{}", id.operation.as_str().to_lowercase(), id.name)
}
