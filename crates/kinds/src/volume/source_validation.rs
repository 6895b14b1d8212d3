//! Table-driven validation of volume source fields, and the choice among several sources.
//!
//! Pods and PersistentVolumes have sources with the same names and nearly the same fields, in
//! separate types. Tables use JSON field names and apply to both.

use crate::shared::rules::{self, Errors};
use kubist_apimachinery::wire::{Message, View};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};
use std::any::Any;

/// A kind of volume source.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    /// The field name.
    pub(crate) name: &'static str,
    /// The field name in the paths of errors inside the source.
    pub(crate) inside: &'static str,
    /// The field name in the path of the error for more than one source.
    pub(crate) surplus: &'static str,
    /// Whether it may be combined with other sources.
    pub(crate) joins: bool,
    /// The validation rules.
    pub(crate) rules: &'static [Rule],
}

/// A rule for a message. A dot in a field name leads into a nested message; if that is absent, so
/// is the field.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// A text or list that must not be empty.
    Required(&'static str),
    /// A text that must satisfy a check, unless it is empty.
    Text(&'static str, Check),
    /// A text that must satisfy a check even if it is empty.
    Any(&'static str, Check),
    /// A text that must be one of these, unless it is empty and not optional.
    OneOf(&'static str, &'static [&'static str]),
    /// A number in the inclusive range, with the error text.
    Range(&'static str, i64, i64, &'static str),
    /// Rules for each item of a list.
    Each(&'static str, &'static [Self]),
    /// Any other rule, at the path of the message.
    Special(fn(&mut Errors, &dyn Message, &FieldPath)),
}

/// Returns the problems of a text.
pub(crate) type Check = fn(&str) -> Vec<String>;

const MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const FILE_MODE_MAX: i64 = 0o777;

impl Source {
    /// A source with the same name in all paths.
    pub(crate) const fn new(name: &'static str, rules: &'static [Rule]) -> Self {
        Self {
            name,
            inside: name,
            surplus: name,
            joins: false,
            rules,
        }
    }
}

impl Rule {
    /// The rule for file permissions.
    pub(crate) const fn mode(field: &'static str) -> Self {
        Self::Range(field, 0, FILE_MODE_MAX, MODE)
    }

    fn apply(self, errors: &mut Errors, message: &dyn Message, path: &FieldPath) {
        match self {
            Self::Required(name) => {
                if let Some(view) = field(message, name)
                    && is_empty(view)
                {
                    errors.push(FieldError::required(&path.child(name), ""));
                }
            }
            Self::Text(name, check) => {
                if let Some(text) = text(message, name).filter(|it| !it.is_empty()) {
                    rules::text(errors, text, &path.child(name), check);
                }
            }
            Self::Any(name, check) => {
                if let Some(text) = text(message, name) {
                    rules::text(errors, text, &path.child(name), check);
                }
            }
            Self::OneOf(name, supported) => match field(message, name) {
                Some(View::Str(text)) if text.is_empty() => {}
                Some(View::Str(text) | View::OptStr(Some(text))) => {
                    rules::one_of(errors, text, supported, &path.child(name));
                }
                _ => {}
            },
            Self::Range(name, min, max, detail) => {
                let number = number(message, name);
                if let Some(number) = number.filter(|it| !(min..=max).contains(it)) {
                    errors.push(FieldError::invalid(&path.child(name), number, detail));
                }
            }
            Self::Each(name, rules) => {
                let Some(View::MessageList(list)) = field(message, name) else {
                    return;
                };
                let items = (0..list.len()).filter_map(|index| list.at(index));
                for (index, item) in items.enumerate() {
                    apply(errors, item, rules, &path.child(name).index(index));
                }
            }
            Self::Special(check) => check(errors, message, path),
        }
    }
}

/// Applies all rules in order.
pub(crate) fn apply(errors: &mut Errors, message: &dyn Message, rules: &[Rule], path: &FieldPath) {
    for rule in rules {
        rule.apply(errors, message, path);
    }
}

/// Checks the sources, of which there must be exactly one.
pub(crate) fn check(
    errors: &mut Errors,
    holder: &dyn Message,
    sources: &[Source],
    path: &FieldPath,
) {
    let mut found = false;
    for source in sources {
        let Some(View::OptMessage(Some(message))) = field(holder, source.name) else {
            continue;
        };
        if found && !source.joins {
            let detail = "may not specify more than 1 volume type";
            errors.push(FieldError::forbidden(&path.child(source.surplus), detail));
        } else {
            apply(errors, message, source.rules, &path.child(source.inside));
        }
        found = true;
    }
    if !found {
        errors.push(FieldError::required(path, "must specify a volume type"));
    }
}

/// Downcasts the message to its type.
pub(crate) fn typed<T: Message>(message: &dyn Message) -> Option<&T> {
    let any: &dyn Any = message;
    let boxed = any.downcast_ref::<Box<T>>().map(|it| &**it);
    boxed.or_else(|| any.downcast_ref())
}

/// Returns a text field, unless it or its parent is absent.
pub(crate) fn text<'a>(message: &'a dyn Message, name: &str) -> Option<&'a str> {
    match field(message, name)? {
        View::Str(text) | View::OptStr(Some(text)) => Some(text),
        _ => None,
    }
}

/// Reports whether a field is true.
pub(crate) fn is_set(message: &dyn Message, name: &str) -> bool {
    matches!(field(message, name), Some(View::Bool(true)))
}

/// Returns a field of the message or of a nested message.
pub(crate) fn field<'a>(message: &'a dyn Message, name: &str) -> Option<View<'a>> {
    let Some((first, rest)) = name.split_once('.') else {
        return message.view(message.schema().index_by_name(name, 0)?);
    };
    match field(message, first)? {
        View::OptMessage(Some(inner)) | View::Message(inner) => field(inner, rest),
        _ => None,
    }
}

