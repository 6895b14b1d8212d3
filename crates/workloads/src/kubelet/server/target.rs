//! `Target`: what a request to the kubelet is for, by its path and query.

use percent_encoding::percent_decode_str;

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Healthz,
    /// The log of a container; the query has the options.
    Log(Place, Vec<(String, String)>),
    Exec(Place, Streams, Vec<String>),
    Attach(Place, Streams),
    /// The query may name the ports.
    PortForward(Place, Vec<u16>),
}

/// A Pod, or a container of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) namespace: String,
    pub(super) pod: String,
    /// Empty for port-forward.
    pub(super) container: String,
}

/// The streams that the client wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Streams {
    pub(super) stdin: bool,
    pub(super) stdout: bool,
    pub(super) stderr: bool,
    pub(super) tty: bool,
}

impl Target {
    /// Reads a path and a query; none if there is nothing at the path.
    pub(super) fn parse(path: &str, query: &str) -> Option<Self> {
        let parts = path.strip_prefix('/')?.split('/');
        let parts: Vec<String> = parts.map(decoded).collect::<Option<_>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let pairs: Vec<_> = query.split('&').filter(|it| !it.is_empty()).collect();
        let pairs = pairs.into_iter().map(|it| {
            let (key, value) = it.split_once('=').unwrap_or((it, ""));
            let plain = |it: &str| decoded(&it.replace('+', " "));
            Some((plain(key)?, plain(value)?))
        });
        let pairs: Vec<(String, String)> = pairs.collect::<Option<_>>()?;
        let place = |namespace: &str, pod: &str, container: &str| Place {
            namespace: namespace.to_owned(),
            pod: pod.to_owned(),
            container: container.to_owned(),
        };
        match parts[..] {
            ["healthz"] => Some(Self::Healthz),
            ["containerLogs", namespace, pod, container] => {
                Some(Self::Log(place(namespace, pod, container), pairs))
            }
            ["exec", namespace, pod, container] => {
                let words = pairs.iter().filter(|(key, _)| key == "command");
                let words = words.map(|(_, value)| value.clone()).collect();
                let place = place(namespace, pod, container);
                Some(Self::Exec(place, Streams::of(&pairs), words))
            }
            ["attach", namespace, pod, container] => {
                let place = place(namespace, pod, container);
                Some(Self::Attach(place, Streams::of(&pairs)))
            }
            ["portForward", namespace, pod] => {
                let ports = pairs.iter().filter(|(key, _)| key == "port");
                let ports = ports.flat_map(|(_, value)| value.split(','));
                let ports = ports.map(|it| it.parse().ok()).collect::<Option<_>>()?;
                Some(Self::PortForward(place(namespace, pod, ""), ports))
            }
            _ => None,
        }
    }
}

impl Streams {
    fn of(pairs: &[(String, String)]) -> Self {
        let has = |name: &str| pairs.iter().any(|(key, value)| key == name && value == "1");
        let tty = has("tty");
        Self {
            stdin: has("input"),
            stdout: has("output"),
            // A terminal has one stream for both.
            stderr: has("error") && !tty,
            tty,
        }
    }
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_queries_are_those_of_kubelets() {
        let place = |container: &str| Place {
            namespace: "shop".into(),
            pod: "web-1".into(),
            container: container.into(),
        };
        let query = "command=sh&command=-c&command=a+b%26&input=1&output=1&error=1&tty=1";
        let streams = Streams {
            stdin: true,
            stdout: true,
            stderr: false,
            tty: true,
        };
        let words = ["sh", "-c", "a b&"].map(str::to_owned).into();
        let found = Target::parse("/exec/shop/web-1/main", query);
        assert_eq!(found, Some(Target::Exec(place("main"), streams, words)));
        let found = Target::parse("/containerLogs/shop/web-1/main", "follow=true");
        let pairs = vec![("follow".to_owned(), "true".to_owned())];
        assert_eq!(found, Some(Target::Log(place("main"), pairs)));
        let found = Target::parse("/portForward/shop/web-1", "port=80%2C81");
        assert_eq!(found, Some(Target::PortForward(place(""), vec![80, 81])));
        assert_eq!(Target::parse("/portForward/shop/web-1", "port=x"), None);
        assert_eq!(Target::parse("/healthz", ""), Some(Target::Healthz));
        for path in [
            "/",
            "/exec/shop/web-1",
            "/run/shop/web-1/main",
            "/exec/a/b/%ff",
            "x",
        ] {
            assert_eq!(Target::parse(path, ""), None, "{path}");
        }
    }
}
