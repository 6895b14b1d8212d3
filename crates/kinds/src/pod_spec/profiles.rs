//! Validation of seccomp and AppArmor profiles, in fields and in the annotations that preceded the
//! fields.

use crate::pod_spec::any_container;
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use crate::volume::source_validation::descending_path;
use kubist_api::core::v1::{AppArmorProfile, PodSpec, SeccompProfile};
use kubist_apimachinery::{FieldError, FieldPath, ObjectMeta, Str};

const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];
/// The maximum length of an AppArmor profile name, in bytes: that of a path without its terminator.
const PROFILE_LENGTH_MAX: usize = 4095;

pub(crate) const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
pub(crate) const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(crate) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
/// The annotation prefix of node-local profiles.
pub(crate) const LOCALHOST: &str = "localhost/";

/// Checks a seccomp profile.
pub(crate) fn check_seccomp(
    errors: &mut Errors,
    profile: Option<&SeccompProfile>,
    path: &FieldPath,
) {
    let Some(profile) = profile else {
        return;
    };
    let at = path.child("type");
    if profile.type_.is_empty() {
        let detail = "type is required when seccompProfile is set";
        errors.push(FieldError::required(&at, detail));
    } else {
        rules::one_of(errors, &profile.type_, &TYPES, &at);
    }
    let at = path.child("localhostProfile");
    match (&profile.localhost_profile, profile.type_ == "Localhost") {
        (Some(name), true) => rules::text(errors, name, &at, descending_path),
        (None, true) => {
            let detail = "must be set when seccomp type is Localhost";
            errors.push(FieldError::required(&at, detail));
        }
        (Some(_), false) => {
            let detail = "can only be set when seccomp type is Localhost";
            errors.push(FieldError::invalid(&at, go_struct::shown(profile), detail));
        }
        (None, false) => {}
    }
}

/// Checks an AppArmor profile.
pub(crate) fn check_app_armor(
    errors: &mut Errors,
    profile: Option<&AppArmorProfile>,
    path: &FieldPath,
) {
    let Some(profile) = profile else {
        return;
    };
    let (at, name) = (path.child("localhostProfile"), &profile.localhost_profile);
    match profile.type_.as_str() {
        "" => {
            let detail = "type is required when appArmorProfile is set";
            errors.push(FieldError::required(&path.child("type"), detail));
        }
        "Localhost" => check_local_profile(errors, name.as_deref(), &at),
        "RuntimeDefault" | "Unconfined" => {
            if let Some(name) = name {
                let detail = "can only be set when AppArmor type is Localhost";
                errors.push(FieldError::invalid(&at, name, detail));
            }
        }
        other => rules::one_of(errors, other, &TYPES, &path.child("type")),
    }
}

fn check_local_profile(errors: &mut Errors, name: Option<&str>, path: &FieldPath) {
    let name = name.unwrap_or_default();
    if name.trim() != name {
        let detail = "must not be padded with whitespace";
        errors.push(FieldError::invalid(path, name, detail));
    } else if name.is_empty() {
        let detail = "must be set when AppArmor type is Localhost";
        errors.push(FieldError::required(path, detail));
    }
    if name.len() > PROFILE_LENGTH_MAX {
        errors.push(FieldError::too_long(path, PROFILE_LENGTH_MAX));
    }
}

