//! Validation of signer names and of trust bundle names.

use crate::shared::rules::{self, Errors};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The maximum size of a domain in bytes.
const DOMAIN_MAX: usize = 253;
/// The maximum size of a domain label in bytes.
const LABEL_MAX: usize = 63;
/// The maximum size of a name: a domain, a slash, and a path that fits a label, a dot and a domain.
const NAME_MAX: usize = DOMAIN_MAX + 1 + LABEL_MAX + 1 + DOMAIN_MAX;
/// The maximum lifetime of a certificate in seconds: 91 days.
const CERTIFICATE_SECONDS_MAX: i32 = 91 * 24 * 60 * 60;
/// The maximum lifetime of a certificate by Kubernetes' own signers: a day.
const OWN_CERTIFICATE_SECONDS_MAX: i32 = 24 * 60 * 60;

/// The error of a name with a colon, of a trust bundle without a signer.
pub(crate) const COLON_WITHOUT_SIGNER: &str =
    "ClusterTrustBundle without signer name must not have \":\" in its name";

/// Returns the error of a trust bundle whose name does not begin with its signer's.
pub(crate) fn other_prefix(signer: &str, prefix: &str) -> String {
    format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")
}

/// Checks a signer name: a domain, a slash and a path with dots.
pub(crate) fn check(errors: &mut Errors, name: &str, path: &FieldPath) {
    if !rules::required(errors, name, path) {
        return;
    }
    let parts = name.split_once('/');
    let Some((domain, rest)) = parts.filter(|(_, rest)| !rest.contains('/')) else {
        let detail =
            "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.push(FieldError::invalid(path, name, detail));
        return;
    };
    if domain.len() > DOMAIN_MAX {
        errors.push(FieldError::too_long(path, DOMAIN_MAX));
    }
    check_labels(errors, domain, validate_name::dns1123_label, path);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(FieldError::invalid(path, domain, detail));
    }
    check_labels(errors, rest, validate_name::dns1123_subdomain, path);
    if name.len() > NAME_MAX {
        errors.push(FieldError::too_long(path, NAME_MAX));
    }
}

/// Checks the labels between dots. Only the first invalid one is reported.
fn check_labels(
    errors: &mut Errors,
    labels: &str,
    check: fn(&str) -> Vec<String>,
    path: &FieldPath,
) {
    let checked = labels.split('.').map(|label| (label, check(label)));
    let wrong = |(_, problems): &(&str, Vec<String>)| !problems.is_empty();
    let Some((label, problems)) = checked.into_iter().find(wrong) else {
        return;
    };
    for problem in problems {
        let detail = format!("validating label {label:?}: {problem}");
        errors.push(FieldError::invalid(path, labels, detail));
    }
}

/// Returns the problems of a bundle name. The bundle of a signer must have the signer's name as its
/// prefix, with colons for slashes.
pub(crate) fn bundle_name(name: &str) -> Vec<String> {
    let problems = match name.rsplit_once(':') {
        None => validate_name::dns1123_subdomain(name),
        Some(("", _)) => vec![COLON_WITHOUT_SIGNER.to_owned()],
        Some((signer, _)) if signer.contains('/') => {
            let (signer, prefix) = (signer.replace(':', "/"), signer.replace('/', ":"));
            vec![other_prefix(&signer, &format!("{prefix}:"))]
        }
        Some((_, own)) => validate_name::dns1123_subdomain(own),
    };
    let describe = |problem| format!("not a valid clustertrustbundlename: {problem}");
    problems.into_iter().map(describe).collect()
}

/// Returns the maximum lifetime of a signer's certificates in seconds.
pub(crate) fn certificate_seconds_max(signer: &str) -> i32 {
    let domain = signer.split_once('/').map_or(signer, |(domain, _)| domain);
    if domain == "kubernetes.io" || domain.ends_with(".kubernetes.io") {
        OWN_CERTIFICATE_SECONDS_MAX
    } else {
        CERTIFICATE_SECONDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str) -> Vec<String> {
        let mut errors = Vec::new();
        check(&mut errors, name, &FieldPath::new("signerName"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_signer_is_a_domain_and_a_path() {
        assert!(problems("example.com/some.path").is_empty());
        assert_eq!(problems(""), ["signerName: Required value"]);
        assert_eq!(
            problems("example/a"),
            [
                "signerName: Invalid value: \"example\": should be a domain with at least two \
              segments separated by dots"
            ]
        );
        for wrong in ["example.com", "example.com/a/b"] {
            let form = "must be a fully qualified domain and path of the form \
                        'example.com/signer-name'";
            let problem = format!("signerName: Invalid value: {wrong:?}: {form}");
            assert_eq!(problems(wrong), [problem]);
        }
        // Only the first invalid label is reported.
        assert_eq!(problems("_.-.com/a").len(), 1);
    }

    #[test]
    fn a_bundle_of_a_signer_is_named_after_it() {
        assert!(bundle_name("bundle").is_empty());
        assert!(bundle_name("example.com:signer:bundle").is_empty());
        assert_eq!(
            bundle_name("a/b:c"),
            [
                "not a valid clustertrustbundlename: ClusterTrustBundle for signerName a/b must be \
              named with prefix a:b:"
            ]
        );
        assert_eq!(
            bundle_name(":c"),
            [
                "not a valid clustertrustbundlename: ClusterTrustBundle without signer name must \
              not have \":\" in its name"
            ]
        );
    }
}