/// Returns the fields that are not empty.
pub(crate) fn present(message: &dyn Message) -> impl Iterator<Item = &'static str> {
    let fields = message.schema().fields;
    let there = move |&index: &usize| message.view(index).is_some_and(is_there);
    let present = (0..fields.len()).filter(there);
    present.map(|index| fields[index].json)
}

fn is_there(view: View<'_>) -> bool {
    match view {
        View::Str(text) => !text.is_empty(),
        View::Bool(value) => value,
        View::I32(number) => number != 0,
        View::I64(number) => number != 0,
        View::OptStr(text) => text.is_some(),
        View::OptI64(number) => number.is_some(),
        View::OptMessage(message) => message.is_some(),
        View::StrList(list) => !list.is_empty(),
        View::MessageList(list) => !list.is_empty(),
        View::StrMap(map) => !map.is_empty(),
        _ => false,
    }
}

fn number(message: &dyn Message, name: &str) -> Option<i64> {
    match field(message, name)? {
        View::I32(number) | View::OptI32(Some(number)) => Some(number.into()),
        View::I64(number) | View::OptI64(Some(number)) => Some(number),
        _ => None,
    }
}

fn is_empty(view: View<'_>) -> bool {
    match view {
        View::Str(text) | View::OptStr(Some(text)) => text.is_empty(),
        View::StrList(list) => list.is_empty(),
        _ => false,
    }
}

/// Checks for an absolute path.
pub(crate) fn absolute_path(path: &str) -> Vec<String> {
    let problem = "must be an absolute path";
    problem_unless(path.starts_with('/'), problem)
}

/// Checks for a path without `..`.
pub(crate) fn no_parents(path: &str) -> Vec<String> {
    let up = path.split('/').any(|part| part == "..");
    problem_unless(!up, "must not contain '..'")
}

/// Checks for a relative path without `..`.
pub(crate) fn descending_path(path: &str) -> Vec<String> {
    let mut problems = problem_unless(!path.starts_with('/'), "must be a relative path");
    problems.extend(no_parents(path));
    problems
}

/// Checks for a relative path without `..` whose name does not begin with two dots.
pub(crate) fn local_path(path: &str) -> Vec<String> {
    let mut problems = descending_path(path);
    let reserved = path.starts_with("..") && !path.starts_with("../");
    problems.extend(problem_unless(!reserved, "must not start with '..'"));
    problems
}

/// Checks for a non-empty, valid namespace.
pub(crate) fn namespace(name: &str) -> Vec<String> {
    if name.is_empty() {
        let problem = "if the endpointnamespace is set, it must be a valid namespace name";
        return problem_unless(false, problem);
    }
    validate_name::dns1123_label(name)
}

fn problem_unless(fine: bool, problem: &str) -> Vec<String> {
    if fine {
        Vec::new()
    } else {
        vec![problem.to_owned()]
    }
}
