//! `Criteria`: rules, exclusions and selectors of one webhook, policy or binding.

use super::rule::{Rule, Target};
use kubist_api::admissionregistration::v1::{MatchResources, RuleWithOperations};
use kubist_apimachinery::{GroupVersionKind, GroupVersionResource, LabelSelector, Selector, Str};
use std::collections::BTreeMap;

/// Labels of an object.
pub(crate) type Labels = BTreeMap<Str, Str>;

/// Which requests a webhook, a policy or a binding is about.
#[derive(Clone, Debug)]
pub(crate) struct Criteria {
    /// Empty: every resource.
    rules: Vec<Rule>,
    excluded: Vec<Rule>,
    /// Reports whether rules also match equivalent versions of the resource.
    equivalent: bool,
    namespaces: Result<Selector, String>,
    objects: Result<Selector, String>,
}

/// A resource with its kind, in a version that is equivalent to that of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    pub(crate) resource: GroupVersionResource,
    pub(crate) kind: GroupVersionKind,
}

impl Criteria {
    /// Parses those of a webhook.
    pub(crate) fn of_webhook(
        rules: &[RuleWithOperations],
        match_policy: Option<&str>,
        namespaces: Option<&LabelSelector>,
        objects: Option<&LabelSelector>,
    ) -> Self {
        let parse = |it: Option<&LabelSelector>| it.map_or_else(|| Ok(Selector::nothing()), parsed);
        Self {
            rules: rules.iter().map(Rule::from).collect(),
            excluded: Vec::new(),
            equivalent: match_policy == Some("Equivalent"),
            namespaces: parse(namespaces),
            objects: parse(objects),
        }
    }

    /// Parses those of a policy or a binding.
    pub(crate) fn of_policy(of: &MatchResources) -> Self {
        let parse = |it: Option<&LabelSelector>, what: &str| match it {
            Some(it) => parsed(it),
            None => Err(format!(
                "a nil {what} selector was passed, please ensure selectors are initialized properly"
            )),
        };
        Self {
            rules: of.resource_rules.iter().map(Rule::from).collect(),
            excluded: of.exclude_resource_rules.iter().map(Rule::from).collect(),
            equivalent: !matches!(of.match_policy.as_deref(), None | Some("Exact")),
            namespaces: parse(of.namespace_selector.as_deref(), "namespace"),
            objects: parse(of.object_selector.as_deref(), "object"),
        }
    }

    /// Returns the rules that match; none if everything does.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the version that the rules match: the first of `versions` is that of the request,
    /// the others are equivalent to it. `None`: the request is not matched.
    pub(crate) fn version<'v>(
        &self,
        target: &Target<'_>,
        versions: &'v [Matched],
    ) -> Option<&'v Matched> {
        if self.matching(&self.excluded, target, versions).is_some() {
            return None;
        }
        if self.rules.is_empty() {
            return versions.first();
        }
        self.matching(&self.rules, target, versions)
    }

    fn matching<'v>(
        &self,
        rules: &[Rule],
        target: &Target<'_>,
        versions: &'v [Matched],
    ) -> Option<&'v Matched> {
        let is_matched = |rule: &Rule, it: &Matched| {
            let target = Target {
                group: &it.resource.group,
                version: &it.resource.version,
                resource: &it.resource.resource,
                ..*target
            };
            rule.matches(&target) && rule.has_name(target.name)
        };
        let (own, equivalent) = versions.split_first()?;
        if rules.iter().any(|rule| is_matched(rule, own)) {
            return Some(own);
        }
        let equivalent = if self.equivalent { equivalent } else { &[] };
        let mut rules = rules.iter();
        rules.find_map(|rule| equivalent.iter().find(|it| is_matched(rule, it)))
    }

    /// Returns the selector of namespaces; none if every namespace is selected.
    ///
    /// # Errors
    /// The selector is invalid.
    pub(crate) fn namespaces(&self) -> Result<Option<&Selector>, &str> {
        selective(&self.namespaces)
    }

    /// Reports whether the labels of the new or of the old object are selected.
    ///
    /// # Errors
    /// The selector is invalid.
    pub(crate) fn selects(&self, new: Option<&Labels>, old: Option<&Labels>) -> Result<bool, &str> {
        let Some(selector) = selective(&self.objects)? else {
            return Ok(true);
        };
        let mut labels = new.into_iter().chain(old);
        Ok(labels.any(|it| selector.matches_labels(it)))
    }
}

