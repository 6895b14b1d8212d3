//! Validation of a Pod's DNS configuration.

use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::{PodDNSConfig, PodSpec};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

/// The limits of libc's resolver.
const NAMESERVERS_MAX: usize = 3;
const SEARCHES_MAX: usize = 32;
/// The maximum total length of all search domains, separated by spaces.
const SEARCHES_LENGTH_MAX: usize = 2048;

pub(crate) const POLICIES: [&str; 4] =
    ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/// Checks the DNS configuration, which is required with the policy `None`.
pub(crate) fn check(errors: &mut Errors, spec: &PodSpec, path: &FieldPath) {
    let config = spec.dns_config.as_deref();
    if spec.dns_policy == "None" {
        let missing = match config {
            None => Some((path.clone(), "must provide `dnsConfig`")),
            Some(it) if it.nameservers.is_empty() => {
                let path = path.child("nameservers");
                Some((path, "must provide at least one DNS nameserver"))
            }
            Some(_) => None,
        };
        if let Some((path, what)) = missing {
            let detail = format!("{what} when `dnsPolicy` is None");
            errors.push(FieldError::required(&path, detail));
            return;
        }
    }
    if let Some(config) = config {
        check_config(errors, config, path);
    }
}

fn check_config(errors: &mut Errors, config: &PodDNSConfig, path: &FieldPath) {
    let servers = path.child("nameservers");
    if config.nameservers.len() > NAMESERVERS_MAX {
        let detail = format!("must not have more than {NAMESERVERS_MAX} nameservers");
        let shown = BadValue::json(&config.nameservers);
        errors.push(FieldError::invalid(&servers, shown, detail));
    }
    for (index, server) in config.nameservers.iter().enumerate() {
        crate::shared::addresses::ip(errors, server, &servers.index(index));
    }
    let searches = path.child("searches");
    let shown = || BadValue::json(&config.searches);
    if config.searches.len() > SEARCHES_MAX {
        let detail = format!("must not have more than {SEARCHES_MAX} search paths");
        errors.push(FieldError::invalid(&searches, shown(), detail));
    }
    let spaces = config.searches.len().saturating_sub(1);
    let letters: usize = config.searches.iter().map(|it| it.len()).sum();
    if letters + spaces > SEARCHES_LENGTH_MAX {
        let detail = format!(
            "must not have more than {SEARCHES_LENGTH_MAX} characters (including spaces) in the \
             search list"
        );
        errors.push(FieldError::invalid(&searches, shown(), detail));
    }
    for (index, search) in config.searches.iter().enumerate() {
        if search != "." {
            let search = search.strip_suffix('.').unwrap_or(search);
            let path = searches.index(index);
            rules::text(errors, search, &path, search_problems);
        }
    }
    for (index, option) in config.options.iter().enumerate() {
        if option.name.is_empty() {
            let path = path.child("options").index(index);
            errors.push(FieldError::required(&path, "must not be empty"));
        }
    }
}

/// Returns the problems of a search domain. Its labels may start with and contain `_`.
fn search_problems(domain: &str) -> Vec<String> {
    const FORM: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let part = |part: &str| {
        let bytes = part.strip_prefix('_').unwrap_or(part).as_bytes();
        bytes.first().copied().is_some_and(end)
            && bytes.last().copied().is_some_and(end)
            && bytes.iter().all(|&it| end(it) || b"-_".contains(&it))
    };
    let mut problems = Vec::new();
    if domain.len() > validate_name::SUBDOMAIN_LENGTH_MAX {
        let max = validate_name::SUBDOMAIN_LENGTH_MAX;
        problems.push(format!("must be no more than {max} characters"));
    }
    if !domain.split('.').all(part) {
        problems.push(format!(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '_', '-' or '.', and must start and end with an alphanumeric character (e.g. \
             'example.com', regex used for validation is '{FORM}(\\.{FORM})*')"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_that_are_searched_may_have_underscores() {
        for good in ["a.b", "_tcp.example.com", "a_b.c", "0"] {
            assert_eq!(search_problems(good), [""; 0], "{good}");
        }
        for bad in ["", "a_", "__a", "A", "a..b", "-a"] {
            assert_eq!(search_problems(bad).len(), 1, "{bad}");
        }
    }
}
