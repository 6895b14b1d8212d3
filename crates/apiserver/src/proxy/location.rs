//! Redirects of a backend, which lead through this server again.

use crate::proxy::go_path;
use http::Uri;

/// What redirects are rewritten by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rewriting<'a> {
    /// The host that the backend was asked at, and the one that the client asked at.
    pub(crate) hosts: [&'a str; 2],
    /// The path of the proxy on this server.
    pub(crate) prefix: &'a str,
}

impl Rewriting<'_> {
    /// Returns where the client is to go instead. Other hosts and relative paths stay as they are.
    pub(crate) fn rewritten(&self, location: &str) -> String {
        let (host, path, query) = parts(location);
        let is_other_host = !host.is_empty() && !self.hosts.contains(&host);
        if is_other_host || !path.starts_with('/') {
            return location.to_owned();
        }
        let prefix = self.prefix.trim_end_matches('/');
        let path = if path.starts_with(self.prefix) {
            path.to_owned()
        } else {
            format!("{prefix}{}", go_path::clean(path))
        };
        format!("{path}{query}")
    }
}

/// Splits a URL into host and port, path, and the rest with its question mark.
fn parts(location: &str) -> (&str, &str, &str) {
    let end = location.find(['?', '#']).unwrap_or(location.len());
    let (url, query) = location.split_at(end);
    let Some((_, rest)) = url.split_once("//").filter(|(scheme, _)| is_scheme(scheme)) else {
        return ("", url, query);
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (host, if path.is_empty() { "/" } else { path }, query)
}

fn is_scheme(text: &str) -> bool {
    text.is_empty() || (text.ends_with(':') && format!("{text}//x").parse::<Uri>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_on_the_same_host_lead_through_the_proxy() {
        let rewriting = Rewriting {
            hosts: ["10.1.2.3:80", "api.example.com"],
            prefix: "/api/v1/pods/p/proxy",
        };
        for (location, expected) in [
            ("/login?to=a", "/api/v1/pods/p/proxy/login?to=a"),
            ("http://10.1.2.3:80/a/", "/api/v1/pods/p/proxy/a/"),
            ("https://api.example.com/a", "/api/v1/pods/p/proxy/a"),
            ("/api/v1/pods/p/proxy/a", "/api/v1/pods/p/proxy/a"),
            ("https://other.example.com/a", "https://other.example.com/a"),
            ("a/b", "a/b"),
        ] {
            assert_eq!(rewriting.rewritten(location), expected, "{location}");
        }
    }
}