fn parsed(selector: &LabelSelector) -> Result<Selector, String> {
    Selector::try_from(selector).map_err(|error| error.to_string())
}

fn selective(selector: &Result<Selector, String>) -> Result<Option<&Selector>, &str> {
    let selector = selector.as_ref().map_err(String::as_str)?;
    Ok((!selector.is_everything()).then_some(selector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::Operations;
    use kubist_api::admissionregistration::v1::NamedRuleWithOperations;

    fn version(group: &str, version: &str) -> Matched {
        Matched {
            resource: GroupVersionResource::new(group, version, "deployments"),
            kind: GroupVersionKind::new(group, version, "Deployment"),
        }
    }

    const TARGET: Target<'_> = Target {
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "",
        namespace: "default",
        name: "web",
        operation: Operations::CREATE,
    };

    fn rules(group: &str, names: &[&str]) -> Vec<NamedRuleWithOperations> {
        vec![NamedRuleWithOperations {
            resource_names: names.iter().map(|it| Str::from(*it)).collect(),
            operations: vec!["*".into()],
            api_groups: vec![group.into()],
            api_versions: vec!["*".into()],
            resources: vec!["deployments".into()],
            scope: None,
        }]
    }

    fn resources(rules: Vec<NamedRuleWithOperations>, policy: &str) -> MatchResources {
        MatchResources {
            resource_rules: rules,
            match_policy: Some(policy.into()),
            namespace_selector: Some(Box::default()),
            object_selector: Some(Box::default()),
            ..MatchResources::default()
        }
    }

    #[test]
    fn an_equivalent_version_is_matched_unless_the_match_is_exact() {
        let versions = [version("apps", "v1"), version("extensions", "v1beta1")];
        let find = |policy| {
            let criteria = Criteria::of_policy(&resources(rules("extensions", &[]), policy));
            criteria.version(&TARGET, &versions).cloned()
        };
        assert_eq!(find("Equivalent"), Some(version("extensions", "v1beta1")));
        assert_eq!(find("Exact"), None);
    }

    #[test]
    fn what_is_excluded_is_not_matched() {
        let versions = [version("apps", "v1")];
        let mut of = resources(Vec::new(), "Equivalent");
        let is_matched = |of: &MatchResources| {
            let criteria = Criteria::of_policy(of);
            criteria.version(&TARGET, &versions).is_some()
        };
        assert!(is_matched(&of), "no rules match everything");
        of.exclude_resource_rules = rules("apps", &["other"]);
        assert!(is_matched(&of));
        of.exclude_resource_rules = rules("apps", &["web"]);
        assert!(!is_matched(&of));
    }

    #[test]
    fn the_new_or_the_old_object_is_selected() {
        let mut of = resources(Vec::new(), "Exact");
        let mut selector = LabelSelector::default();
        selector.match_labels.insert("a".into(), "1".into());
        of.object_selector = Some(Box::new(selector));
        let criteria = Criteria::of_policy(&of);
        let with = Labels::from([("a".into(), "1".into())]);
        let without = Labels::new();
        assert_eq!(criteria.selects(Some(&with), None), Ok(true));
        assert_eq!(criteria.selects(Some(&without), Some(&with)), Ok(true));
        assert_eq!(criteria.selects(Some(&without), None), Ok(false));
        assert_eq!(criteria.selects(None, None), Ok(false));
    }
}
