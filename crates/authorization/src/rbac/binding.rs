//! The bindings of one scope, indexed by whom they are about.

use crate::User;
use crate::rbac::subject::{self, Who};
use kubist_api::rbac::v1::{RoleRef, Subject};
use kubist_apimachinery::Str;
use std::collections::{BTreeMap, BTreeSet};

/// A binding: subjects and the role that they get.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) role: RoleRef,
    subjects: Vec<Subject>,
}

/// The bindings of a namespace, or of the cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    by_name: BTreeMap<Str, Binding>,
    /// The names of the bindings that are about somebody.
    about: BTreeMap<Who, BTreeSet<Str>>,
}

impl Bindings {
    /// Puts a binding in, in the place of the one of this name. The namespace is empty for the
    /// cluster's.
    pub(crate) fn put(&mut self, namespace: &str, name: &Str, role: RoleRef, of: Vec<Subject>) {
        self.remove(namespace, name);
        for who in of.iter().filter_map(|it| Who::of(it, namespace)) {
            self.about.entry(who).or_default().insert(name.clone());
        }
        let binding = Binding { role, subjects: of };
        self.by_name.insert(name.clone(), binding);
    }

    /// Removes a binding.
    pub(crate) fn remove(&mut self, namespace: &str, name: &str) {
        let Some(gone) = self.by_name.remove(name) else {
            return;
        };
        for who in gone.subjects.iter().filter_map(|it| Who::of(it, namespace)) {
            if let Some(names) = self.about.get_mut(&who) {
                names.remove(name);
                if names.is_empty() {
                    self.about.remove(&who);
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the bindings that are about a user, each once, in the order of their names.
    pub(crate) fn of<'a>(&'a self, user: &User) -> Vec<(&'a Str, &'a Binding)> {
        let named = Who::all_of(user).filter_map(|who| self.about.get(&who));
        let names: BTreeSet<&Str> = named.flatten().collect();
        let found = names.into_iter();
        found
            .filter_map(|name| self.by_name.get_key_value(name))
            .collect()
    }
}

impl Binding {
    /// Returns the text of the subject by which a user gets the role; it is the first.
    pub(crate) fn subject_of(&self, user: &User, namespace: &str) -> String {
        let is_user = |it: &&Subject| {
            let who = Who::of(it, namespace);
            who.is_some_and(|who| Who::all_of(user).any(|it| it == who))
        };
        let found = self.subjects.iter().find(is_user);
        found
            .map(|it| subject::text(it, namespace))
            .unwrap_or_default()
    }
}
