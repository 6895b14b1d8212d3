//! The answer to a client whose request a webhook refused or did not answer, as upstream words it.

use kubist_apimachinery::Str;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{STATUS_FAILURE, STATUS_SUCCESS, Status};

/// The lowest code of a failure.
const BAD_REQUEST: i32 = 400;

/// Returns the status of a request that a webhook denied.
pub(super) fn denied(name: &str, result: Option<Box<Status>>) -> Status {
    let mut status = result.map_or_else(Status::default, |it| *it);
    status.code = status.code.max(BAD_REQUEST);
    if status.status.is_empty() || *status.status == *STATUS_SUCCESS {
        status.status = STATUS_FAILURE.into();
    }
    let by = format!("admission webhook {} denied the request", quote(name));
    let why: &Str = if status.message.is_empty() {
        &status.reason
    } else {
        &status.message
    };
    status.message = match why.as_str() {
        "" => format!("{by} without explanation").into(),
        why => format!("{by}: {why}").into(),
    };
    status
}

/// Returns the status of a dry run that a webhook with side effects would see.
pub(super) fn no_dry_run(name: &str) -> Status {
    Status::bad_request(format!(
        "admission webhook {} does not support dry run",
        quote(name)
    ))
}

/// Returns why a webhook was not called, or gave no usable answer.
pub(super) fn not_called(name: &str, why: &str) -> String {
    format!("failed calling webhook {}: {why}", quote(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(result: Option<Status>) -> (i32, String) {
        let status = denied("a.example.com", result.map(Box::new));
        assert_eq!(&*status.status, "Failure");
        (status.code, status.message.to_string())
    }

    #[test]
    fn a_denial_has_the_code_and_the_words_of_the_webhook() {
        let by = "admission webhook \"a.example.com\" denied the request";
        assert_eq!(words(None), (400, format!("{by} without explanation")));
        let mut status = Status {
            code: 403,
            reason: "Forbidden".into(),
            ..Status::default()
        };
        assert_eq!(
            words(Some(status.clone())),
            (403, format!("{by}: Forbidden"))
        );
        status.message = "no".into();
        status.code = 200;
        assert_eq!(words(Some(status)), (400, format!("{by}: no")));
    }

    #[test]
    fn a_dry_run_is_refused_where_a_webhook_has_side_effects() {
        let status = no_dry_run("a.example.com");
        let message = "admission webhook \"a.example.com\" does not support dry run";
        assert_eq!((status.code, &*status.message), (400, message));
    }
}
