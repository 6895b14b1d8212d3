//! Validation of a webhook's client configuration: a URL or a service.

use crate::shared::rules::{self, Errors};
use kubist_api::admissionregistration::v1::WebhookClientConfig;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The suffix of upstream's errors about malformed URLs.
pub(super) const URL_FORM: &str = "; desired format: https://host[/path]";

pub(super) fn check_client(errors: &mut Errors, client: &WebhookClientConfig, path: &FieldPath) {
    match (&client.url, &client.service) {
        (None, None) | (Some(_), Some(_)) => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(path, detail));
        }
        (Some(url), None) => check_url(errors, url, &path.child("url")),
        (None, Some(service)) => {
            // Upstream swaps the name and the namespace.
            let service = Service {
                name: &service.namespace,
                namespace: &service.name,
                path: service.path.as_deref(),
                port: service.port,
            };
            check_service(errors, &service, &path.child("service"));
        }
    }
}

/// The service of a webhook of any type.
pub(crate) struct Service<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) path: Option<&'a str>,
    pub(crate) port: Option<i32>,
}

/// Checks the service of a webhook.
pub(crate) fn check_service(errors: &mut Errors, service: &Service<'_>, path: &FieldPath) {
    rules::required(errors, service.name, &path.child("name"));
    rules::required(errors, service.namespace, &path.child("namespace"));
    rules::port_of_service(errors, service.port, &path.child("port"));
    let (whole, path) = (service.path.unwrap_or("/"), path.child("path"));
    let mut wrong = |detail: String| errors.push(FieldError::invalid(&path, whole, detail));
    let steps = match whole {
        "" | "/" => return,
        "//" => {
            wrong("segment[0] may not be empty".to_owned());
            return;
        }
        _ if whole.starts_with('/') => whole.get(1..).unwrap_or_default(),
        _ => {
            wrong("must start with a '/'".to_owned());
            // Upstream omits the first character, whatever it is.
            let mut rest = whole.chars();
            rest.next();
            rest.as_str()
        }
    };
    let steps = steps.strip_suffix('/').unwrap_or(steps);
    for (index, step) in steps.split('/').enumerate() {
        if step.is_empty() {
            wrong(format!("segment[{index}] may not be empty"));
            continue;
        }
        for problem in validate_name::dns1123_subdomain(step) {
            wrong(format!("segment[{index}]: {problem}"));
        }
    }
}

/// Returns the error of Go's URL parser, for the likely mistakes.
fn broken(url: &str) -> Option<String> {
    if url.starts_with(':') {
        return Some("missing protocol scheme".to_owned());
    }
    let until = url.find(['?', '#']).unwrap_or(url.len());
    let path = url.get(..until).unwrap_or_default();
    for (at, _) in path.match_indices('%') {
        let rest = path.get(at..).unwrap_or_default();
        let mut digits = rest.bytes().skip(1).take(2);
        let is_hex = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_hexdigit());
        if !(is_hex(digits.next()) && is_hex(digits.next())) {
            let shown: String = rest.chars().take(3).collect();
            return Some(format!("invalid URL escape {shown:?}"));
        }
    }
    None
}

/// Returns the scheme of a URL and the rest.
fn scheme(url: &str) -> (&str, &str) {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    match url.split_once(':') {
        Some((scheme, rest))
            if scheme.starts_with(|it: char| it.is_ascii_alphabetic())
                && scheme.chars().all(is_part) =>
        {
            (scheme, rest)
        }
        _ => ("", url),
    }
}

/// Checks the URL of a webhook.
pub(crate) fn check_url(errors: &mut Errors, url: &str, path: &FieldPath) {
    if let Some(why) = broken(url) {
        let detail = format!("url must be a valid URL: parse {url:?}: {why}{URL_FORM}");
        errors.push(FieldError::required(path, detail));
        return;
    }
    let (scheme, rest) = scheme(url);
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.push(FieldError::invalid(path, scheme, detail));
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = rest.strip_prefix("//").unwrap_or_default();
    let authority = authority.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.is_empty() {
        let detail = format!("host must be specified{URL_FORM}");
        errors.push(FieldError::invalid(path, host, detail));
    }
    for (part, what) in [
        (user, "user information is"),
        (fragment, "fragments are"),
        (query, "query parameters are"),
    ] {
        if !part.is_empty() {
            let detail = format!("{what} not permitted in the URL");
            errors.push(FieldError::invalid(path, part, detail));
        }
    }
}
