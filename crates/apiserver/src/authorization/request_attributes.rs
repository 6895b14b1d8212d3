//! `RequestAttributes`: what a request asks for, as upstream reads it from method, path and query.

use crate::request::Request;
use crate::request::route::{ResourcePath, Route};
use kubist_apimachinery::{FieldSelector, Selector};
use kubist_authorization::{Action, Attributes, ResourceAction, User};
use std::borrow::Cow;

/// What a request asks for.
#[derive(Debug)]
pub(crate) struct RequestAttributes<'a> {
    verb: Cow<'a, str>,
    /// What a list, a watch or a deletion of a collection selects.
    fields: Option<&'a FieldSelector>,
    labels: Option<&'a Selector>,
    request: &'a Request,
    route: &'a Route,
}

impl<'a> RequestAttributes<'a> {
    pub(crate) fn of(request: &'a Request, route: &'a Route) -> Self {
        let verb: Cow<'a, str> = match route {
            Route::Resource(path) => verb(request, path).into(),
            _ => request.method.to_ascii_lowercase().into(),
        };
        let selects = matches!(&*verb, "list" | "watch" | "deletecollection");
        // As upstream, what cannot be parsed selects nothing here, and is refused later.
        let is_said = |name| selects && request.query.first(name).is_some_and(|it| !it.is_empty());
        let (fields, labels) = (is_said("fieldSelector"), is_said("labelSelector"));
        Self {
            fields: fields
                .then(|| request.selectors().fields.as_ref().ok())
                .flatten(),
            labels: labels
                .then(|| request.selectors().labels.as_ref().ok())
                .flatten(),
            verb,
            request,
            route,
        }
    }

    /// Returns the attributes of the request by a user.
    pub(crate) fn by<'b>(&'b self, user: &'b User) -> Attributes<'b> {
        let action = match self.route {
            Route::Resource(path) => Action::Resource(self.resource(path)),
            _ => Action::Path(&self.request.path),
        };
        Attributes {
            user,
            verb: &self.verb,
            action,
        }
    }

    fn resource<'b>(&'b self, path: &'b ResourcePath) -> ResourceAction<'b> {
        let text = |it: &'b Option<String>| it.as_deref().unwrap_or_default();
        let name = text(&path.name);
        let is_namespace = path.group.is_empty() && path.plural == "namespaces";
        ResourceAction {
            group: &path.group,
            version: &path.version,
            resource: &path.plural,
            subresource: text(&path.subresource),
            // A namespace is in itself.
            namespace: if is_namespace {
                name
            } else {
                text(&path.namespace)
            },
            name: match self.fields {
                Some(fields) if name.is_empty() && self.verb != "deletecollection" => {
                    selected_name(fields)
                }
                _ => name,
            },
            fields: self.fields,
            labels: self.labels,
        }
    }
}

fn verb(request: &Request, path: &ResourcePath) -> &'static str {
    let one = path.name.as_ref().is_some_and(|it| !it.is_empty());
    if path.watch {
        return "watch";
    }
    if path.proxy {
        return "proxy";
    }
    match request.method.as_str() {
        "GET" | "HEAD" if one => "get",
        "GET" | "HEAD" if watches(request) => "watch",
        "GET" | "HEAD" => "list",
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" if one => "delete",
        "DELETE" => "deletecollection",
        _ => "",
    }
}

/// As upstream, any text but two means yes.
fn watches(request: &Request) -> bool {
    let said = request.query.first("watch");
    said.is_some_and(|it| !it.eq_ignore_ascii_case("false") && it != "0")
}

/// Returns the name that a list is limited to; empty for none.
fn selected_name(fields: &FieldSelector) -> &str {
    let name = fields.exact("metadata.name").unwrap_or_default();
    // A name that no path can have limits nothing.
    let is_segment = !matches!(name, "." | "..") && !name.contains(['/', '%']);
    if is_segment { name } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(method: &str, target: &str) -> String {
        let request = http::Request::builder().method(method).uri(target);
        let (parts, ()) = request.body(()).expect("it is a request").into_parts();
        let request = Request::new(parts);
        let route = Route::parse(&request.path);
        let user = User::default();
        let attributes = RequestAttributes::of(&request, &route);
        let attributes = attributes.by(&user);
        match attributes.action {
            Action::Path(path) => format!("{} {path}", attributes.verb),
            Action::Resource(it) => format!(
                "{} {}/{} {}/{} {}/{}",
                attributes.verb,
                it.group,
                it.version,
                it.resource,
                it.subresource,
                it.namespace,
                it.name
            ),
        }
    }

    #[test]
    fn a_method_is_a_verb_by_what_the_path_names() {
        for (method, target, expected) in [
            ("GET", "/api/v1/pods", "list /v1 pods/ /"),
            ("HEAD", "/api/v1/namespaces/a/pods/p", "get /v1 pods/ a/p"),
            ("GET", "/api/v1/pods?watch=true", "watch /v1 pods/ /"),
            ("GET", "/api/v1/pods?watch=false", "list /v1 pods/ /"),
            ("GET", "/api/v1/watch/pods", "watch /v1 pods/ /"),
            (
                "POST",
                "/api/v1/namespaces/a/pods/p/exec",
                "create /v1 pods/exec a/p",
            ),
            (
                "PUT",
                "/apis/apps/v1/namespaces/a/deployments/d/scale",
                "update apps/v1 deployments/scale a/d",
            ),
            ("PATCH", "/api/v1/nodes/n", "patch /v1 nodes/ /n"),
            (
                "DELETE",
                "/api/v1/namespaces/a/pods",
                "deletecollection /v1 pods/ a/",
            ),
            (
                "DELETE",
                "/api/v1/namespaces/a/pods/p",
                "delete /v1 pods/ a/p",
            ),
        ] {
            assert_eq!(says(method, target), expected, "{method} {target}");
        }
    }

    #[test]
    fn a_namespace_is_in_itself() {
        assert_eq!(
            says("GET", "/api/v1/namespaces/a"),
            "get /v1 namespaces/ a/a"
        );
        assert_eq!(says("GET", "/api/v1/namespaces"), "list /v1 namespaces/ /");
        let finalize = says("PUT", "/api/v1/namespaces/a/finalize");
        assert_eq!(finalize, "update /v1 namespaces/finalize a/a");
    }

    #[test]
    fn a_list_of_one_name_is_about_that_name() {
        let of = |selector: &str| says("GET", &format!("/api/v1/secrets?fieldSelector={selector}"));
        assert_eq!(of("metadata.name%3Da"), "list /v1 secrets/ /a");
        assert_eq!(of("metadata.name!%3Da"), "list /v1 secrets/ /");
        assert_eq!(of("type%3Dx"), "list /v1 secrets/ /");
        assert_eq!(of("metadata.name%3Da%2Fb"), "list /v1 secrets/ /");
    }

    #[test]
    fn other_paths_are_asked_for_by_their_method() {
        assert_eq!(says("GET", "/healthz/etcd"), "get /healthz/etcd");
        assert_eq!(says("GET", "/apis/apps/v1"), "get /apis/apps/v1");
        assert_eq!(says("POST", "/x"), "post /x");
    }
}
