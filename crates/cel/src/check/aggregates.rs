//! Types of lists, maps and messages.

use super::assign::most_general;
use super::checker::Checker;
use super::scope::Declared;
use crate::cel_type::{Name, Type};
use crate::syntax::ast::{Element, Entry, Id};

impl Checker<'_> {
    pub(super) fn check_list(&mut self, id: Id, elements: &[Element]) {
        let mut joined = None;
        for element in elements {
            self.check(element.value);
            let kind = self.element_type(*element);
            joined = Some(self.join(element.value, joined, kind));
        }
        let element = joined.unwrap_or_else(|| self.substitution.variable());
        self.set(id, Type::list(element));
    }

    /// Returns the type of an element, unwrapped if the element is optional.
    fn element_type(&mut self, element: Element) -> Type {
        let kind = self.kind(element.value);
        if !element.is_optional {
            return kind;
        }
        if let Some(inner) = kind.optional_value() {
            return inner.clone();
        }
        if !kind.is_dyn() {
            self.mismatch(element.value, &Type::optional(kind.clone()), &kind);
        }
        kind
    }

    /// Returns the common type of elements.
    fn join(&mut self, id: Id, previous: Option<Type>, current: Type) -> Type {
        let Some(previous) = previous else {
            return current;
        };
        if self.is_assignable(&previous, &current) {
            return most_general(&previous, &current);
        }
        if self.scope.validates_literals {
            return Type::Dyn;
        }
        self.mismatch(id, &previous, &current);
        Type::Error
    }

    pub(super) fn check_map(&mut self, id: Id, entries: &[Entry]) {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(entry.key);
            let key = self.kind(entry.key);
            keys = Some(self.join(entry.key, keys, key));
            self.check(entry.value);
            let value = self.element_type(Element {
                value: entry.value,
                is_optional: entry.is_optional,
            });
            values = Some(self.join(entry.value, values, value));
        }
        let key = keys.unwrap_or_else(|| self.substitution.variable());
        let value = values.unwrap_or_else(|| self.substitution.variable());
        self.set(id, Type::map(key, value));
    }

    /// Checks the creation of a message. There are none but those of patches.
    pub(super) fn check_message(&mut self, id: Id, name: &str, fields: &[(Name, Element)]) {
        let Some(message) = self.scope.message(name) else {
            return self.no_message(id, name, fields);
        };
        for (name, element) in fields {
            self.check(element.value);
            let found = self.element_type(*element);
            let declared = message.field(name).map(|it| it.declared.cel_type());
            let wanted = match declared {
                None if message.is_dynamic() => Type::Dyn,
                None => {
                    self.report(element.value, format!("undefined field '{name}'"));
                    continue;
                }
                Some(wanted) => wanted,
            };
            if !self.is_assignable(&found, &wanted) {
                self.report(
                    element.value,
                    format!(
                        "expected type of field '{name}' is '{wanted}' but provided type is \
                         '{found}'"
                    ),
                );
            }
        }
        self.set(id, Type::Object(message));
    }

    fn no_message(&mut self, id: Id, name: &str, fields: &[(Name, Element)]) {
        match self.scope.find(name) {
            None => return self.undeclared(id, name),
            Some(Declared::Variable(name, _)) => self.report(id, format!("'{name}' is not a type")),
            Some(Declared::Type(kind)) => {
                self.report(id, format!("'{kind}' is not a message type"));
            }
        }
        for field in fields {
            self.check(field.1.value);
        }
        self.set(id, Type::Error);
    }
}
