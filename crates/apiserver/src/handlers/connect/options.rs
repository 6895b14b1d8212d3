//! The options of a connection (exec, attach, port-forward, proxies), as admission sees them.

use crate::request::Request;
use kubist_api::core::v1::{
    NodeProxyOptions, PodAttachOptions, PodExecOptions, PodPortForwardOptions, PodProxyOptions,
    ServiceProxyOptions,
};
use kubist_apimachinery::Str;
use kubist_apimachinery::wire::Message;

/// Returns the options in a request, in the kind of its subresource; `None` for a kind that is no
/// connection's. `name` is the name in the path.
pub(super) fn of(kind: &str, request: &Request, name: &str) -> Option<Box<dyn Message>> {
    let query = &request.query;
    let text = |key: &str| Str::from(query.first(key).unwrap_or_default());
    let path = || proxied_path(&request.path, name);
    Some(match kind {
        "PodExecOptions" => Box::new(PodExecOptions {
            stdin: query.flag("stdin"),
            stdout: query.flag("stdout"),
            stderr: query.flag("stderr"),
            tty: query.flag("tty"),
            container: text("container"),
            command: query.all("command").map(Str::from).collect(),
        }),
        "PodAttachOptions" => Box::new(PodAttachOptions {
            stdin: query.flag("stdin"),
            stdout: query.flag("stdout"),
            stderr: query.flag("stderr"),
            tty: query.flag("tty"),
            container: text("container"),
        }),
        "PodPortForwardOptions" => Box::new(PodPortForwardOptions {
            ports: query
                .all("ports")
                .filter_map(|it| it.parse().ok())
                .collect(),
        }),
        "PodProxyOptions" => Box::new(PodProxyOptions { path: path() }),
        "NodeProxyOptions" => Box::new(NodeProxyOptions { path: path() }),
        "ServiceProxyOptions" => Box::new(ServiceProxyOptions { path: path() }),
        _ => return None,
    })
}

/// Returns the path on the other side of a proxy; empty if the request ends at the proxy.
pub(super) fn proxied_path(path: &str, name: &str) -> Str {
    let proxy = format!("/{name}/proxy/");
    match path.split_once(&proxy) {
        Some((_, rest)) => format!("/{rest}").into(),
        None => Str::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_on_the_other_side_begins_after_the_proxy() {
        let base = "/api/v1/namespaces/shop/services/http:web:80/proxy";
        for (rest, expected) in [("", ""), ("/", "/"), ("/a/b", "/a/b"), ("/a/", "/a/")] {
            let path = format!("{base}{rest}");
            assert_eq!(proxied_path(&path, "http:web:80"), expected, "{path}");
        }
    }
}
