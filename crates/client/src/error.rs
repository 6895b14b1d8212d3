//! `ApiError`: why a request failed.
//!
//! The server answered with a Status, or did not answer, or sent an answer that cannot be read, or
//! the request could not be built. The text of an error includes all its causes in one line,
//! because in scripts it is often all that is seen.

use kubist_apimachinery::wire::{EncodeError, WireError, WireErrorKind};
use kubist_apimachinery::{ObjectName, ResourceVersion, Retry, Status, Str, with_causes};
use kubist_codec::envelope::EnvelopeError;
use kubist_codec::list_stream::ListStreamError;
use kubist_codec::watch_stream::WatchStreamError;
use kubist_transport::TransportError;
use std::time::Duration;

/// Why a request failed. Cheap to clone.
///
/// Its text is one line and includes the causes that `source()` leads to. To print each cause once
/// while walking the sources, use [`with_causes`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The server answered with a failure, or ended a watch with an error.
    #[error(transparent)]
    Status(Box<Status>),
    /// No answer, or an incomplete one. A write may have been applied all the same.
    #[error("{request} got no answer: {}", with_causes(.source))]
    Transport {
        /// Method and path.
        request: Str,
        /// The transport error.
        source: TransportError,
    },
    /// The answer cannot be read.
    #[error("the answer to {request} cannot be read: {}", with_causes(.source))]
    Answer {
        /// Method and path.
        request: Str,
        /// What is wrong, and where.
        source: Box<AnswerError>,
    },
    /// The server applied the write, and answered with an object that `K` cannot hold, usually
    /// because of a value that the type does not have. Do not repeat the write. If the object is
    /// not needed, write through an `Api<Metadata<K>>`.
    #[error(
        "{request} was done, but the answer cannot be read (Api<Metadata<K>> writes what K cannot \
         hold): {}",
        with_causes(.source)
    )]
    Written {
        /// Method and path.
        request: Str,
        /// The identity of the object, as far as it can be read.
        object: Box<WrittenObject>,
        /// What is wrong with the answer, and where.
        source: Box<AnswerError>,
    },
    /// The request cannot be built.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// The identity of an object that was written and cannot be decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenObject {
    /// Its name, if that can be read.
    pub name: Option<ObjectName>,
    /// Its resource version after the write, if that can be read; unset otherwise.
    pub resource_version: ResourceVersion,
}

/// Why an answer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A content type that was not requested.
    #[error("the content type is {found:?}, neither JSON nor protobuf")]
    ContentType {
        /// The `Content-Type` header.
        found: Str,
    },
    /// The body is missing.
    #[error("the body is empty")]
    Empty,
    /// The answer is an object of another kind.
    #[error("the object is a {found}, not a {expected}")]
    Kind {
        /// The requested kind.
        expected: Str,
        /// The answered kind.
        found: Str,
    },
    /// The protobuf envelope cannot be decoded.
    #[error("the envelope is broken")]
    Envelope(#[source] EnvelopeError),
    /// The object cannot be decoded; the source names the field.
    #[error("the object is broken")]
    Object(#[source] WireError),
    /// The list cannot be read past this point: it is malformed between its items.
    #[error("the list is broken")]
    List(#[source] ListStreamError),
    /// One item of a list cannot be decoded.
    #[error("item {index} of the list{} is broken", of(.name.as_ref()))]
    Item {
        /// Its index on the page, from 0.
        index: u64,
        /// Its name, if that can be read.
        name: Option<ObjectName>,
        /// What is wrong, and where.
        source: Box<WireError>,
    },
    /// The watch cannot be read past this point: it is malformed between its events.
    #[error("the watch is broken")]
    Watch(#[source] WatchStreamError),
}

/// Why a request cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The object name is empty.
    #[error("the name of the {kind} is empty")]
    NoName {
        /// The kind.
        kind: Str,
    },
    /// The kind is namespaced, and no namespace was given.
    #[error("no namespace for the {kind}")]
    NoNamespace {
        /// The kind.
        kind: Str,
    },
    /// A name, namespace or subresource that is not valid in a path.
    #[error("{value:?} cannot be a part of a path: it is `.` or `..`, or has `/` or `%`")]
    PathSegment {
        /// The invalid value.
        value: String,
    },
    /// A resumable watch needs a resource version to start from; neither the options (`0` does not
    /// count) nor an object have one.
    #[error(
        "no resource version to watch from: list first, and go on from the list's \
         metadata.resource_version"
    )]
    NoVersion,
    /// An apply without a field manager, which is whom the fields belong to.
    #[error(
        "an apply needs a field manager, the name under which the fields are owned: \
         PatchOptions::managed_by(\"example.com/operator\")"
    )]
    NoFieldManager,
    /// The object cannot be encoded.
    #[error("the {kind} cannot be sent: {}", with_causes(.source))]
    Encode {
        /// The kind.
        kind: Str,
        /// The encoding error.
        source: EncodeError,
    },
    /// The request is not valid HTTP, or it is too long.
    #[error("not a valid request: {reason}")]
    Http {
        /// The reason.
        reason: String,
    },
}

