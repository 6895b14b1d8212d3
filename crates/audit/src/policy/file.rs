//! The policy file as it is written, and what is wrong with it.

use crate::level::{Level, Stage};
use kubist_apimachinery::validate_name::dns1123_subdomain;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PolicyFile {
    #[serde(default)]
    pub(super) api_version: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: serde_json::Value,
    #[serde(default)]
    pub(super) rules: Vec<RuleFile>,
    #[serde(default)]
    pub(super) omit_stages: Vec<String>,
    #[serde(default)]
    pub(super) omit_managed_fields: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct RuleFile {
    level: String,
    pub(super) users: Vec<String>,
    pub(super) user_groups: Vec<String>,
    pub(super) verbs: Vec<String>,
    pub(super) resources: Vec<GroupResources>,
    pub(super) namespaces: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    pub(super) non_resource_urls: Vec<String>,
    pub(super) omit_stages: Vec<String>,
    pub(super) omit_managed_fields: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct GroupResources {
    pub(super) group: String,
    pub(super) resources: Vec<String>,
    pub(super) resource_names: Vec<String>,
}

impl PolicyFile {
    /// Returns what is wrong, as upstream's validation.
    pub(super) fn problems(&self) -> Vec<FieldError> {
        let mut errors = stages(&self.omit_stages, &FieldPath::new("omitStages"));
        let path = FieldPath::new("rules");
        for (place, rule) in self.rules.iter().enumerate() {
            errors.extend(rule.problems(&path.index(place)));
        }
        errors
    }
}

impl RuleFile {
    pub(super) fn level(&self) -> Level {
        match &*self.level {
            "Metadata" => Level::Metadata,
            "Request" => Level::Request,
            "RequestResponse" => Level::RequestResponse,
            _ => Level::None,
        }
    }

    fn problems(&self, path: &FieldPath) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let level = path.child("level");
        if self.level.is_empty() {
            errors.push(FieldError::required(&level, ""));
        } else if !Level::NAMES.contains(&&*self.level) {
            errors.push(FieldError::not_supported(
                &level,
                &*self.level,
                &Level::NAMES,
            ));
        }
        let urls = path.child("nonResourceURLs");
        errors.extend(paths(&self.non_resource_urls, &urls));
        for resources in &self.resources {
            errors.extend(resources.problems(&path.child("resources")));
        }
        errors.extend(stages(&self.omit_stages, &path.child("omitStages")));
        let has_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if !self.non_resource_urls.is_empty() && has_resources {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            let value = BadValue::json(&self.non_resource_urls);
            errors.push(FieldError::invalid(&urls, value, why));
        }
        errors
    }
}

impl GroupResources {
    fn problems(&self, path: &FieldPath) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !self.group.is_empty() && self.group != "*" {
            let problems = dns1123_subdomain(&self.group);
            if !problems.is_empty() {
                let group = path.child("group");
                errors.push(FieldError::invalid(
                    &group,
                    &*self.group,
                    problems.join(","),
                ));
            }
        }
        if !self.resource_names.is_empty() && self.resources.is_empty() {
            let why = "using resourceNames requires at least one resource";
            let value = BadValue::json(&self.resource_names);
            let names = path.child("resourceNames");
            errors.push(FieldError::invalid(&names, value, why));
        }
        errors
    }
}

fn paths(urls: &[String], path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (place, url) in urls.iter().enumerate().filter(|(_, it)| *it != "*") {
        let at = path.index(place);
        if !url.starts_with('/') {
            let why = "non-resource URL rules must begin with a '/' character";
            errors.push(FieldError::invalid(&at, &**url, why));
        }
        let before_last = url.char_indices().next_back().map_or(0, |(last, _)| last);
        if url[..before_last].contains('*') {
            let why = "non-resource URL wildcards '*' must be the final character of the rule";
            errors.push(FieldError::invalid(&at, &**url, why));
        }
    }
    errors
}

fn stages(names: &[String], path: &FieldPath) -> Vec<FieldError> {
    let known = Stage::ALL.map(Stage::name);
    let unknown = names.iter().enumerate();
    let unknown = unknown.filter(|(_, name)| !known.contains(&&***name));
    let errors = unknown.map(|(place, name)| {
        let why = format!("allowed stages are {}", known.join(","));
        FieldError::invalid(&path.index(place), &**name, why)
    });
    errors.collect()
}
