//! The variables that expressions of admission can use, with their types.

use crate::cel_type::Type;
use crate::declared::{Declared, Field, Kind, ListKind, Object};
use crate::environment::{Environment, Version};
use crate::library::authorizer::{authorizer_type, resource_check_type};
use std::sync::{Arc, LazyLock};

/// The new object.
pub const OBJECT: &str = "object";
/// The stored object.
pub const OLD_OBJECT: &str = "oldObject";
/// The parameters of a binding.
pub const PARAMS: &str = "params";
/// The request, without its objects.
pub const REQUEST: &str = "request";
/// The namespace of the object.
pub const NAMESPACE: &str = "namespaceObject";
/// What the user may do.
pub const AUTHORIZER: &str = "authorizer";
/// The same, about the resource of the request.
pub const REQUEST_RESOURCE: &str = "authorizer.requestResource";

/// The variables that not every expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "expressions have these choices")]
pub struct Uses {
    /// [`PARAMS`].
    pub params: bool,
    /// [`AUTHORIZER`] and [`REQUEST_RESOURCE`].
    pub authorizer: bool,
}

/// Those of expressions that are stored, and of new ones. Built once: they have all functions.
static STORED: LazyLock<Environment> = LazyLock::new(|| of_version(Version::STORED));
static NEW: LazyLock<Environment> = LazyLock::new(|| of_version(Version::minor(35)));
/// What has neither objects nor parameters, whose types differ.
static WITHOUT_OBJECTS: LazyLock<Environment> = LazyLock::new(|| without_objects(Version::STORED));

fn of_version(version: Version) -> Environment {
    without_objects(version).extend([(OBJECT, Type::Dyn), (OLD_OBJECT, Type::Dyn)])
}

fn without_objects(version: Version) -> Environment {
    Environment::new(version).extend([
        (NAMESPACE, namespace_type().cel_type()),
        (REQUEST, request_type().cel_type()),
    ])
}

/// Returns the environment that checks stored expressions against the type of the objects that
/// they are about, and that of parameters, if they have some.
///
/// As upstream's, it has no [`REQUEST_RESOURCE`].
pub fn typed(object: &Type, params: Option<&Type>) -> Environment {
    let params = params.map(|it| (PARAMS, it.clone()));
    let own = [
        (OBJECT, object.clone()),
        (OLD_OBJECT, object.clone()),
        (AUTHORIZER, authorizer_type()),
    ];
    WITHOUT_OBJECTS.extend(own.into_iter().chain(params))
}

/// Returns the environment of stored expressions that use these variables.
pub fn stored(uses: Uses) -> Environment {
    with(&STORED, uses)
}

/// Returns the environment of new expressions: they may use what the version before this server's
/// has too.
pub fn new(uses: Uses) -> Environment {
    with(&NEW, uses)
}

fn with(base: &Environment, uses: Uses) -> Environment {
    let mut environment = base.clone();
    if uses.params {
        environment = environment.extend([(PARAMS, Type::Dyn)]);
    }
    if uses.authorizer {
        environment = environment.extend([
            (AUTHORIZER, authorizer_type()),
            (REQUEST_RESOURCE, resource_check_type()),
        ]);
    }
    environment
}

fn of(kind: Kind) -> Arc<Declared> {
    Arc::new(Declared::new(kind, u64::MAX, 0))
}

fn text() -> Arc<Declared> {
    of(Kind::String)
}

fn list(items: Arc<Declared>) -> Arc<Declared> {
    of(Kind::List(items, ListKind::Atomic))
}

fn map(values: Arc<Declared>) -> Arc<Declared> {
    of(Kind::Map(values))
}

fn object<const N: usize>(name: &str, fields: [(&str, Arc<Declared>); N]) -> Arc<Declared> {
    let fields = fields.map(|(name, declared)| Field::new(name, declared));
    of(Kind::Object(Arc::new(Object::new(name, fields.to_vec()))))
}

fn request_type() -> Arc<Declared> {
    let kind = object(
        "kubernetes.GroupVersionKind",
        [("group", text()), ("version", text()), ("kind", text())],
    );
    let resource = object(
        "kubernetes.GroupVersionResource",
        [("group", text()), ("version", text()), ("resource", text())],
    );
    let user = object(
        "kubernetes.UserInfo",
        [
            ("username", text()),
            ("uid", text()),
            ("groups", list(text())),
            ("extra", map(list(text()))),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", Arc::clone(&kind)),
            ("resource", Arc::clone(&resource)),
            ("subResource", text()),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", text()),
            ("name", text()),
            ("namespace", text()),
            ("operation", text()),
            ("userInfo", user),
            ("dryRun", of(Kind::Bool)),
            ("options", of(Kind::Dyn)),
        ],
    )
}

fn namespace_type() -> Arc<Declared> {
    let condition = object(
        "kubernetes.NamespaceCondition",
        [
            ("status", text()),
            ("type", text()),
            ("lastTransitionTime", of(Kind::DateTime)),
            ("message", text()),
            ("reason", text()),
        ],
    );
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            ("name", text()),
            ("generateName", text()),
            ("namespace", text()),
            ("labels", map(text())),
            ("annotations", map(text())),
            ("UID", text()),
            ("creationTimestamp", of(Kind::DateTime)),
            ("deletionGracePeriodSeconds", of(Kind::Int)),
            ("deletionTimestamp", of(Kind::DateTime)),
            ("generation", of(Kind::Int)),
            ("resourceVersion", text()),
            ("finalizers", list(text())),
        ],
    );
    let spec = object("kubernetes.NamespaceSpec", [("finalizers", list(text()))]);
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", list(condition)), ("phase", text())],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}
