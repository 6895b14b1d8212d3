//! Validation of literals after the type check: durations, timestamps, regular expressions, and
//! lists and maps of one type.

use super::checker::Checked;
use crate::error::Issue;
use crate::source::Source;
use crate::syntax::ast::{Ast, Element, Entry, Expr, Id};
use crate::types::Type;
use crate::value::{Value, convert};

/// Validates the literals of a checked tree.
pub(crate) fn validate(ast: &Ast, checked: &Checked, source: &Source<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut report = |id: Id, message: String| {
        issues.push(Issue {
            location: source.location(ast.offset(id)),
            message,
        });
    };
    let reachable = reachable(ast);
    for (_, expr) in ast.iter().filter(|(id, _)| reachable[*id as usize]) {
        match expr {
            Expr::Call(call) => {
                if let Some(argument) = call.arguments.first()
                    && let Expr::Literal(value) = ast.get(*argument)
                    && !is_valid(&call.function, value)
                {
                    report(*argument, format!("invalid {} argument", call.function));
                }
            }
            Expr::List(elements) => validate_list(elements, checked, &mut report),
            Expr::Map(entries) => validate_map(entries, checked, &mut report),
            _ => {}
        }
    }
    issues
}

/// Returns which nodes are part of the tree: macros leave others behind.
fn reachable(ast: &Ast) -> Vec<bool> {
    let mut found = vec![false; ast.len()];
    let mut open = vec![ast.root];
    while let Some(id) = open.pop() {
        if let Some(it) = found.get_mut(id as usize) {
            *it = true;
        }
        ast.get(id).children(&mut |child| open.push(child));
    }
    found
}

fn is_valid(function: &str, argument: &Value<'static>) -> bool {
    match function {
        "duration" => convert::to_duration(argument).is_ok(),
        "timestamp" => convert::to_timestamp(argument).is_ok(),
        "matches" => argument
            .as_str()
            .is_none_or(|it| crate::regex::compile(it).is_ok()),
        _ => true,
    }
}

fn kind_of(checked: &Checked, element: Element) -> Type {
    let kind = checked
        .types
        .get(element.value as usize)
        .cloned()
        .unwrap_or(Type::Error);
    match kind.optional_value() {
        Some(inner) if element.is_optional => inner.clone(),
        _ => kind,
    }
}

fn validate_list(elements: &[Element], checked: &Checked, report: &mut dyn FnMut(Id, String)) {
    let mut kinds = elements.iter().map(|it| (it.value, kind_of(checked, *it)));
    let Some((_, first)) = kinds.next() else {
        return;
    };
    if let Some((id, kind)) = kinds.find(|(_, kind)| !same(&first, kind)) {
        report(id, format!("expected type '{first}' but found '{kind}'"));
    }
}

fn validate_map(entries: &[Entry], checked: &Checked, report: &mut dyn FnMut(Id, String)) {
    let key = |entry: &Entry| {
        kind_of(
            checked,
            Element {
                value: entry.key,
                is_optional: false,
            },
        )
    };
    let value = |entry: &Entry| {
        kind_of(
            checked,
            Element {
                value: entry.value,
                is_optional: entry.is_optional,
            },
        )
    };
    let Some((first, rest)) = entries.split_first() else {
        return;
    };
    let (first_key, first_value) = (key(first), value(first));
    for entry in rest {
        for (id, first, kind) in [
            (entry.key, &first_key, key(entry)),
            (entry.value, &first_value, value(entry)),
        ] {
            if !same(first, &kind) {
                report(id, format!("expected type '{first}' but found '{kind}'"));
            }
        }
    }
}

fn same(a: &Type, b: &Type) -> bool {
    a.same_kind(b) && a.is_same(b, false)
}
