//! Acceptance of a definition's names, and the conditions that report it. Pure.

use super::approval;
use crate::stored::key::KeyLayout;
use crate::webhook::validate_ca_bundle;
use kubist_api::GROUPS;
use kubist_api::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionNames,
    CustomResourceDefinitionStatus,
};
use kubist_apimachinery::{Str, Time};
use std::collections::BTreeMap;

/// The names in use in a group: by definitions and built-in resources.
#[derive(Debug, Default)]
pub(crate) struct NamesInUse {
    resources: Users,
    kinds: Users,
}

/// Who uses each name: definitions by their names, and built-in resources by an empty one.
#[derive(Debug, Default)]
struct Users(BTreeMap<Str, Vec<Str>>);

impl Users {
    fn add(&mut self, name: &Str, user: &Str) {
        let users = self.0.entry(name.clone()).or_default();
        if !name.is_empty() && !users.contains(user) {
            users.push(user.clone());
        }
    }

    fn remove(&mut self, name: &Str, user: &Str) {
        if let Some(users) = self.0.get_mut(name) {
            users.retain(|it| it != user);
        }
    }

    /// Reports whether anybody else uses the name.
    fn has_other(&self, name: &Str, user: &Str) -> bool {
        let users = self.0.get(name);
        users.is_some_and(|it| it.iter().any(|it| it != user))
    }
}

impl NamesInUse {
    /// Returns the accepted names of definitions.
    pub(crate) fn by<'a>(definitions: impl Iterator<Item = &'a CustomResourceDefinition>) -> Self {
        let mut taken = Self::default();
        definitions.for_each(|it| taken.add(&it.metadata.name, &it.status.accepted_names));
        taken
    }

    /// Replaces the accepted names of a definition.
    pub(crate) fn replace(
        &mut self,
        user: &Str,
        before: &CustomResourceDefinitionNames,
        now: &CustomResourceDefinitionNames,
    ) {
        if before != now {
            for name in resource_names(before) {
                self.resources.remove(name, user);
            }
            for name in [&before.kind, &before.list_kind] {
                self.kinds.remove(name, user);
            }
            self.add(user, now);
        }
    }

    fn add(&mut self, user: &Str, names: &CustomResourceDefinitionNames) {
        for name in resource_names(names) {
            self.resources.add(name, user);
        }
        for name in [&names.kind, &names.list_kind] {
            self.kinds.add(name, user);
        }
    }

    /// Adds the names of the built-in resources of a group.
    pub(crate) fn with_built_in(mut self, group: &str) -> Self {
        let (group, user) = (GROUPS.iter().find(|it| it.name == group), Str::default());
        let versions = group.into_iter().flat_map(|it| it.versions);
        for facts in versions.flat_map(|it| it.resources) {
            let names = [facts.plural, facts.singular].into_iter();
            for name in names.chain(facts.short_names.iter().copied()) {
                self.resources.add(&name.into(), &user);
            }
            self.kinds.add(&facts.kind.into(), &user);
            let list_kind = format!("{}List", facts.kind);
            self.kinds.add(&list_kind.into(), &user);
        }
        self
    }
}

fn resource_names(names: &CustomResourceDefinitionNames) -> impl Iterator<Item = &Str> {
    [&names.plural, &names.singular]
        .into_iter()
        .chain(&names.short_names)
}

