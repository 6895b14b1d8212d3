//! Emits the apply configurations: the setters of the fields of each type that can be applied.

use super::model::{Model, Module, Shape, Struct, StructField, Target};
use super::schema::Schema;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A type, by its module and name.
type Place<'a> = (&'a Module, &'a str);

/// The types that have configurations.
pub(crate) struct Configurations<'a> {
    structs: BTreeMap<Place<'a>, &'a Struct>,
    /// The JSON names of the keys by which lists know the items of a type.
    keys: BTreeMap<Place<'a>, BTreeSet<&'a str>>,
}

impl<'a> Configurations<'a> {
    /// Finds the kinds that servers accept patches of, and all types in them.
    pub(crate) fn new(schema: &Schema, model: &'a Model) -> Self {
        let mut all: BTreeMap<Place<'a>, &'a Struct> = BTreeMap::new();
        for (module, structs) in &model.modules {
            all.extend(structs.iter().map(|it| ((module, it.name.as_str()), it)));
        }
        let patched = patched(schema);
        let mut found = Self {
            structs: BTreeMap::new(),
            keys: BTreeMap::new(),
        };
        let is_root =
            |it: &Struct| it.is_object() && it.kinds.iter().any(|it| patched.contains(it));
        let roots = all.iter().filter(|(_, it)| is_root(it));
        let mut waiting: Vec<Place<'a>> = roots.map(|(place, _)| *place).collect();
        while let Some(place @ (module, _)) = waiting.pop() {
            let Some(item) = all.get(&place) else {
                continue;
            };
            if item.form != "Object" || found.structs.insert(place, item).is_some() {
                continue;
            }
            for field in &item.fields {
                let Some(inner) = field.field_type.target().and_then(|it| it.place(module)) else {
                    continue;
                };
                let keys = field.keys.iter().map(String::as_str);
                found.keys.entry(inner).or_default().extend(keys);
                waiting.push(inner);
            }
        }
        found
    }

    /// Returns the text of the file of each module.
    pub(crate) fn files(&self) -> BTreeMap<&'a Module, String> {
        let mut files: BTreeMap<&Module, String> = BTreeMap::new();
        for (place @ (module, _), item) in &self.structs {
            let text = files.entry(module).or_insert_with(|| {
                "#[allow(unused_imports, reason = \"generated\")]\n\
                 use kubist_apimachinery::{ByteString, Str, apply::ObjectMetaApply};\n\
                 use kubist_apimachinery::apply_configuration;\n\n"
                    .to_owned()
            });
            self.emit(text, place, item);
        }
        files
    }

    fn emit(&self, out: &mut String, place: &Place<'_>, item: &Struct) {
        let (module, name) = place;
        let path = format!("crate::{}::{}::{name}", module.group, module.version);
        let _ = write!(
            out,
            "apply_configuration! {{\n    /// Fields of [`{name}`]({path}) to apply.\n    \
             pub {name}Apply: {path},"
        );
        if item.is_object() {
            out.push_str(" kind,\n");
        } else {
            let _ = writeln!(out, " new: [{}],", self.new_arguments(place, item));
        }
        out.push_str("    fields: [\n");
        for field in &item.fields {
            let (form, rust_type) = self.setter(module, field);
            let StructField { rust, json, .. } = field;
            let _ = writeln!(out, "        {form} {rust} {json:?} {rust_type};");
        }
        out.push_str("    ]\n}\n\n");
    }

    /// The keys that have no default.
    fn new_arguments(&self, place: &Place<'_>, item: &Struct) -> String {
        let Some(keys) = self.keys.get(place) else {
            return String::new();
        };
        let is_key = |it: &&StructField| {
            let has_default = item.defaults.iter().any(|(name, _)| *name == it.json);
            keys.contains(it.json.as_str()) && !has_default
        };
        let fields = item.fields.iter().filter(is_key);
        let arguments = fields.filter_map(|it| {
            let scalar = it.field_type.scalar()?;
            Some(format!("{} {:?} {scalar}", it.rust, it.json))
        });
        arguments.collect::<Vec<_>>().join(", ")
    }

    /// Returns the form of a setter and the type of its values.
    fn setter(&self, module: &Module, field: &StructField) -> (String, String) {
        let (form, rust_type) = match (field.field_type.scalar(), field.field_type.target()) {
            (Some("Str"), _) => ("text", "Str".to_owned()),
            (Some("ByteString"), _) => ("bytes", "ByteString".to_owned()),
            (Some(scalar), _) => ("value", scalar.to_owned()),
            (None, Some(Target::ByHand("ObjectMeta"))) => ("config", "ObjectMetaApply".to_owned()),
            (None, Some(Target::ByHand(name @ ("RawExtension" | "RawJson" | "FieldsV1")))) => {
                ("raw", format!("kubist_apimachinery::{name}"))
            }
            (None, Some(Target::ByHand(name))) => ("plain", format!("kubist_apimachinery::{name}")),
            (None, Some(target)) => self.message(module, target),
            (None, None) => ("raw", String::new()),
        };
        let suffix = match field.field_type.shape() {
            Shape::One | Shape::Option | Shape::OptionBox => "",
            Shape::List => "_list",
            Shape::Map | Shape::MapOfBoxes => "_map",
        };
        (format!("{form}{suffix}"), rust_type)
    }

    fn message(&self, module: &Module, target: &Target) -> (&'static str, String) {
        let Some(place @ (home, name)) = target.place(module) else {
            return ("raw", String::new());
        };
        let path = format!("{}::{}", home.group, home.version);
        if !self.structs.contains_key(&place) {
            return ("plain", format!("crate::{path}::{name}"));
        }
        if home == module {
            return ("config", format!("{name}Apply"));
        }
        ("config", format!("crate::apply::{path}::{name}Apply"))
    }
}

/// Returns the kinds that servers accept patches of, as group, version and kind.
fn patched(schema: &Schema) -> BTreeSet<[String; 3]> {
    let mut found = BTreeSet::new();
    for group in &schema.groups {
        for version in group.versions.iter().filter(|it| it.served) {
            for resource in &version.resources {
                let is_patched = |verbs: &[String]| verbs.iter().any(|it| it == "patch");
                if is_patched(&resource.verbs) {
                    let names = [&group.name, &version.version, &resource.kind];
                    found.insert(names.map(Clone::clone));
                }
                for sub in resource
                    .subresources
                    .iter()
                    .filter(|it| is_patched(&it.verbs))
                {
                    let names = if sub.version.is_empty() {
                        [&group.name, &version.version, &sub.kind]
                    } else {
                        [&sub.group, &sub.version, &sub.kind]
                    };
                    found.insert(names.map(Clone::clone));
                }
            }
        }
    }
    found
}
