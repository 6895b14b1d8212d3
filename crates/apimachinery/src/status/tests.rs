//! Every shape of failure against what a real server sends, and the predicates.

use super::*;
use crate::wire::{DecodeContext, Wire};
use crate::{FieldError, FieldPath, GroupKind, GroupResource};

fn json(status: &Status) -> String {
    String::from_utf8(status.to_json()).expect("JSON is UTF-8")
}

/// The JSON of a failure with these parts after `"status":"Failure"`.
fn failure(rest: &str) -> String {
    format!(r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",{rest}}}"#)
}

#[test]
fn failures_are_those_of_upstream() {
    let pods = GroupResource::new("", "pods");
    let deployments = GroupResource::new("apps", "deployments");
    let table = [
        (
            Status::not_found(&deployments, "x"),
            r#""message":"deployments.apps \"x\" not found","reason":"NotFound","details":{"name":"x","group":"apps","kind":"deployments"},"code":404"#,
        ),
        (
            Status::already_exists(&pods, "p"),
            r#""message":"pods \"p\" already exists","reason":"AlreadyExists","details":{"name":"p","kind":"pods"},"code":409"#,
        ),
        (
            Status::generate_name_conflict(&pods, "p-abcde", 1),
            r#""message":"pods \"p-abcde\" already exists, the server was not able to generate a unique name for the object","reason":"AlreadyExists","details":{"name":"p-abcde","kind":"pods","retryAfterSeconds":1},"code":409"#,
        ),
        (
            Status::modified(&deployments, "d"),
            r#""message":"Operation cannot be fulfilled on deployments.apps \"d\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"d","group":"apps","kind":"deployments"},"code":409"#,
        ),
        (
            Status::apply_conflict(
                vec![StatusCause {
                    reason: CauseType::FieldManagerConflict.into(),
                    message: "conflict with \"m1\"".into(),
                    field: ".spec.replicas".into(),
                }],
                "Apply failed with 1 conflict: conflict with \"m1\": .spec.replicas",
            ),
            r#""message":"Apply failed with 1 conflict: conflict with \"m1\": .spec.replicas","reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"m1\"","field":".spec.replicas"}]},"code":409"#,
        ),
        (
            Status::bad_request("no"),
            r#""message":"no","reason":"BadRequest","code":400"#,
        ),
        (
            Status::unauthorized(),
            r#""message":"Unauthorized","reason":"Unauthorized","code":401"#,
        ),
        (
            Status::forbidden(&pods, "", "no"),
            r#""message":"pods is forbidden: no","reason":"Forbidden","details":{"kind":"pods"},"code":403"#,
        ),
        (
            Status::forbidden(&pods, "p", "no"),
            r#""message":"pods \"p\" is forbidden: no","reason":"Forbidden","details":{"name":"p","kind":"pods"},"code":403"#,
        ),
        (
            Status::forbidden(&GroupResource::default(), "p", "no"),
            r#""message":"forbidden: no","reason":"Forbidden","details":{"name":"p"},"code":403"#,
        ),
        (
            Status::gone("gone"),
            r#""message":"gone","reason":"Gone","code":410"#,
        ),
        (
            Status::too_old_resource_version(1, 5),
            r#""message":"too old resource version: 1 (5)","reason":"Expired","code":410"#,
        ),
        (
            Status::timeout("late", 0),
            r#""message":"Timeout: late","reason":"Timeout","details":{},"code":504"#,
        ),
        (
            Status::too_large_resource_version(9, 5, 1),
            r#""message":"Timeout: Too large resource version: 9, current: 5","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504"#,
        ),
        (
            Status::server_timeout(&pods, "list", 2),
            r#""message":"The list operation against pods could not be completed at this time, please try again.","reason":"ServerTimeout","details":{"name":"list","kind":"pods","retryAfterSeconds":2},"code":500"#,
        ),
        (
            Status::internal_error("oops"),
            r#""message":"Internal error occurred: oops","reason":"InternalError","details":{"causes":[{"message":"oops"}]},"code":500"#,
        ),
        (
            Status::unmapped_error("oops"),
            r#""message":"oops","code":500"#,
        ),
        (
            Status::service_unavailable("wait"),
            r#""message":"wait","reason":"ServiceUnavailable","code":503"#,
        ),
        (
            Status::method_not_supported(&deployments, "patch"),
            r#""message":"patch is not supported on resources of kind \"deployments.apps\"","reason":"MethodNotAllowed","details":{"group":"apps","kind":"deployments"},"code":405"#,
        ),
        (
            Status::not_acceptable(&["a/b", "c/d"]),
            r#""message":"only the following media types are accepted: a/b, c/d","reason":"NotAcceptable","code":406"#,
        ),
        (
            Status::unsupported_media_type(&["application/json-patch+json"]),
            r#""message":"the body of the request was in an unknown format - accepted media types include: application/json-patch+json","reason":"UnsupportedMediaType","code":415"#,
        ),
        (
            Status::body_too_large(3_145_728),
            r#""message":"Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413"#,
        ),
        (
            Status::too_many_requests("slow down", 1),
            r#""message":"slow down","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429"#,
        ),
    ];
    for (status, rest) in table {
        assert_eq!(json(&status), failure(rest));
        let cx = &mut DecodeContext::new();
        assert_eq!(
            Status::from_json(json(&status).as_bytes(), cx),
            Ok(status.clone())
        );
        assert_eq!(Status::from_protobuf(&status.to_protobuf(), cx), Ok(status));
    }
}

#[test]
fn invalid_objects_get_a_cause_for_each_mistake() {
    let spec = FieldPath::new("spec");
    let errors = [
        FieldError::required(&spec.child("a"), ""),
        FieldError::invalid(&spec.child("b"), -1, "must be greater than or equal to 0"),
    ];
    let status = Status::invalid(&GroupKind::new("apps", "Deployment"), "d", &errors);
    assert_eq!(
        json(&status),
        failure(
            r#""message":"Deployment.apps \"d\" is invalid: [spec.a: Required value, spec.b: Invalid value: -1: must be greater than or equal to 0]","reason":"Invalid","details":{"name":"d","group":"apps","kind":"Deployment","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.a"},{"reason":"FieldValueInvalid","message":"Invalid value: -1: must be greater than or equal to 0","field":"spec.b"}]},"code":422"#
        )
    );
    let one = Status::invalid(&GroupKind::new("", "Pod"), "p", &errors[..1]);
    assert_eq!(one.message, "Pod \"p\" is invalid: spec.a: Required value");
    let none = Status::invalid(&GroupKind::new("", "Pod"), "p", &[]);
    assert_eq!(none.message, "Pod \"p\" is invalid");
}

#[test]
fn answers_without_a_status_get_one() {
    let pods = GroupResource::new("", "pods");
    let generic = |code, method, name| {
        let resource = pods.clone();
        let server_message = "body";
        let rest = GenericResponse::default();
        Status::generic(&GenericResponse {
            code,
            method,
            resource,
            name,
            server_message,
            ..rest
        })
    };
    for (status, reason, message) in [
        (
            generic(404, "GET", "p"),
            "NotFound",
            "the server could not find the requested resource (get pods p)",
        ),
        (
            generic(409, "POST", ""),
            "AlreadyExists",
            "the server reported a conflict (post pods)",
        ),
        (
            generic(409, "PUT", ""),
            "Conflict",
            "the server reported a conflict (put pods)",
        ),
        (generic(403, "GET", ""), "Forbidden", "body (get pods)"),
        (
            generic(502, "GET", ""),
            "InternalError",
            "an error on the server (\"body\") has prevented the request from succeeding (get pods)",
        ),
        (
            generic(418, "GET", ""),
            "",
            "the server responded with the status code 418 but did not return more information \
             (get pods)",
        ),
    ] {
        assert_eq!(
            (status.reason.as_str(), status.message.as_str()),
            (reason, message)
        );
    }
    let path = Status::generic(&GenericResponse {
        code: 404,
        ..GenericResponse::default()
    });
    let rest = r#""message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404"#;
    assert_eq!(json(&path), failure(rest));
    let unexpected = GenericResponse {
        code: 503,
        server_message: "<html>",
        is_unexpected: true,
        retry_after_seconds: 3,
        ..GenericResponse::default()
    };
    let status = Status::generic(&unexpected);
    assert!(status.has_cause(&CauseType::UnexpectedServerResponse));
    assert_eq!(status.retry(), Retry::After(Duration::from_secs(3)));
}

#[test]
fn the_code_counts_only_if_the_reason_is_not_known() {
    let status = |code, reason: &str| Status {
        code,
        reason: reason.into(),
        ..Status::default()
    };
    assert!(status(404, "").is_not_found());
    assert!(status(404, "Custom").is_not_found());
    assert!(!status(404, "Conflict").is_not_found());
    assert!(status(200, "NotFound").is_not_found());
    assert!(status(409, "").is_conflict() && !status(409, "").is_already_exists());
    assert!(!status(409, "AlreadyExists").is_conflict());
    assert!(status(410, "").is_gone() && status(410, "Expired").is_gone());
    assert!(status(429, "ServiceUnavailable").is_too_many_requests());
    assert!(status(500, "").is_internal_error());
    assert!(!status(500, "ServerTimeout").is_internal_error());
}

#[test]
fn retry_says_what_to_do() {
    let pods = GroupResource::new("", "pods");
    for (status, expected) in [
        (Status::not_found(&pods, "p"), Retry::Never),
        (Status::modified(&pods, "p"), Retry::Never),
        (Status::expired("old"), Retry::Relist),
        (
            Status::too_many_requests("", 5),
            Retry::After(Duration::from_secs(5)),
        ),
        (Status::too_many_requests("", 0), Retry::Backoff),
        (
            Status::server_timeout(&pods, "list", 2),
            Retry::After(Duration::from_secs(2)),
        ),
        (Status::server_timeout(&pods, "list", 0), Retry::Backoff),
        (Status::internal_error("x"), Retry::Backoff),
        (Status::timeout("x", -1), Retry::Backoff),
    ] {
        assert_eq!(status.retry(), expected, "{status}");
    }
    assert_eq!(
        Status::server_timeout(&pods, "list", 0).retry_after(),
        Some(Duration::ZERO)
    );
    assert!(Status::too_large_resource_version(2, 1, 0).is_too_large_resource_version());
    assert!(!Status::timeout("x", 0).is_too_large_resource_version());
}

#[test]
fn reasons_and_cause_types_keep_unknown_words() {
    for word in ["", "NotFound", "Expired", "SomethingNew"] {
        assert_eq!(StatusReason::from(word).as_str(), word);
    }
    assert_eq!(
        StatusReason::from("SomethingNew"),
        StatusReason::Other("SomethingNew".into())
    );
    assert!(!StatusReason::from("SomethingNew").is_known());
    for word in ["", "FieldValueRequired", "DisruptionBudget"] {
        assert_eq!(CauseType::from(word).as_str(), word);
    }
    assert_eq!(
        json(&Status::success()),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}"#
    );
}
