//! `Route`: what a path refers to: group, version, namespace, resource, name, subresource.
//!
//! It only parses; whether a resource exists is decided elsewhere.

use percent_encoding::percent_decode_str;

/// What a path refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/<group>`.
    Group(String),
    /// `/api/<version>` or `/apis/<group>/<version>`.
    GroupVersion {
        /// The group; empty for core.
        group: String,
        /// The version.
        version: String,
    },
    /// Any path below a version.
    Resource(ResourcePath),
    /// A path that begins like one of a resource but names none.
    Malformed,
    /// Any other path.
    Other,
}

/// The path of a resource or an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    /// The group; empty for core.
    pub(crate) group: String,
    /// The version.
    pub(crate) version: String,
    /// Whether it has the deprecated prefix `watch/`.
    pub(crate) watch: bool,
    /// Whether it has the prefix `proxy/` of old, which is judged like the subresource's path and
    /// served nowhere.
    pub(crate) proxy: bool,
    /// The namespace, if the path has one; empty if it is empty in the path, which means all.
    pub(crate) namespace: Option<String>,
    /// The plural name.
    pub(crate) plural: String,
    /// The name of the object, if the path has one; empty if it is empty in the path.
    pub(crate) name: Option<String>,
    /// The subresource, if the path has one.
    pub(crate) subresource: Option<String>,
    /// Whether further segments follow the subresource.
    pub(crate) more: bool,
}

impl Route {
    /// Maximum number of segments; the rest is ignored.
    const SEGMENTS_MAX: usize = 16;

    pub(crate) fn parse(path: &str) -> Self {
        // As upstream, `%2F` is a slash.
        let Ok(path) = percent_decode_str(path).decode_utf8() else {
            return Self::Other;
        };
        let path = path.strip_prefix('/').unwrap_or(&path);
        if path.starts_with("apis//") {
            return Self::Other;
        }
        let path = path.trim_end_matches('/');
        let words: Vec<&str> = path.splitn(Self::SEGMENTS_MAX, '/').collect();
        match words[..] {
            ["api", _, "watch" | "proxy"] | ["apis", _, _, "watch" | "proxy"] => Self::Malformed,
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group(group.to_owned()),
            ["api", version] => Self::GroupVersion {
                group: String::new(),
                version: version.to_owned(),
            },
            ["apis", group, version] => Self::GroupVersion {
                group: group.to_owned(),
                version: version.to_owned(),
            },
            ["api", version, ref rest @ ..] => Self::Resource(below("", version, rest)),
            ["apis", group, version, ref rest @ ..] => Self::Resource(below(group, version, rest)),
            _ => Self::Other,
        }
    }
}

/// Subresources of namespaces, whose paths look like those of namespaced resources.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

fn below(group: &str, version: &str, rest: &[&str]) -> ResourcePath {
    let (watch, proxy, rest) = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => (true, false, rest),
        ["proxy", rest @ ..] if !rest.is_empty() => (false, true, rest),
        _ => (false, false, rest),
    };
    let (namespace, rest) = match rest {
        ["namespaces", _, subresource]
            if group.is_empty() && NAMESPACE_SUBRESOURCES.contains(subresource) =>
        {
            (None, rest)
        }
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        _ => (None, rest),
    };
    let part = |index: usize| rest.get(index).map(|part| (*part).to_owned());
    ResourcePath {
        group: group.to_owned(),
        version: version.to_owned(),
        watch,
        proxy,
        namespace: namespace.map(str::to_owned),
        plural: part(0).unwrap_or_default(),
        name: part(1),
        subresource: part(2),
        more: rest.len() > 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(path: &str) -> String {
        let Route::Resource(it) = Route::parse(path) else {
            return "none".to_owned();
        };
        let none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        format!(
            "{}/{} {} {} {} {}{}{}",
            it.group,
            it.version,
            none(it.namespace),
            it.plural,
            none(it.name),
            none(it.subresource),
            match (it.watch, it.proxy) {
                (true, _) => " watch",
                (_, true) => " proxy",
                _ => "",
            },
            if it.more { " more" } else { "" }
        )
    }

    #[test]
    fn paths_are_taken_apart() {
        for (path, expected) in [
            ("/api/v1/pods", "/v1 - pods - -"),
            ("/api/v1/pods/", "/v1 - pods - -"),
            ("/api/v1/nodes/n1/status", "/v1 - nodes n1 status"),
            ("/api/v1/namespaces", "/v1 - namespaces - -"),
            ("/api/v1/namespaces/a", "/v1 - namespaces a -"),
            (
                "/api/v1/namespaces/a/finalize",
                "/v1 - namespaces a finalize",
            ),
            ("/api/v1/namespaces/a/status", "/v1 - namespaces a status"),
            ("/api/v1/namespaces/a/pods", "/v1 a pods - -"),
            ("/api/v1/namespaces/a/pods/p/log", "/v1 a pods p log"),
            (
                "/api/v1/namespaces/a/pods/p/proxy/x/y",
                "/v1 a pods p proxy more",
            ),
            ("/api/v1/watch/namespaces/a/pods", "/v1 a pods - - watch"),
            ("/api/v1/proxy/namespaces/a/pods/b", "/v1 a pods b - proxy"),
            (
                "/apis/apps/v1/namespaces/a/deployments/d",
                "apps/v1 a deployments d -",
            ),
            ("/api/v1/namespaces/a/pods/a%20b", "/v1 a pods a b -"),
            ("/api/v1/namespaces/a/pods/a%2Fb", "/v1 a pods a b"),
            ("/api/v1/namespaces/a/pods//", "/v1 a pods - -"),
            ("/api/v1/namespaces//pods", "/v1  pods - -"),
            ("/api/v1/namespaces/a//pods", "/v1 a  pods -"),
            ("/api/v1/nodes//status", "/v1 - nodes  status"),
            ("/api//v1", "/ - v1 - -"),
        ] {
            assert_eq!(resource(path), expected, "{path}");
        }
    }

    #[test]
    fn discovery_and_other_paths_are_distinguished() {
        assert_eq!(Route::parse("/api"), Route::CoreVersions);
        assert_eq!(Route::parse("/apis/"), Route::Groups);
        assert_eq!(Route::parse("/apis/apps"), Route::Group("apps".to_owned()));
        let version = Route::GroupVersion {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
        };
        assert_eq!(Route::parse("/apis/apps/v1/"), version);
        for other in [
            "/",
            "",
            "/nope",
            "//api/v1",
            "/apis//",
            "/apis//v1",
            "/version",
            "/api/v1/%ff",
        ] {
            assert_eq!(Route::parse(other), Route::Other, "{other:?}");
        }
        for unclear in ["/api/v1/watch", "/api/v1/watch/", "/apis/apps/v1/watch"] {
            assert_eq!(Route::parse(unclear), Route::Malformed, "{unclear:?}");
        }
    }
}