/// Checks that annotations and fields agree where both are set.
pub(crate) fn annotations_agree(
    errors: &mut Errors,
    spec: &PodSpec,
    metadata: &ObjectMeta,
    path: &FieldPath,
) {
    let annotations = &metadata.annotations;
    let context = spec.security_context.as_deref();
    let of_pod = context.and_then(|it| it.seccomp_profile.as_deref());
    if let (Some(profile), Some(annotation)) = (of_pod, annotations.get(SECCOMP_OF_POD)) {
        let path = path.child("securityContext").child("seccompProfile");
        errors.extend(AnnotatedProfile::seccomp(annotation).differs(
            &profile.type_,
            &profile.localhost_profile,
            &path,
        ));
    }
    for (container, path) in any_container::all(spec, path) {
        let own = container.security_context.as_deref();
        let profile = own.and_then(|it| it.seccomp_profile.as_deref());
        let annotation = annotations.get(&*format!("{SECCOMP_OF_CONTAINER}{}", container.name));
        if let (Some(profile), Some(annotation)) = (profile, annotation) {
            let path = path.child("securityContext").child("seccompProfile");
            let annotation = AnnotatedProfile::seccomp(annotation);
            errors.extend(annotation.differs(&profile.type_, &profile.localhost_profile, &path));
        }
    }
    if spec.os.as_ref().is_some_and(|it| it.name == "windows") {
        return;
    }
    let of_pod = context.and_then(|it| it.app_armor_profile.as_deref());
    for (container, path) in any_container::all(spec, path) {
        let own = container.security_context.as_deref();
        let profile = own
            .and_then(|it| it.app_armor_profile.as_deref())
            .or(of_pod);
        let annotation = annotations.get(&*format!("{APP_ARMOR}{}", container.name));
        if let (Some(profile), Some(annotation)) = (profile, annotation) {
            let path = path.child("securityContext").child("appArmorProfile");
            let annotation = AnnotatedProfile::app_armor(annotation);
            errors.extend(annotation.differs(&profile.type_, &profile.localhost_profile, &path));
        }
    }
}

/// A profile in an annotation.
struct AnnotatedProfile<'a> {
    /// The kind of profile: `seccomp` or `apparmor`.
    what: &'static str,
    /// The profile type, if the annotation is valid.
    type_: Option<&'static str>,
    /// The name of a node-local profile.
    name: Option<&'a str>,
}

impl<'a> AnnotatedProfile<'a> {
    fn seccomp(annotation: &'a str) -> Self {
        let type_ = match annotation {
            "unconfined" => Some("Unconfined"),
            "runtime/default" | "docker/default" => Some("RuntimeDefault"),
            _ => None,
        };
        Self::new("seccomp", type_, annotation)
    }

    fn app_armor(annotation: &'a str) -> Self {
        let type_ = match annotation {
            "unconfined" => Some("Unconfined"),
            "runtime/default" => Some("RuntimeDefault"),
            _ => None,
        };
        Self::new("apparmor", type_, annotation)
    }

    fn new(what: &'static str, type_: Option<&'static str>, annotation: &'a str) -> Self {
        let name = annotation.strip_prefix(LOCALHOST);
        Self {
            what,
            type_: type_.or_else(|| name.map(|_| "Localhost")),
            name,
        }
    }

    /// Returns an error if the field differs. Fields of unknown types are rejected elsewhere.
    fn differs(&self, type_: &str, name: &Option<Str>, path: &FieldPath) -> Option<FieldError> {
        if !TYPES.contains(&type_) {
            return None;
        }
        let what = self.what;
        let (field, detail) = if self.type_ != Some(type_) {
            (
                "type",
                format!("{what} type in annotation and field must match"),
            )
        } else if type_ == "Localhost" && self.name != name.as_deref() {
            let detail = format!("{what} profile in annotation and field must match");
            ("localhostProfile", detail)
        } else {
            return None;
        };
        Some(FieldError::forbidden(&path.child(field), detail))
    }
}

/// Returns the profile that an AppArmor annotation represents, if it is valid.
pub(crate) fn app_armor_of(annotation: &str) -> Option<AppArmorProfile> {
    let annotation = AnnotatedProfile::app_armor(annotation);
    let profile = AppArmorProfile {
        type_: annotation.type_?.into(),
        localhost_profile: annotation.name.map(Str::from),
    };
    let mut errors = Vec::new();
    check_app_armor(&mut errors, Some(&profile), &FieldPath::new(""));
    errors.is_empty().then_some(profile)
}
