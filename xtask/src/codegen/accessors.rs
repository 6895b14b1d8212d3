//! Typed accessors of the shared informer factory: `factory.core().v1().pods()`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use super::model::{Model, Module};
use super::names;
use super::schema::Schema;

/// A kind with an informer: its group version's modules, method name and type.
struct Accessor {
    module: Module,
    method: String,
    path: String,
}

/// The files of `kubist-informers`, one a group, and their root.
pub(crate) fn files(schema: &Schema, model: &Model) -> BTreeMap<PathBuf, String> {
    let mut by_group: BTreeMap<String, Vec<Accessor>> = BTreeMap::new();
    for accessor in accessors(schema, model) {
        by_group
            .entry(accessor.module.group.clone())
            .or_default()
            .push(accessor);
    }
    let folder = PathBuf::from("crates/informers/src/generated");
    let mut files = BTreeMap::new();
    let mut root = String::new();
    for (group, accessors) in &by_group {
        let any = any_feature(accessors);
        let _ = writeln!(
            root,
            "#[cfg({any})]\nmod {group};\n#[cfg({any})]\npub use self::{group}::*;"
        );
        files.insert(
            folder.join(format!("{group}.rs")),
            group_file(group, accessors),
        );
    }
    files.insert(PathBuf::from("crates/informers/src/generated.rs"), root);
    files
}

/// The features of `kubist-informers`: those of `kubist-api`, passed on.
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

/// Served resources that can be listed and watched, and whose type is emitted.
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
                let path = format!(
                    "kubist_api::{}::{}::{}",
                    module.group, module.version, item.name
                );
                let method = plural_method(&item.name, &resource.name);
                found.push(Accessor {
                    module: module.clone(),
                    method,
                    path,
                });
            }
        }
    }
    found
}

/// `replicasets` of `ReplicaSet` is `replica_sets`: the plural's ending on the kind's words.
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

/// The condition that any of the accessors exists.
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
    let mut out = format!(
        "use kubist_cache::Source;\n\n\
         use crate::{{SharedInformer, SharedInformerFactory}};\n\n\
         /// Informers of the group `{group}`.\n#[derive(Debug)]\n\
         pub struct {group_type}<'a, S>(&'a SharedInformerFactory<S>);\n\n\
         impl<S: Source> SharedInformerFactory<S> {{\n\
         /// Informers of the group `{group}`.\n\
         pub fn {group}(&self) -> {group_type}<'_, S> {{ {group_type}(self) }}\n}}\n\n"
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
        for Accessor { method, path, .. } in accessors {
            let _ = writeln!(
                out,
                "/// The shared informer of [`{path}`].\n\
                 pub fn {method}(&self) -> SharedInformer<{path}> {{ self.0.informer() }}"
            );
        }
        out.push_str("}\n\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plural_method;

    #[test]
    fn methods_are_the_plural_in_words() {
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
