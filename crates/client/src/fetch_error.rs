//! Conversion of `ApiError` into the error classes of a reflector.

use crate::error::{AnswerError, ApiError};
use kubist_apimachinery::Status;
use kubist_cache::{Cause, FetchError};
use kubist_codec::list_stream::ListStreamError;
use kubist_transport::TransportError;
use std::sync::Arc;

impl From<ApiError> for FetchError {
    fn from(error: ApiError) -> Self {
        match &error {
            ApiError::Status(status) => of_status(status, &error),
            ApiError::Transport { source, .. } if source.is_connection_refused() => {
                Self::ConnectionRefused {
                    source: cause(&error),
                }
            }
            // The connection is fine: there were no credentials to send.
            ApiError::Transport {
                source: TransportError::Auth(reason),
                ..
            } => Self::NoCredentials {
                source: Arc::new(reason.clone()),
            },
            ApiError::Transport { .. } => Self::Connection {
                source: cause(&error),
            },
            ApiError::Answer { source, .. } if source.is_cut() => Self::Connection {
                source: cause(&error),
            },
            ApiError::Answer { source, .. } | ApiError::Written { source, .. } => of_answer(source),
            ApiError::Request(_) => Self::Other {
                message: error.to_string().into(),
                source: None,
            },
        }
    }
}

fn cause(error: &ApiError) -> Cause {
    Arc::new(error.clone())
}

fn of_status(status: &Status, error: &ApiError) -> FetchError {
    let message = status.message.clone();
    let retry_after = status.retry_after().filter(|pause| !pause.is_zero());
    if status.is_gone() {
        FetchError::Expired { message }
    } else if status.is_too_large_resource_version() {
        FetchError::TooLargeResourceVersion { retry_after }
    } else if status.is_too_many_requests() {
        FetchError::Throttled { retry_after }
    } else if status.is_not_found() {
        FetchError::NotServed { message }
    } else if status.is_unauthorized() {
        FetchError::Unauthorized { message }
    } else if status.is_forbidden() {
        FetchError::Forbidden { message }
    } else if status.is_invalid() || status.is_bad_request() || status.is_method_not_allowed() {
        FetchError::Invalid { message }
    } else if status.is_service_unavailable() || status.is_timeout() || status.is_server_timeout() {
        FetchError::Unavailable {
            message,
            retry_after,
        }
    } else if status.code >= 500 || status.is_internal_error() {
        FetchError::Internal {
            message,
            retry_after,
        }
    } else {
        FetchError::Other {
            message,
            source: Some(cause(error)),
        }
    }
}

fn of_answer(error: &AnswerError) -> FetchError {
    match error {
        AnswerError::Kind { found, .. } => FetchError::UnexpectedKind {
            kind: found.clone(),
        },
        AnswerError::List(ListStreamError::Table) => FetchError::UnexpectedKind {
            kind: "Table".into(),
        },
        AnswerError::List(ListStreamError::NotAList { kind, .. }) => {
            FetchError::UnexpectedKind { kind: kind.clone() }
        }
        AnswerError::List(ListStreamError::Metadata(error)) => FetchError::Malformed {
            source: error.clone(),
        },
        other => FetchError::Malformed {
            source: other.to_wire_error(),
        },
    }
}
