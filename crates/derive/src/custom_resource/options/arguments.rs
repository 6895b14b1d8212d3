//! Parses the options that have arguments of their own.

use super::{Column, Scale, Validation, check_path, comma, value};
use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitInt, LitStr, Token, parenthesized};

/// A named argument of an option.
enum Argument {
    Text(LitStr),
    Number(LitInt),
    Flag,
}

/// Parses `(name = "text", number = 1, flag)`.
fn arguments(input: ParseStream<'_>) -> Result<Vec<(Ident, Argument)>, Error> {
    let inner;
    parenthesized!(inner in input);
    let mut all = Vec::new();
    while !inner.is_empty() {
        let name = inner.call(Ident::parse_any)?;
        let argument = if inner.peek(Token![=]) {
            inner.parse::<Token![=]>()?;
            if inner.peek(LitInt) {
                Argument::Number(inner.parse()?)
            } else {
                Argument::Text(inner.parse()?)
            }
        } else {
            Argument::Flag
        };
        all.push((name, argument));
        comma(&inner)?;
    }
    Ok(all)
}

pub(super) fn scale(input: ParseStream<'_>, span: Span) -> Result<Scale, Error> {
    let (mut spec, mut status, mut label_selector) = (None, None, None);
    for (name, argument) in arguments(input)? {
        let place = match name.to_string().as_str() {
            "spec_replicas_path" => &mut spec,
            "status_replicas_path" => &mut status,
            "label_selector_path" => &mut label_selector,
            _ => {
                let text = "expected `spec_replicas_path`, `status_replicas_path` or \
                    `label_selector_path`";
                return Err(Error::new(name.span(), text));
            }
        };
        match argument {
            Argument::Text(text) => {
                check_path(&text)?;
                *place = Some(text);
            }
            _ => return Err(Error::new(name.span(), "expected a JSON path in quotes")),
        }
    }
    if let (Some(spec_replicas), Some(status_replicas)) = (spec, status) {
        return Ok(Scale {
            spec_replicas,
            status_replicas,
            label_selector,
        });
    }
    let text = "scale needs both paths: `scale(spec_replicas_path = \".spec.replicas\", \
                status_replicas_path = \".status.replicas\")`";
    Err(Error::new(span, text))
}

pub(super) fn column(input: ParseStream<'_>, span: Span) -> Result<Column, Error> {
    let example = "`printcolumn(name = \"Colour\", type = \"string\", json_path = \
        \".spec.colour\")`";
    if !input.peek(syn::token::Paren) {
        let text = format!("expected the parts of the column: {example}");
        return Err(Error::new(span, text));
    }
    let empty = || LitStr::new("", span);
    let (mut name, mut kind, mut json_path) = (None, None, None);
    let (mut format, mut description, mut priority) = (empty(), empty(), LitInt::new("0", span));
    for (word, argument) in arguments(input)? {
        match (word.to_string().as_str(), argument) {
            ("name", Argument::Text(text)) => name = Some(text),
            ("type" | "type_", Argument::Text(text)) => kind = Some(text),
            ("json_path" | "jsonPath", Argument::Text(text)) => json_path = Some(text),
            ("format", Argument::Text(text)) => format = text,
            ("description", Argument::Text(text)) => description = text,
            ("priority", Argument::Number(number)) => priority = number,
            _ => {
                let text = "expected `name`, `type`, `json_path`, `format` or `description` with a \
                    text, or `priority` with a number";
                return Err(Error::new(word.span(), text));
            }
        }
    }
    let (Some(name), Some(kind), Some(json_path)) = (name, kind, json_path) else {
        let text = format!("a column needs name, type and json_path: {example}");
        return Err(Error::new(span, text));
    };
    check_path(&json_path)?;
    if !["integer", "number", "string", "boolean", "date"].contains(&&*kind.value()) {
        let text = "the type of a column is integer, number, string, boolean or date";
        return Err(Error::new(kind.span(), text));
    }
    Ok(Column {
        name,
        kind,
        format,
        description,
        priority,
        json_path,
    })
}

pub(super) fn validation(input: ParseStream<'_>, span: Span) -> Result<Validation, Error> {
    let (mut rule, mut texts, mut optional_old_self) = (None, Vec::new(), false);
    if input.peek(Token![=]) {
        rule = Some(value(input)?);
    } else {
        for (word, argument) in arguments(input)? {
            match (word.to_string().as_str(), argument) {
                ("rule", Argument::Text(text)) => rule = Some(text),
                (
                    "message" | "message_expression" | "reason" | "field_path",
                    Argument::Text(text),
                ) => texts.push((word, text)),
                ("optional_old_self", Argument::Flag) => optional_old_self = true,
                _ => {
                    let text = "expected `rule`, `message`, `message_expression`, `reason` or \
                        `field_path` with a text, or `optional_old_self`";
                    return Err(Error::new(word.span(), text));
                }
            }
        }
    }
    let rule = rule.ok_or_else(|| {
        let text = "missing rule: `validation = \"self.spec.size > 0\"`, or `validation(rule = \
            \"...\", message = \"...\")`";
        Error::new(span, text)
    })?;
    Ok(Validation {
        rule,
        texts,
        optional_old_self,
    })
}