fn of(name: Option<&ObjectName>) -> String {
    name.map_or_else(String::new, |name| format!(" ({name})"))
}

impl ApiError {
    /// Returns the server's Status, if it answered.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Returns the identity of the written object if the server applied the write and only its
    /// answer cannot be read ([`Self::Written`]).
    pub fn written(&self) -> Option<&WrittenObject> {
        match self {
            Self::Written { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Reports whether the server applied the write and only its answer cannot be read. If no
    /// answer arrived, or only part of one, the outcome is unknown and this is false.
    ///
    /// ```
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, ApiError};
    /// # async fn example(pods: Api<Pod>) -> Result<(), ApiError> {
    /// match pods.delete("web-0").await {
    ///     Err(error) if error.is_written() => println!("deleted, unseen: {error}"),
    ///     answer => drop(answer?),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn is_written(&self) -> bool {
        self.written().is_some()
    }

    fn is(&self, test: fn(&Status) -> bool) -> bool {
        self.status().is_some_and(test)
    }

    /// Reports a 404: the object, or the resource, does not exist.
    pub fn is_not_found(&self) -> bool {
        self.is(Status::is_not_found)
    }

    /// Reports a 409 caused by a concurrent change of the object.
    pub fn is_conflict(&self) -> bool {
        self.is(Status::is_conflict)
    }

    /// Reports a 409 because an object with this name already exists.
    pub fn is_already_exists(&self) -> bool {
        self.is(Status::is_already_exists)
    }

    /// Reports a 410: the requested resource version is no longer available.
    pub fn is_gone(&self) -> bool {
        self.is(Status::is_gone)
    }

    /// Same as [`Self::is_gone`]: servers use both reasons.
    pub fn is_expired(&self) -> bool {
        self.is_gone()
    }

    /// Reports a 422: the object is invalid; the causes name the fields.
    pub fn is_invalid(&self) -> bool {
        self.is(Status::is_invalid)
    }

    /// Reports a 400.
    pub fn is_bad_request(&self) -> bool {
        self.is(Status::is_bad_request)
    }

    /// Reports a 401: the caller is not authenticated.
    pub fn is_unauthorized(&self) -> bool {
        self.is(Status::is_unauthorized)
    }

    /// Reports a 403: the caller is not allowed to do this.
    pub fn is_forbidden(&self) -> bool {
        self.is(Status::is_forbidden)
    }

    /// Reports a 415: the server does not support this encoding or patch type.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.is(Status::is_unsupported_media_type)
    }

    /// Reports a 429: too many requests, or an eviction that a disruption budget does not allow
    /// now.
    pub fn is_too_many_requests(&self) -> bool {
        self.is(Status::is_too_many_requests)
    }

    /// Returns the pause that the server requested.
    pub fn retry_after(&self) -> Option<Duration> {
        self.status().and_then(Status::retry_after)
    }

    /// Returns when to retry the request.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Status(status) => status.retry(),
            Self::Transport { source, .. } => match source.retry() {
                kubist_transport::Retry::After(delay) => Retry::After(delay),
                kubist_transport::Retry::Backoff => Retry::Backoff,
                _ => Retry::Never,
            },
            Self::Answer { source, .. } if source.is_cut() => Retry::Backoff,
            Self::Answer { .. } | Self::Written { .. } | Self::Request(_) => Retry::Never,
        }
    }

    pub(crate) fn answer(request: &Str, source: AnswerError) -> Self {
        let request = request.clone();
        Self::Answer {
            request,
            source: Box::new(source),
        }
    }

    /// Converts an error about the answer into one about a write that was applied, if the object
    /// arrived whole and cannot be decoded. Any other answer (a proxy's page, another kind) says
    /// nothing about the write.
    pub(crate) fn of_write(self, object: impl FnOnce() -> WrittenObject) -> Self {
        match self {
            Self::Answer { request, source } if matches!(*source, AnswerError::Object(_)) => {
                Self::Written {
                    request,
                    object: Box::new(object()),
                    source,
                }
            }
            other => other,
        }
    }

    pub(crate) fn transport(request: &Str, source: TransportError) -> Self {
        Self::Transport {
            request: request.clone(),
            source,
        }
    }
}

impl AnswerError {
    /// Reports whether the answer ended early: then the connection broke, whatever it reported.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(
            self,
            Self::Watch(WatchStreamError::Truncated { .. })
                | Self::List(ListStreamError::Truncated { .. })
        )
    }

    /// Converts a stream error into a plain decoding error.
    pub(crate) fn to_wire_error(&self) -> WireError {
        match self {
            Self::Object(error) => error.clone(),
            Self::Item { source, .. } => (**source).clone(),
            other => {
                let cause = std::error::Error::source(other);
                let reason = cause.map_or_else(|| other.to_string(), ToString::to_string);
                WireErrorKind::Invalid { reason }.into()
            }
        }
    }
}
