//! Emits the typed accessors of the shared informer factory: `factory.core().v1().pods()`.

use super::model::{Model, Module};
use super::names;
use super::schema::Schema;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A kind with an informer.
struct Accessor {
    module: Module,
    method: String,
    kind: String,
}

/// Returns the text of the root file, and the text of each group's file.
pub(crate) fn files(schema: &Schema, model: &Model) -> (String, BTreeMap<String, String>) {
    let mut by_group: BTreeMap<String, Vec<Accessor>> = BTreeMap::new();
    for accessor in accessors(schema, model) {
        by_group
            .entry(accessor.module.group.clone())
            .or_default()
            .push(accessor);
    }
    let (mut modules, mut exports) = (String::new(), String::new());
    let mut files = BTreeMap::new();
    for (group, accessors) in &by_group {
        let any = any_feature(accessors);
        let _ = writeln!(modules, "#[cfg({any})]\nmod {group};");
        let _ = writeln!(exports, "#[cfg({any})]\npub use self::{group}::*;");
        files.insert(group.clone(), group_file(group, accessors));
    }
    (format!("{modules}\n{exports}"), files)
}

/// Returns the features of `kubist-informers`, each of which enables that of `kubist-api`.
pub(crate) fn features(schema: &Schema, model: &Model) -> String {
    let modules: BTreeSet<Module> = accessors(schema, model)
        .into_iter()
        .map(|accessor| accessor.module)
        .collect();
    let mut out = String::from("builtin = [\"dep:kubist-api\"]\n");
    for module in &modules {
        let feature = module.feature();
        let _ = writeln!(out, "{feature} = [\"builtin\", \"kubist-api/{feature}\"]");
    }
    let all: Vec<String> = modules
        .iter()
        .map(|module| format!("    {:?},\n", module.feature()))
        .collect();
    let _ = writeln!(out, "full = [\n{}]", all.concat());
    out
}

/// Returns the resources that are served, emitted and can be listed and watched.
fn accessors(schema: &Schema, model: &Model) -> Vec<Accessor> {
    let mut found = Vec::new();
    for (module, structs) in &model.modules {
        for item in structs {
            let Some([group, version, kind]) = item.kinds.first() else {
                continue;
            };
            let resource = schema
                .groups
                .iter()
                .filter(|it| it.name == *group)
                .flat_map(|group| &group.versions)
                .filter(|it| it.version == *version)
                .flat_map(|version| &version.resources)
                .find(|it| it.kind == *kind);
            let Some(resource) = resource else { continue };
            let has = |verb: &str| resource.verbs.iter().any(|found| found == verb);
            if has("list") && has("watch") {
                found.push(Accessor {
                    module: module.clone(),
                    method: plural_method(&item.name, &resource.name),
                    kind: item.name.clone(),
                });
            }
        }
    }
    found
}

/// Returns the plural in snake case: `replica_sets` for `ReplicaSet` and `replicasets`.
fn plural_method(kind: &str, plural: &str) -> String {
    let words = names::constant(kind).to_lowercase();
    let flat = kind.to_lowercase();
    let shared = flat
        .bytes()
        .zip(plural.bytes())
        .take_while(|(left, right)| left == right)
        .count();
    let dropped = flat.len() - shared;
    format!("{}{}", &words[..words.len() - dropped], &plural[shared..])
}

fn title(module: &str) -> String {
    let mut chars = module.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Returns the `cfg` condition under which any of the accessors exists.
fn any_feature(accessors: &[Accessor]) -> String {
    let features: Vec<String> = accessors
        .iter()
        .map(|accessor| accessor.module.feature())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|feature| format!("feature = {feature:?}"))
        .collect();
    if let [one] = &features[..] {
        one.clone()
    } else {
        format!("any({})", features.join(", "))
    }
}

fn group_file(group: &str, accessors: &[Accessor]) -> String {
    let group_type = title(group);
    let mut versions: BTreeMap<&str, Vec<&Accessor>> = BTreeMap::new();
    for accessor in accessors {
        versions
            .entry(&accessor.module.version)
            .or_default()
            .push(accessor);
    }
    let mut out = String::from(
        "use crate::{SharedInformer, SharedInformerFactory};\nuse kubist_cache::Source;\n",
    );
    for (version, accessors) in &versions {
        let feature = accessors[0].module.feature();
        let _ = writeln!(
            out,
            "#[cfg(feature = {feature:?})]\nuse kubist_api::{group}::{version};"
        );
    }
    let _ = writeln!(
        out,
        "\n/// Informers of the group `{group}`.\n#[derive(Debug)]\n\
         pub struct {group_type}<'a, S>(&'a SharedInformerFactory<S>);\n\n\
         impl<S: Source> SharedInformerFactory<S> {{\n\
         /// Informers of the group `{group}`.\n\
         pub fn {group}(&self) -> {group_type}<'_, S> {{ {group_type}(self) }}\n}}\n"
    );
    for (version, accessors) in versions {
        let feature = accessors[0].module.feature();
        let version_type = format!("{group_type}{}", title(version));
        let _ = writeln!(
            out,
            "#[cfg(feature = {feature:?})]\nimpl<'a, S: Source> {group_type}<'a, S> {{\n\
             /// Informers of version `{version}`.\n\
             pub fn {version}(&self) -> {version_type}<'a, S> {{ {version_type}(self.0) }}\n}}\n\n\
             /// Informers of `{group}/{version}`.\n#[cfg(feature = {feature:?})]\n\
             #[derive(Debug)]\n\
             pub struct {version_type}<'a, S>(&'a SharedInformerFactory<S>);\n\n\
             #[cfg(feature = {feature:?})]\nimpl<S: Source> {version_type}<'_, S> {{"
        );
        let methods: Vec<String> = accessors
            .iter()
            .map(|Accessor { method, kind, .. }| {
                format!(
                    "/// The shared informer of [`{kind}`]({version}::{kind}).\n\
                     pub fn {method}(&self) -> SharedInformer<{version}::{kind}> \
                     {{ self.0.informer() }}\n"
                )
            })
            .collect();
        let _ = writeln!(out, "{}}}\n", methods.join("\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plural_method;

    #[test]
    fn methods_are_the_plural_in_snake_case() {
        for (kind, plural, method) in [
            ("ReplicaSet", "replicasets", "replica_sets"),
            ("Ingress", "ingresses", "ingresses"),
            ("NetworkPolicy", "networkpolicies", "network_policies"),
            ("Endpoints", "endpoints", "endpoints"),
            (
                "PodDisruptionBudget",
                "poddisruptionbudgets",
                "pod_disruption_budgets",
            ),
        ] {
            assert_eq!(plural_method(kind, plural), method);
        }
    }
}
