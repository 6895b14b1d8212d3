//! Merges the group versions of other servers into discovery and the index of OpenAPI.

use crate::aggregation::Aggregation;
use crate::aggregation::remote::Remote;
use crate::aggregation::table::Table;
use crate::discovery::Form;
use kubist_api::{ApiServicePriority, api_service_priority};
use kubist_registry::version_rank;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::sync::Arc;

/// Groups that come before all others, whatever their priority.
const FIRST: &str = "apiregistration.k8s.io";

impl Aggregation {
    /// Adds the groups and versions of other servers to those of this one.
    pub(crate) fn add_groups(&self, local: &mut Vec<Value>, form: Form) {
        let Some(table) = self.table() else {
            return;
        };
        for (name, remotes) in table.groups() {
            let found = local.iter().position(|it| name_of(it, form) == name);
            let before = found.map(|index| local.remove(index));
            let (priority, group) = self.group(name, &remotes, before.as_ref(), form);
            let comes_first = |it: &Value| {
                let other = name_of(it, form);
                let other = (Reverse(priority_of_local(it, &table, form)), other);
                other <= (Reverse(priority), name)
            };
            let index = local.iter().position(|it| !comes_first(it));
            local.insert(index.unwrap_or(local.len()), group);
        }
    }

    /// Returns the document of a group of which another server has a version.
    pub(crate) fn legacy_group(&self, name: &str, local: Option<&Value>) -> Option<Value> {
        let table = self.table()?;
        let groups = table.groups();
        let (_, mut group) = self.group(name, groups.get(name)?, local, Form::Legacy);
        group["kind"] = json!("APIGroup");
        group["apiVersion"] = json!("v1");
        Some(group)
    }

    /// Adds the documents of other servers to the index of OpenAPI, and removes those of versions
    /// that are theirs now.
    pub(crate) fn add_documents(&self, paths: &mut Map<String, Value>) {
        let Some(table) = self.table() else {
            return;
        };
        let discovered = self.discovered.lock();
        for remote in table.all() {
            let root = remote.root();
            let path = root.trim_start_matches('/').to_owned();
            let known = discovered.get(&remote.name);
            match known.and_then(|it| it.open_api.as_ref()) {
                Some(url) => paths.insert(path, json!({"serverRelativeURL": url})),
                None => paths.remove(&path),
            };
        }
    }

    /// Returns a group with the versions of all servers, and its priority.
    fn group(
        &self,
        name: &str,
        remotes: &[&Arc<Remote>],
        local: Option<&Value>,
        form: Form,
    ) -> (i32, Value) {
        let mut versions: Vec<(i32, String, Value)> = Vec::new();
        let mut priority = i32::MIN;
        for version in local
            .and_then(|it| it["versions"].as_array())
            .into_iter()
            .flatten()
        {
            let text = version["version"].as_str().unwrap_or_default();
            if remotes.iter().any(|it| it.spec.version == *text) {
                continue;
            }
            let of = api_service_priority(name, text).unwrap_or(ApiServicePriority::CUSTOM);
            priority = priority.max(of.group);
            versions.push((of.version, text.to_owned(), version.clone()));
        }
        for remote in remotes {
            priority = priority.max(remote.spec.group_priority_minimum);
            let version = remote.spec.version.to_string();
            let entry = self.version(remote, form);
            versions.push((remote.spec.version_priority, version, entry));
        }
        versions.sort_by_cached_key(|(priority, version, _)| {
            Reverse((*priority, version_rank(version)))
        });
        let versions: Vec<Value> = versions.into_iter().map(|it| it.2).collect();
        let group = match form {
            Form::Legacy => json!({
                "name": name,
                "preferredVersion": versions.first(),
                "versions": versions,
            }),
            Form::Aggregated => json!({"metadata": {"name": name}, "versions": versions}),
        };
        (priority, group)
    }

    fn version(&self, remote: &Remote, form: Form) -> Value {
        let version = &remote.spec.version;
        if form == Form::Legacy {
            return json!({"groupVersion": remote.group_version(), "version": version});
        }
        let known = self.discovered.lock().get(&remote.name).cloned();
        let current = known.as_ref().is_some_and(|it| it.current) && remote.available;
        let mut entry = json!({
            "version": version,
            "freshness": if current { "Current" } else { "Stale" },
        });
        if let Some(known) = known.filter(|it| !it.resources.is_null()) {
            entry["resources"] = known.resources.clone();
        }
        entry
    }
}

fn name_of(group: &Value, form: Form) -> &str {
    let name = match form {
        Form::Legacy => &group["name"],
        Form::Aggregated => &group["metadata"]["name"],
    };
    name.as_str().unwrap_or_default()
}

/// Returns the priority of a group that is already in the list.
fn priority_of_local(group: &Value, table: &Table, form: Form) -> i32 {
    let name = name_of(group, form);
    if name == FIRST {
        return i32::MAX;
    }
    let versions = group["versions"].as_array().into_iter().flatten();
    let priorities = versions.map(|it| {
        let version = it["version"].as_str().unwrap_or_default();
        let found = api_service_priority(name, version);
        let own = found.unwrap_or(ApiServicePriority::CUSTOM).group;
        let remote = table.version(name, version);
        remote.map_or(own, |it| it.spec.group_priority_minimum)
    });
    priorities.max().unwrap_or_default()
}
