//! Errors without a resource, in the words of upstream's generic responses.

use kubist_apimachinery::{GenericResponse, Status};

/// 404 for a path below a served group.
pub(crate) fn not_found() -> Status {
    Status::generic(&GenericResponse {
        code: 404,
        ..GenericResponse::default()
    })
}

/// 405.
pub(crate) fn method_not_allowed(method: &str) -> Status {
    Status::generic(&GenericResponse {
        code: 405,
        method,
        ..GenericResponse::default()
    })
}
