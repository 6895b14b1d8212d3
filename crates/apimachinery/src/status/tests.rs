//! Every kind of failure, compared with a real server, and the predicates.

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

fn client_failures() -> Vec<Status> {
    let pods = GroupResource::new("", "pods");
    let deployments = GroupResource::new("apps", "deployments");
    vec![
        Status::not_found(&deployments, "x"),
        Status::already_exists(&pods, "p"),
        Status::generate_name_conflict(&pods, "p-abcde", 1),
        Status::modified(&deployments, "d"),
        Status::apply_conflict(
            vec![StatusCause {
                reason: CauseType::FieldManagerConflict.into(),
                message: "conflict with \"m1\"".into(),
                field: ".spec.replicas".into(),
            }],
            "Apply failed with 1 conflict: conflict with \"m1\": .spec.replicas",
        ),
        Status::bad_request("no"),
        Status::unauthorized(),
        Status::forbidden(&pods, "", "no"),
        Status::forbidden(&pods, "p", "no"),
        Status::forbidden(&GroupResource::default(), "p", "no"),
        Status::gone("gone"),
    ]
}

fn server_failures() -> Vec<Status> {
    let pods = GroupResource::new("", "pods");
    let deployments = GroupResource::new("apps", "deployments");
    vec![
        Status::too_old_resource_version(1, 5),
        Status::timeout("late", 0),
        Status::too_large_resource_version(9, 5, 1),
        Status::server_timeout(&pods, "list", 2),
        Status::internal_error("oops"),
        Status::unmapped_error("oops"),
        Status::service_unavailable("wait"),
        Status::method_not_supported(&deployments, "patch"),
        Status::not_acceptable(&["a/b", "c/d"]),
        Status::unsupported_media_type(&["application/json-patch+json"]),
        Status::body_too_large(3_145_728),
        Status::too_many_requests("slow down", 1),
    ]
}

#[test]
fn failures_are_those_of_upstream() {
    let statuses = [client_failures(), server_failures()].concat();
    let expected: Vec<_> = include_str!("../../testdata/statuses.jsonl")
        .lines()
        .collect();
    assert_eq!(statuses.iter().map(json).collect::<Vec<_>>(), expected);
    for status in statuses {
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
    let mistakes = [
        ("spec.a", "FieldValueRequired", "Required value"),
        (
            "spec.b",
            "FieldValueInvalid",
            "Invalid value: -1: must be greater than or equal to 0",
        ),
    ];
    let list = mistakes
        .map(|(field, _, message)| format!("{field}: {message}"))
        .join(", ");
    let causes = mistakes.map(|(field, reason, message)| {
        format!(r#"{{"reason":"{reason}","message":"{message}","field":"{field}"}}"#)
    });
    let causes = causes.join(",");
    let expected = failure(&format!(
        "\"message\":\"Deployment.apps \\\"d\\\" is invalid: [{list}]\",\"reason\":\"Invalid\",\
         \"details\":{{\"name\":\"d\",\"group\":\"apps\",\"kind\":\"Deployment\",\
         \"causes\":[{causes}]}},\"code\":422"
    ));
    assert_eq!(json(&status), expected);
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
            "an error on the server (\"body\") has prevented the request from succeeding \
             (get pods)",
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
    let rest = "\"message\":\"the server could not find the requested resource\",\
                \"reason\":\"NotFound\",\"details\":{},\"code\":404";
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
fn it_is_small_enough_to_be_an_error() {
    // Seven words more than its texts; box it in results of hot paths.
    assert!(size_of::<Status>() <= 144, "{}", size_of::<Status>());
}

#[test]
fn errors_say_whether_to_retry() {
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
    let success = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}"#;
    assert_eq!(json(&Status::success()), success);
}