/// The last conflict found among a definition's names.
#[derive(Debug, Default)]
struct Conflict(Option<(&'static str, String)>);

impl Conflict {
    fn check(
        &mut self,
        reason: &'static str,
        (wanted, accepted): (&Str, &mut Str),
        is_taken: impl Fn(&Str) -> bool,
    ) {
        if wanted != accepted && is_taken(wanted) {
            self.0 = Some((reason, format!("{wanted:?} is already in use")));
        } else {
            *accepted = wanted.clone();
        }
    }
}

/// Returns the new status of a definition, given the names in use by it and others.
pub(crate) fn settle(
    definition: &CustomResourceDefinition,
    taken: &NamesInUse,
    now: Time,
) -> CustomResourceDefinitionStatus {
    let mut status = definition.status.clone();
    let conflict = accept(definition, &mut status.accepted_names, taken);
    let accepted = conflict.0.is_none();
    let (reason, message) = conflict
        .0
        .unwrap_or_else(|| ("NoConflicts", "no conflicts found".to_owned()));
    set(
        &mut status,
        "NamesAccepted",
        accepted,
        (reason, &message),
        now,
    );
    approval::set(definition, &mut status, now);
    let was_established = is_true(&status, ESTABLISHED);
    if let Err(why) = place(definition) {
        let message = format!("the definition is not served: {why}");
        set_once(
            &mut status,
            ESTABLISHED,
            false,
            ("NoPlaceInStorage", &message),
            now,
        );
    } else if accepted && !was_established && has_invalid_ca_bundle(definition) {
        let message = "The conversion webhook CABundle is invalid";
        let why = ("InvalidCABundle", message);
        set_once(&mut status, ESTABLISHED, false, why, now);
    } else if accepted && !was_established {
        let message = "the initial names have been accepted";
        set_once(
            &mut status,
            ESTABLISHED,
            true,
            ("InitialNamesAccepted", message),
            now,
        );
    } else if !was_established {
        let message = "not all names are accepted";
        set_once(
            &mut status,
            ESTABLISHED,
            false,
            ("NotAccepted", message),
            now,
        );
    }
    // Servers from before schemas and conversion have set these.
    let is_outdated = |kind: &str| [CONVERTED, ENFORCED].contains(&kind);
    status.conditions.retain(|it| !is_outdated(&it.type_));
    status
}

/// Checks that a definition has a storage location of its own. Definitions are validated on create,
/// but stored ones may be older than the checks.
pub(crate) fn place(definition: &CustomResourceDefinition) -> Result<(), String> {
    let spec = &definition.spec;
    let (group, plural) = (&spec.group, &spec.names.plural);
    if definition.metadata.name != *format!("{plural}.{group}") {
        return Err("the name is not the plural and the group, joined by a dot".to_owned());
    }
    KeyLayout::check_custom(group, plural).map_err(|why| why.to_string())
}

/// Reports whether the webhook of a definition cannot be called because of its CA bundle.
fn has_invalid_ca_bundle(definition: &CustomResourceDefinition) -> bool {
    let conversion = definition.spec.conversion.as_deref();
    let webhook = conversion.and_then(|it| it.webhook.as_deref());
    let client = webhook.and_then(|it| it.client_config.as_deref());
    client.is_some_and(|it| validate_ca_bundle(&it.ca_bundle).is_some())
}

/// A condition that servers without conversion webhooks have set.
const CONVERTED: &str = "VersionsConverted";
/// The condition of schemas that are stored and not enforced.
const ENFORCED: &str = "SchemaEnforced";
/// The condition of a definition that is served.
pub(crate) const ESTABLISHED: &str = "Established";
/// The condition of a definition that is being deleted.
pub(crate) const TERMINATING: &str = "Terminating";

fn accept(
    definition: &CustomResourceDefinition,
    accepted: &mut CustomResourceDefinitionNames,
    taken: &NamesInUse,
) -> Conflict {
    let (wanted, user) = (&definition.spec.names, &definition.metadata.name);
    let is_resource = |name: &Str| taken.resources.has_other(name, user);
    let is_kind = |name: &Str| taken.kinds.has_other(name, user);
    let mut conflict = Conflict::default();
    let plurals = (&wanted.plural, &mut accepted.plural);
    conflict.check("PluralConflict", plurals, is_resource);
    let singulars = (&wanted.singular, &mut accepted.singular);
    conflict.check("SingularConflict", singulars, is_resource);
    let mut short = wanted.short_names.iter();
    let in_use = |name: &&Str| !accepted.short_names.contains(name) && is_resource(name);
    match short.find(in_use) {
        Some(name) => {
            conflict.0 = Some(("ShortNamesConflict", format!("{name:?} is already in use")));
        }
        None => accepted.short_names.clone_from(&wanted.short_names),
    }
    let kinds = (&wanted.kind, &mut accepted.kind);
    conflict.check("KindConflict", kinds, is_kind);
    let list_kinds = (&wanted.list_kind, &mut accepted.list_kind);
    conflict.check("ListKindConflict", list_kinds, is_kind);
    accepted.categories.clone_from(&wanted.categories);
    conflict
}

/// Reports whether a condition is true.
pub(crate) fn is_true(status: &CustomResourceDefinitionStatus, kind: &str) -> bool {
    let mut conditions = status.conditions.iter();
    conditions.any(|it| it.type_ == *kind && it.status == "True")
}

/// Sets a condition. Its transition time changes only with its status.
pub(crate) fn set(
    status: &mut CustomResourceDefinitionStatus,
    kind: &str,
    holds: bool,
    why: (&str, &str),
    now: Time,
) {
    set_to(status, kind, if holds { "True" } else { "False" }, why, now);
}

/// Sets a condition to `True`, `False` or `Unknown`. Its transition time changes only with that.
pub(super) fn set_to(
    status: &mut CustomResourceDefinitionStatus,
    kind: &str,
    holds: &str,
    (reason, message): (&str, &str),
    now: Time,
) {
    let mut new = CustomResourceDefinitionCondition {
        type_: kind.into(),
        status: holds.into(),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
        ..CustomResourceDefinitionCondition::default()
    };
    let mut conditions = status.conditions.iter_mut();
    match conditions.find(|it| it.type_ == new.type_) {
        Some(found) => {
            if found.status == new.status {
                new.last_transition_time = found.last_transition_time;
            }
            *found = new;
        }
        None => status.conditions.push(new),
    }
}

/// Sets a condition whose status and reason say all. Its message stays while both are the same: the
/// message of another version of this server must not be rewritten, for that one rewrites it again.
pub(crate) fn set_once(
    status: &mut CustomResourceDefinitionStatus,
    kind: &str,
    holds: bool,
    why: (&str, &str),
    now: Time,
) {
    let wanted = if holds { "True" } else { "False" };
    let mut conditions = status.conditions.iter();
    let has_it = |it: &CustomResourceDefinitionCondition| {
        it.type_ == *kind && it.status == *wanted && it.reason == *why.0
    };
    if !conditions.any(has_it) {
        set(status, kind, holds, why, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(plural: &str, kind: &str, short: &[&str]) -> CustomResourceDefinition {
        let mut definition = CustomResourceDefinition::default();
        definition.metadata.name = format!("{plural}.example.com").into();
        definition.spec.group = "example.com".into();
        let names = &mut definition.spec.names;
        names.plural = plural.into();
        names.singular = kind.to_lowercase().into();
        names.kind = kind.into();
        names.list_kind = format!("{kind}List").into();
        names.short_names = short.iter().map(|it| Str::from(*it)).collect();
        definition
    }

    fn at(seconds: i64) -> Time {
        Time::from_unix(seconds)
    }

    fn conditions(status: &CustomResourceDefinitionStatus) -> Vec<(&str, &str, &str)> {
        let conditions = status.conditions.iter();
        let conditions = conditions.map(|it| (&*it.type_, &*it.status, &*it.reason));
        conditions.filter(|it| it.0 != "SchemaEnforced").collect()
    }

    #[test]
    fn fresh_names_are_accepted_and_established() {
        let mut widgets = definition("widgets", "Widget", &["w"]);
        widgets.status = settle(&widgets, &NamesInUse::default(), at(1));
        assert_eq!(
            conditions(&widgets.status),
            [
                ("NamesAccepted", "True", "NoConflicts"),
                ("Established", "True", "InitialNamesAccepted")
            ]
        );
        assert_eq!(widgets.status.accepted_names, widgets.spec.names);
        let again = settle(&widgets, &NamesInUse::default(), at(2));
        assert_eq!(again, widgets.status, "nothing moves");
    }

    #[test]
    fn messages_of_other_versions_of_the_server_are_not_rewritten() {
        let mut widgets = definition("widgets", "Widget", &["w"]);
        widgets.status = settle(&widgets, &NamesInUse::default(), at(1));
        for condition in &mut widgets.status.conditions {
            if condition.reason != *"NoConflicts" {
                condition.message = format!("in other words: {}", condition.message).into();
            }
        }
        let again = settle(&widgets, &NamesInUse::default(), at(2));
        assert_eq!(again, widgets.status);
        assert_eq!(again.conditions.len(), 2);
    }

    #[test]
    fn a_name_in_use_is_refused_until_it_is_free() {
        let mut widgets = definition("widgets", "Widget", &["w"]);
        widgets.status = settle(&widgets, &NamesInUse::default(), at(1));
        let taken = NamesInUse::by(std::iter::once(&widgets));
        for (other, reason) in [
            (definition("w", "Other", &[]), "PluralConflict"),
            (definition("others", "Other", &["w"]), "ShortNamesConflict"),
            (definition("others", "Widget", &[]), "ListKindConflict"),
        ] {
            let status = settle(&other, &taken, at(2));
            assert_eq!(
                conditions(&status),
                [
                    ("NamesAccepted", "False", reason),
                    ("Established", "False", "NotAccepted")
                ]
            );
            let mut freed = other;
            freed.status = status;
            let status = settle(&freed, &NamesInUse::default(), at(3));
            assert!(is_true(&status, ESTABLISHED));
        }
    }

    #[test]
    fn an_established_definition_stays_established_under_a_conflict() {
        let mut widgets = definition("widgets", "Widget", &[]);
        widgets.status = settle(&widgets, &NamesInUse::default(), at(1));
        let mut others = definition("others", "Other", &[]);
        others.status = settle(&others, &NamesInUse::default(), at(1));
        others.spec.names.short_names.push("widgets".into());
        let status = settle(&others, &NamesInUse::by(std::iter::once(&widgets)), at(2));
        assert!(is_true(&status, ESTABLISHED) && !is_true(&status, "NamesAccepted"));
        assert!(status.accepted_names.short_names.is_empty());
    }

    #[test]
    fn a_name_is_in_use_until_its_last_user_gives_it_up() {
        let mut widgets = definition("widgets", "Widget", &["w"]);
        widgets.status = settle(&widgets, &NamesInUse::default(), at(1));
        let mut taken = NamesInUse::by(std::iter::once(&widgets)).with_built_in("example.com");
        let accepted = widgets.status.accepted_names.clone();
        let other = definition("others", "Other", &["w"]);
        let is_free = |taken: &NamesInUse| is_true(&settle(&other, taken, at(2)), ESTABLISHED);
        assert!(!is_free(&taken));
        taken.replace(&"third.example.com".into(), &Default::default(), &accepted);
        taken.replace(&widgets.metadata.name, &accepted, &Default::default());
        assert!(!is_free(&taken), "the third has it");
        taken.replace(&"third.example.com".into(), &accepted, &Default::default());
        assert!(is_free(&taken));
    }
}
