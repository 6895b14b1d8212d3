//! Validation of Ingresses.

use crate::shared;
use crate::shared::rules::{self, Errors};
use kubist_api::networking::v1::{
    HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressSpec, IngressTLS,
};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, validate_name};

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

/// Checks an Ingress. Values of the old object that break newer rules may stay.
pub(crate) fn check(ingress: &Ingress, old: Option<&Ingress>) -> Errors {
    let (path, spec) = (FieldPath::new("spec"), &ingress.spec);
    let mut errors = Errors::new();
    if spec.rules.is_empty() && spec.default_backend.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(&path, BadValue::null(), detail));
    }
    if let Some(backend) = &spec.default_backend {
        check_backend(&mut errors, backend, &path.child("defaultBackend"));
    }
    let any_wildcard = old.is_some_and(|old| has_bad_wildcard(&old.spec));
    for (index, rule) in spec.rules.iter().enumerate() {
        let path = path.child("rules").index(index);
        if !rule.host.is_empty() {
            let path = path.child("host");
            if shared::addresses::parse_ip(&rule.host).is_some() {
                let detail = "must be a DNS name, not an IP address";
                errors.push(FieldError::invalid(&path, &rule.host, detail));
            }
            check_host(&mut errors, &rule.host, &path);
        }
        if !any_wildcard || !rule.host.contains('*') {
            check_routes(&mut errors, rule, &path);
        }
    }
    let any_secret = old.is_some_and(|old| has_bad_secret(&old.spec));
    for (index, tls) in spec.tls.iter().enumerate() {
        let path = path.child("tls").index(index);
        for (index, host) in tls.hosts.iter().enumerate() {
            check_host(&mut errors, host, &path.child("hosts").index(index));
        }
        if !any_secret {
            check_secret(&mut errors, tls, &path);
        }
    }
    if let Some(class) = &spec.ingress_class_name {
        let (path, rule) = (
            path.child("ingressClassName"),
            validate_name::dns1123_subdomain,
        );
        rules::text(&mut errors, class, &path, rule);
    }
    errors
}

fn has_bad_wildcard(spec: &IngressSpec) -> bool {
    let wildcards = spec.rules.iter().filter(|rule| rule.host.contains('*'));
    let mut errors = Errors::new();
    wildcards.for_each(|rule| check_routes(&mut errors, rule, &FieldPath::ROOT));
    !errors.is_empty()
}

fn has_bad_secret(spec: &IngressSpec) -> bool {
    let mut errors = Errors::new();
    let mut check = |tls| check_secret(&mut errors, tls, &FieldPath::ROOT);
    spec.tls.iter().for_each(&mut check);
    !errors.is_empty()
}

fn check_secret(errors: &mut Errors, tls: &IngressTLS, path: &FieldPath) {
    if !tls.secret_name.is_empty() {
        let (path, rule) = (path.child("secretName"), validate_name::dns1123_subdomain);
        rules::text(errors, &tls.secret_name, &path, rule);
    }
}

fn check_routes(errors: &mut Errors, rule: &IngressRule, path: &FieldPath) {
    let Some(http) = &rule.http else {
        return;
    };
    let path = path.child("http").child("paths");
    if http.paths.is_empty() {
        errors.push(FieldError::required(&path, ""));
    }
    for (index, route) in http.paths.iter().enumerate() {
        check_path(errors, route, &path.index(index));
    }
}

fn check_host(errors: &mut Errors, host: &str, path: &FieldPath) {
    if host.contains('*') {
        rules::text(
            errors,
            host,
            path,
            validate_name::wildcard_dns1123_subdomain,
        );
    } else {
        rules::text(errors, host, path, validate_name::dns1123_subdomain);
    }
}

fn check_path(errors: &mut Errors, route: &HTTPIngressPath, path: &FieldPath) {
    let Some(kind) = &route.path_type else {
        let detail = "pathType must be specified";
        errors.push(FieldError::required(&path.child("pathType"), detail));
        return;
    };
    let at = path.child("path");
    match kind.as_str() {
        "Exact" | "Prefix" => check_exact_path(errors, &route.path, &at),
        "ImplementationSpecific" => {
            if !route.path.is_empty() && !route.path.starts_with('/') {
                errors.push(FieldError::invalid(
                    &at,
                    &route.path,
                    "must be an absolute path",
                ));
            }
        }
        other => {
            errors.push(FieldError::not_supported(
                &path.child("pathType"),
                other,
                &PATH_TYPES,
            ));
        }
    }
    check_backend(errors, &route.backend, &path.child("backend"));
}

fn check_exact_path(errors: &mut Errors, value: &str, path: &FieldPath) {
    if !value.starts_with('/') {
        errors.push(FieldError::invalid(path, value, "must be an absolute path"));
    }
    if value.is_empty() {
        return;
    }
    for sequence in ["//", "/./", "/../", "%2f", "%2F"] {
        if value.contains(sequence) {
            let detail = format!("must not contain '{sequence}'");
            errors.push(FieldError::invalid(path, value, detail));
        }
    }
    for suffix in ["/..", "/."] {
        if value.ends_with(suffix) {
            let detail = format!("cannot end with '{suffix}'");
            errors.push(FieldError::invalid(path, value, detail));
        }
    }
}

fn check_backend(errors: &mut Errors, backend: &IngressBackend, path: &FieldPath) {
    match (&backend.service, &backend.resource) {
        (Some(_), Some(_)) => {
            let detail = "cannot set both resource and service backends";
            errors.push(FieldError::invalid(path, "", detail));
        }
        (None, None) => {
            let detail = "resource or service backend is required";
            errors.push(FieldError::invalid(path, "", detail));
        }
        (None, Some(resource)) => {
            let path = path.child("resource");
            if let Some(group) = &resource.api_group {
                let (path, rule) = (path.child("apiGroup"), validate_name::dns1123_subdomain);
                rules::text(errors, group, &path, rule);
            }
            for (name, value) in [("kind", &resource.kind), ("name", &resource.name)] {
                let path = path.child(name);
                if rules::required(errors, value, &path) {
                    rules::text(errors, value, &path, rules::path_segment);
                }
            }
        }
        (Some(service), None) => {
            let at = path.child("service").child("name");
            if rules::required(errors, &service.name, &at) {
                rules::text(errors, &service.name, &at, validate_name::dns1123_label);
            }
            let (name, number) = (&service.port.name, service.port.number);
            let at = path.child("service").child("port");
            match (name.is_empty(), number) {
                (false, 0) => {
                    rules::text(errors, name, &at.child("name"), validate_name::port_name);
                }
                (false, _) => {
                    let detail = "cannot set both port name & port number";
                    errors.push(FieldError::invalid(path, "", detail));
                }
                (true, 0) => {
                    let detail = "port name or number is required";
                    errors.push(FieldError::required(path, detail));
                }
                (true, _) => rules::port_number(errors, number, &at.child("number")),
            }
        }
    }
}
