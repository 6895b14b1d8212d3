//! Ingresses.

use crate::{Admission, BoxFuture, Generation, KindStrategy, StatusKeeps};
use kubist_api::networking::v1::{HTTPIngressPath, Ingress, IngressBackend, IngressClass};
use kubist_apimachinery::{BadValue, FieldError, FieldPath, Status, Time, validate_name};
use std::any::Any;

use super::rules::{self, Errors};

#[derive(Debug)]
pub(super) struct Ingresses;

/// Marks the class of ingresses that name none.
const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";
/// The older way to name a class.
const CLASS: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

impl KindStrategy for Ingresses {
    type Kind = Ingress;

    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut Ingress,
        old: Option<&'a Ingress>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let named = new.spec.ingress_class_name.is_some()
                || new.metadata.annotations.contains_key(CLASS);
            if cx.subresource.is_empty() && old.is_none() && !named {
                set_default_class(cx, new).await?;
            }
            Ok(())
        })
    }
    fn validate(&self, new: &Ingress) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check(&mut errors, new, &FieldPath::new("spec"));
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Nothing
    }
    fn generation(&self) -> Generation {
        Generation::Spec
    }
}

async fn set_default_class(cx: &Admission<'_>, ingress: &mut Ingress) -> Result<(), Status> {
    let all = cx
        .objects
        .list("networking.k8s.io", "ingressclasses", "")
        .await?;
    let classes = all
        .iter()
        .filter_map(|it| (&**it as &dyn Any).downcast_ref::<IngressClass>());
    let defaults = classes.filter(|it| {
        it.metadata
            .annotations
            .get(DEFAULT_CLASS)
            .is_some_and(|it| it == "true")
    });
    let newest = defaults.min_by_key(|class| {
        let created = class.metadata.creation_timestamp.map_or(0, Time::unix);
        (std::cmp::Reverse(created), class.metadata.name.clone())
    });
    if let Some(class) = newest {
        ingress.spec.ingress_class_name = Some(class.metadata.name.clone());
    }
    Ok(())
}

fn check(errors: &mut Errors, ingress: &Ingress, path: &FieldPath) {
    let spec = &ingress.spec;
    if spec.rules.is_empty() && spec.default_backend.is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid(path, BadValue::null(), detail));
    }
    if let Some(backend) = &spec.default_backend {
        check_backend(errors, backend, &path.child("defaultBackend"));
    }
    for (index, rule) in spec.rules.iter().enumerate() {
        let path = path.child("rules").index(index);
        if !rule.host.is_empty() {
            check_host(errors, &rule.host, &path.child("host"));
        }
        let Some(http) = &rule.http else {
            continue;
        };
        let path = path.child("http").child("paths");
        if http.paths.is_empty() {
            errors.push(FieldError::required(&path, ""));
        }
        for (index, route) in http.paths.iter().enumerate() {
            check_path(errors, route, &path.index(index));
        }
    }
    for (index, tls) in spec.tls.iter().enumerate() {
        let path = path.child("tls").index(index);
        for (index, host) in tls.hosts.iter().enumerate() {
            check_host(errors, host, &path.child("hosts").index(index));
        }
        if !tls.secret_name.is_empty() {
            let path = path.child("secretName");
            rules::text(
                errors,
                &tls.secret_name,
                &path,
                validate_name::dns1123_subdomain,
            );
        }
    }
    if let Some(class) = &spec.ingress_class_name {
        let path = path.child("ingressClassName");
        rules::text(errors, class, &path, validate_name::dns1123_subdomain);
    }
}

fn check_host(errors: &mut Errors, host: &str, path: &FieldPath) {
    if super::address_rules::parse_ip(host).is_some() {
        let detail = "must be a DNS name, not an IP address";
        errors.push(FieldError::invalid(path, host, detail));
    } else if host.contains('*') {
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
            rules::required(errors, &resource.kind, &path.child("kind"));
            rules::required(errors, &resource.name, &path.child("name"));
        }
        (Some(service), None) => {
            let at = path.child("service").child("name");
            if rules::required(errors, &service.name, &at) {
                rules::text(errors, &service.name, &at, validate_name::dns1035_label);
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
