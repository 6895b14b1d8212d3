//! Validation of literals after the type check: durations, timestamps, regular expressions, and
//! lists and maps of one type.

use super::checker::Checked;
use crate::cel_type::Type;
use crate::error::Issue;
use crate::source::Source;
use crate::syntax::ast::{Ast, Call, Element, Entry, Expr, Id};
use crate::value::{Value, convert};

/// Validates the literals of a checked tree.
pub(crate) fn validate(ast: &Ast, checked: &Checked, source: &Source<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut report = |id: Id, message: String| {
        let location = source.location(ast.offset(id));
        issues.push(Issue { location, message });
    };
    // Arguments of `format` may have different types.
    let mut open = vec![(ast.root, false)];
    while let Some((id, is_exempt)) = open.pop() {
        let mut exempts = is_exempt;
        match ast.get(id) {
            Expr::Call(call) => {
                exempts |= &*call.function == "format";
                validate_call(ast, checked, id, call, &mut report);
            }
            Expr::List(elements) if !is_exempt => validate_list(elements, checked, &mut report),
            Expr::Map(entries) if !is_exempt => validate_map(entries, checked, &mut report),
            _ => {}
        }
        ast.get(id)
            .children(&mut |child| open.push((child, exempts)));
    }
    issues
}

fn validate_call(
    ast: &Ast,
    checked: &Checked,
    id: Id,
    call: &Call,
    report: &mut dyn FnMut(Id, String),
) {
    let Some(argument) = call.arguments.first() else {
        return;
    };
    match ast.get(*argument) {
        Expr::Literal(value) if !is_valid(&call.function, value) => {
            report(*argument, format!("invalid {} argument", call.function));
        }
        Expr::List(elements) if &*call.function == "format" && call.arguments.len() == 1 => {
            let target = call.target.map(|target| ast.get(target));
            if let Some(Expr::Literal(Value::String(format))) = target {
                let elements: Vec<Id> = elements.iter().map(|it| it.value).collect();
                if let Err((place, message)) =
                    super::formats::validate(ast, checked, format.as_str(), &elements)
                {
                    report(place.unwrap_or(id), message);
                }
            }
        }
        _ => {}
    }
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
