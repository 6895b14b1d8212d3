//! URLs, and the functions on them.

use super::{Library, costs};
use crate::cel_type::Type;
use crate::cost::{CallEstimate, Operands};
use crate::error::EvalError;
use crate::function::{Function, Implementation};
use crate::value::{Key, Map, Opaque, OpaqueValue, Value};
use std::collections::BTreeMap;

mod authority;
mod encoding;
pub(super) mod parse;

use parse::{Reference, Url};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "kubernetes.URL";

/// The largest number of query parameters; a query with more is read as an empty one.
const MAX_PARAMETERS: usize = 10_000;

impl OpaqueValue for Url {
    fn runtime_type(&self) -> Type {
        Type::object(NAME)
    }

    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError> {
        let other: &dyn std::any::Any = other;
        let other: Option<&Self> = other.downcast_ref();
        other
            .map(|it| it.formatted() == self.formatted())
            .ok_or_else(EvalError::no_such_overload)
    }
}

fn text<'s>(arguments: &'s [Value<'_>]) -> Result<&'s str, EvalError> {
    let text = arguments.first().and_then(Value::as_str);
    text.ok_or_else(EvalError::no_such_overload)
}

/// Parses twice: what a request can have decides about errors, and fragments are only parsed then.
fn url<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let text = text(arguments)?;
    let failed = |why: String| {
        EvalError::failed(format!(
            "URL parse error during conversion from string: {why}"
        ))
    };
    parse::parse(text, Reference::Request).map_err(failed)?;
    let url = parse::parse(text, Reference::Any).map_err(failed)?;
    Ok(Value::Opaque(Opaque::new(url)))
}

fn is_url<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let parsed = parse::parse(text(arguments)?, Reference::Request);
    Ok(Value::Bool(parsed.is_ok()))
}

fn read<'a>(arguments: &[Value<'a>], read: fn(&Url) -> String) -> Outcome<'a> {
    let url = match arguments {
        [Value::Opaque(it)] => it.downcast(),
        _ => None,
    };
    url.map(|it| Value::string(read(it)))
        .ok_or_else(EvalError::no_such_overload)
}

fn query<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let url: Option<&Url> = match arguments {
        [Value::Opaque(it)] => it.downcast(),
        _ => None,
    };
    let query = &url.ok_or_else(EvalError::no_such_overload)?.query;
    let mut values: BTreeMap<String, Vec<Value<'a>>> = BTreeMap::new();
    if query.bytes().filter(|it| *it == b'&').count() < MAX_PARAMETERS {
        for (key, value) in query.split('&').filter_map(parameter) {
            values.entry(key).or_default().push(Value::string(value));
        }
    }
    let entries = values
        .into_iter()
        .filter_map(|(key, values)| Some((Key::new(&Value::string(key))?, Value::list(values))));
    Ok(Value::Map(Map::from(entries.collect::<BTreeMap<_, _>>())))
}

/// Decodes a parameter; none if it is malformed.
fn parameter(text: &str) -> Option<(String, String)> {
    if text.is_empty() || text.contains(';') {
        return None;
    }
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let decoded = |text| encoding::decoded(text, encoding::Part::Query).ok();
    Some((
        encoding::lossy(&decoded(key)?),
        encoding::lossy(&decoded(value)?),
    ))
}

fn estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    Some(CallEstimate {
        cost: costs::traversal(size, 1.0),
        result_size: Some(size),
    })
}

/// Declares a member that costs one.
fn member(name: &'static str, id: &'static str, implementation: Implementation) -> Function {
    Function::new(name)
        .member(id, "object kubernetes.URL -> string", implementation)
        .costs(costs::nominal, costs::nominal_estimate)
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("url")
            .overload("string_to_url", "string -> object kubernetes.URL", url)
            .costs(costs::parsed, estimate),
        member("getScheme", "url_get_scheme", |it| {
            read(it, |it| it.scheme.clone())
        }),
        member("getHost", "url_get_host", |it| {
            read(it, |it| encoding::lossy(&it.host))
        }),
        member("getHostname", "url_get_hostname", |it| {
            read(it, |it| authority::split(&encoding::lossy(&it.host)).0)
        }),
        member("getPort", "url_get_port", |it| {
            read(it, |it| authority::split(&encoding::lossy(&it.host)).1)
        }),
        member("getEscapedPath", "url_get_escaped_path", |it| {
            read(it, Url::escaped_path)
        }),
        Function::new("getQuery")
            .member(
                "url_get_query",
                "object kubernetes.URL -> map(string, list(string))",
                query,
            )
            .costs(costs::nominal, costs::nominal_estimate),
        Function::new("isURL").overload("is_url_string", "string -> bool", is_url),
    ];
    Library {
        functions,
        types: Vec::new(),
    }
}
