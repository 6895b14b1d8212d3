//! References to container images, as far as defaults depend on them.

/// Returns upstream's default pull policy for an image: `Always` if its tag is `latest` or if it
/// has neither tag nor digest, `IfNotPresent` otherwise, including invalid references.
///
/// The grammar is that of the distribution project: `[host[:port]/]path[:tag][@digest]`.
pub(crate) fn pull_policy(image: &str) -> &'static str {
    match tag(image) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// The maximum length of a name with its host, in characters.
const LENGTH_MAX: usize = 255;

/// Returns the tag, or `latest` if there is neither tag nor digest. Returns `None` if the text is
/// not a reference or has only a digest.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return None;
    }
    // A colon before the last slash belongs to the host's port.
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let (path, tag) = match name[last..].split_once(':') {
        Some((file, tag)) => (&name[..last + file.len()], Some(tag)),
        None => (name, None),
    };
    if !is_path(path) || tag.is_some_and(|tag| !is_tag(tag)) {
        return None;
    }
    match (tag, digest) {
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

fn is_digest(digest: &str) -> bool {
    digest.split_once(':').is_some_and(|(algorithm, hex)| {
        !algorithm.is_empty() && hex.len() >= 32 && hex.bytes().all(|it| it.is_ascii_hexdigit())
    })
}

fn is_tag(tag: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=128).contains(&tag.len())
        && tag.bytes().all(|it| word(it) || b".-".contains(&it))
        && tag.bytes().next().is_some_and(word)
}

fn is_path(path: &str) -> bool {
    let mut parts = path.split('/').peekable();
    let Some(first) = parts.next() else {
        return false;
    };
    let host = parts.peek().is_some() && is_host(first);
    // The fully qualified name.
    let prefix = match (host, parts.peek()) {
        (true, _) => "",
        (false, Some(_)) => "docker.io/",
        (false, None) => "docker.io/library/",
    };
    if prefix.len() + path.len() > LENGTH_MAX {
        return false;
    }
    (host || is_part(first)) && parts.all(is_part)
}

/// Reports whether the first component is a host: it contains a dot, a port or a capital letter.
/// Otherwise it is part of the path.
fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    let is_address = name.starts_with('[') && name.ends_with(']');
    (is_address || name.split('.').all(is_domain_part))
        && !port.is_empty()
        && port.bytes().all(|it| it.is_ascii_digit())
}

fn is_domain_part(part: &str) -> bool {
    let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let bytes = part.as_bytes();
    end(bytes.first()) && end(bytes.last()) && part.bytes().all(allowed)
}

fn is_part(part: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = part.as_bytes();
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    let inner = |byte: u8| alphanumeric(byte) || b"._-".contains(&byte);
    alphanumeric(first)
        && alphanumeric(last)
        && part.bytes().all(inner)
        && !["..", "___", "._", "_.", ".-", "-."]
            .iter()
            .any(|it| part.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_follows_the_tag() {
        for always in [
            "nginx",
            "nginx:latest",
            "host:5000/nginx",
            "a/b/c",
            "Host.io/x:latest",
        ] {
            assert_eq!(pull_policy(always), "Always", "{always}");
        }
        let digest = format!("nginx@sha256:{}", "a".repeat(64));
        for seldom in [
            "nginx:1",
            "host:5000/nginx:v1",
            "",
            " x",
            "Nginx",
            "a//b",
            "../up",
            &digest,
        ] {
            assert_eq!(pull_policy(seldom), "IfNotPresent", "{seldom}");
        }
    }
}
