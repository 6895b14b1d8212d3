//! Comparison of types of two schemas, whatever they are called.

use kubist_apimachinery::Str;
use kubist_field_manager::schema::{Atom, FieldType, ListType, MapType, Schema, TypeRef};
use serde_json::Value;
use std::collections::BTreeSet;

type Type<'a> = (&'a Schema, &'a TypeRef);

/// Returns the differences of two types and all types below them, with their paths.
pub(crate) fn differences(ours: Type<'_>, theirs: Type<'_>) -> Vec<String> {
    let mut comparison = Comparison {
        ours: ours.0,
        theirs: theirs.0,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    comparison.types(&ours.1.name, ours.1, theirs.1);
    comparison.found
}

struct Comparison<'a> {
    ours: &'a Schema,
    theirs: &'a Schema,
    /// The pairs of named types that were compared.
    seen: BTreeSet<(Str, Str)>,
    found: Vec<String>,
}

impl Comparison<'_> {
    fn types(&mut self, path: &str, ours: &TypeRef, theirs: &TypeRef) {
        let names = (ours.name.clone(), theirs.name.clone());
        let are_named = !names.0.is_empty() && !names.1.is_empty();
        self.check(
            path,
            "relationship",
            &ours.relationship,
            &theirs.relationship,
        );
        if are_named && !self.seen.insert(names) {
            return;
        }
        match (self.ours.resolve(ours), self.theirs.resolve(theirs)) {
            (Some(ours), Some(theirs)) => self.atoms(path, &ours, &theirs),
            (ours, theirs) => self.check(path, "type", &ours, &theirs),
        }
    }

    fn atoms(&mut self, path: &str, ours: &Atom, theirs: &Atom) {
        self.check(path, "scalar", &ours.scalar, &theirs.scalar);
        match (ours.list.as_deref(), theirs.list.as_deref()) {
            (Some(ours), Some(theirs)) => self.lists(path, ours, theirs),
            (ours, theirs) => self.check(path, "list", &ours, &theirs),
        }
        match (ours.map.as_deref(), theirs.map.as_deref()) {
            (Some(ours), Some(theirs)) => self.maps(path, ours, theirs),
            (ours, theirs) => self.check(path, "map", &ours, &theirs),
        }
    }

    fn lists(&mut self, path: &str, ours: &ListType, theirs: &ListType) {
        self.check(path, "list", &ours.relationship, &theirs.relationship);
        self.check(path, "keys", &ours.keys, &theirs.keys);
        let path = format!("{path}[]");
        self.types(&path, &ours.element_type, &theirs.element_type);
    }

    fn maps(&mut self, path: &str, ours: &MapType, theirs: &MapType) {
        self.check(path, "map", &ours.relationship, &theirs.relationship);
        self.types(
            &format!("{path}.*"),
            &ours.element_type,
            &theirs.element_type,
        );
        let names = |it: &MapType| it.fields.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        self.check(path, "fields", &names(ours), &names(theirs));
        for (name, ours) in ours.fields.iter() {
            let Some(theirs) = theirs.field(name) else {
                continue;
            };
            let path = format!("{path}.{name}");
            self.check(&path, "default", &default(ours), &default(theirs));
            self.types(&path, &ours.type_ref, &theirs.type_ref);
        }
    }

    fn check<T: PartialEq + std::fmt::Debug>(
        &mut self,
        path: &str,
        what: &str,
        ours: &T,
        theirs: &T,
    ) {
        if ours != theirs {
            let found = format!("{path}: {what}: ours {ours:?}, theirs {theirs:?}");
            self.found.push(found);
        }
    }
}

/// Objects cannot be keys, so their defaults do not count.
fn default(field: &FieldType) -> Option<&Value> {
    field.default.as_ref().filter(|it| !it.is_object())
}
