//! `Asked`: the verb and the resource of a request.
//!
//! Paths and queries are read by the rules of API servers, oddities included. It knows no resource:
//! any path of the right shape is about one.

use http::{Method, Request};
use kubist_apimachinery::Str;
use percent_encoding::percent_decode_str;

/// What a request asks for.
pub(crate) struct Asked {
    pub(super) of: (Str, Str),
    pub(super) verb: &'static str,
    /// The request creates what is missing.
    pub(super) may_create: bool,
    /// The request is a watch in place of a list.
    pub(super) streams_list: bool,
}

impl Asked {
    /// Returns `None` for a request that is not about a resource.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let found = resource_of(request.uri().path())?;
        let method = request.method();
        let has_name = found.has_name;
        let query = request.uri().query();
        let verb = match *method {
            _ if found.verb.is_some() => found.verb?,
            Method::GET | Method::HEAD if has_name => "get",
            Method::GET | Method::HEAD if has_flag(query, "watch") => "watch",
            Method::GET | Method::HEAD => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if has_name => "delete",
            Method::DELETE => "deletecollection",
            _ => return None,
        };
        // Server-Side Apply is one of the patches, in several formats.
        let may_create = matches!(*method, Method::PUT | Method::PATCH);
        Some(Self {
            of: found.of,
            verb,
            may_create,
            streams_list: verb == "watch" && has_flag(query, "sendInitialEvents"),
        })
    }
}

/// Reports whether a parameter is true, as servers read it: the first value counts, and everything
/// but `false` and `0` is true.
fn has_flag(query: Option<&str>, name: &str) -> bool {
    let pairs = query.unwrap_or_default().split('&');
    let mut values = pairs.filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (key == name).then_some(value)
    });
    let value = values.next();
    value.is_some_and(|it| it != "0" && !it.eq_ignore_ascii_case("false"))
}

/// What a path is about.
pub(super) struct Found {
    /// Group and resource.
    pub(super) of: (Str, Str),
    has_name: bool,
    /// The verb, if it is in the path: `/api/v1/watch/pods`.
    verb: Option<&'static str>,
}

/// Reads a path as servers do, which decode it first.
pub(super) fn resource_of(path: &str) -> Option<Found> {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, rest) = match &segments[..] {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    let (verb, rest) = match rest {
        ["watch", rest @ ..] => (Some("watch"), rest),
        ["proxy", rest @ ..] => (Some("proxy"), rest),
        _ => (None, rest),
    };
    let rest = match rest {
        // Subresources of the namespace itself, not resources in it.
        ["namespaces", _, "status" | "finalize", ..] => rest,
        ["namespaces", _, inner @ ..] if !inner.is_empty() => inner,
        _ => rest,
    };
    let resource = match rest {
        [] => return None,
        [plural, _, subresource, ..] if verb != Some("proxy") && !subresource.is_empty() => {
            format!("{plural}/{subresource}").into()
        }
        [plural, ..] => Str::from(*plural),
    };
    Some(Found {
        of: (group.into(), resource),
        has_name: rest.get(1).is_some_and(|it| !it.is_empty()),
        verb,
    })
}
