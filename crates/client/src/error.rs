//! `ApiError`: why a request did not bring what was asked for.
//!
//! Either the server said no, and its Status is here; or nobody answered; or the answer cannot be
//! read, and place and cause are here; or the request could not even be made. The text of an error
//! has all its causes, in one line: whoever uses an `Api` in a script sees nothing but that.

use std::time::Duration;

use kubist_apimachinery::wire::{EncodeError, WireError, WireErrorKind};
use kubist_apimachinery::{ObjectName, ResourceVersion, Retry, Status, Str, with_causes};
use kubist_codec::envelope::EnvelopeError;
use kubist_codec::list_stream::ListStreamError;
use kubist_codec::watch_stream::WatchStreamError;
use kubist_transport::TransportError;

/// Why a request failed. Cheap to clone.
///
/// Its text says why, in one line: the causes that `source()` leads to are in it too. Whoever walks
/// the causes as well wants [`with_causes`], which has each part once.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The server answered that it failed, or ended a watch with an error.
    #[error(transparent)]
    Status(Box<Status>),
    /// No answer, or only a part of it. A write may have been done all the same.
    #[error("{request} got no answer: {}", with_causes(.source))]
    Transport {
        /// Method and path.
        request: Str,
        /// What the transport said.
        source: TransportError,
    },
    /// The answer is not what was asked for.
    #[error("the answer to {request} cannot be read: {}", with_causes(.source))]
    Answer {
        /// Method and path.
        request: Str,
        /// What is wrong, and where.
        source: Box<AnswerError>,
    },
    /// The server did what was asked of it, and answered with an object that `K` cannot hold: one
    /// with a value that the type does not know, as a rule. To repeat it is of no use. A write that
    /// needs nothing of the object goes through an `Api<Metadata<K>>`.
    #[error(
        "{request} was done, but the answer cannot be read (Api<Metadata<K>> writes what K cannot \
         hold): {}",
        with_causes(.source)
    )]
    Written {
        /// Method and path.
        request: Str,
        /// The object, as far as it can be made out.
        object: Box<WrittenObject>,
        /// What is wrong with the answer, and where.
        source: Box<AnswerError>,
    },
    /// The request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// What is known of an object that was written and cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenObject {
    /// Its name, if that much could be read.
    pub name: Option<ObjectName>,
    /// Its version after the write, if that much could be read; otherwise unset.
    pub resource_version: ResourceVersion,
}

/// Why an answer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// An encoding that was not asked for.
    #[error("the content type is {found:?}, neither JSON nor protobuf")]
    ContentType {
        /// The header.
        found: Str,
    },
    /// No body where there must be one.
    #[error("the body is empty")]
    Empty,
    /// An object of another kind.
    #[error("the object is a {found}, not a {expected}")]
    Kind {
        /// The kind asked for.
        expected: Str,
        /// The kind found.
        found: Str,
    },
    /// The protobuf envelope is broken.
    #[error("the envelope is broken")]
    Envelope(#[source] EnvelopeError),
    /// The object is broken; the source says in which field.
    #[error("the object is broken")]
    Object(#[source] WireError),
    /// The list is broken between its items.
    #[error("the list is broken")]
    List(#[source] ListStreamError),
    /// One item of a list is broken.
    #[error("item {index} of the list{} is broken", of(.name.as_ref()))]
    Item {
        /// Its index on the page, from 0.
        index: u64,
        /// Its name, if that much could be read.
        name: Option<ObjectName>,
        /// What is wrong, and where.
        source: Box<WireError>,
    },
    /// The watch is broken between its events.
    #[error("the watch is broken")]
    Watch(#[source] WatchStreamError),
}

/// Why a request cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// An object is addressed by an empty name.
    #[error("the name of the {kind} is empty")]
    NoName {
        /// The kind.
        kind: Str,
    },
    /// The kind lives in namespaces, and none was given.
    #[error("no namespace for the {kind}")]
    NoNamespace {
        /// The kind.
        kind: Str,
    },
    /// A name, namespace or subresource that cannot stand in a path.
    #[error("{value:?} cannot be a part of a path: it is `.` or `..`, or has `/` or `%`")]
    PathSegment {
        /// What was given.
        value: String,
    },
    /// A watch that is to go on needs a version to go on from, and there is none: neither in the
    /// options (`0` is none) nor in an object.
    #[error(
        "no resource version to watch from: list first, and go on from the list's \
         metadata.resource_version"
    )]
    NoVersion,
    /// The object has no encoded form.
    #[error("the {kind} cannot be sent: {}", with_causes(.source))]
    Encode {
        /// The kind.
        kind: Str,
        /// What is wrong with it.
        source: EncodeError,
    },
    /// The request is not valid HTTP, or too long.
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
    /// The server's Status, if it answered.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }

    /// What was written, if the server did what was asked for and only its answer cannot be read
    /// ([`Self::Written`]).
    pub fn written(&self) -> Option<&WrittenObject> {
        match self {
            Self::Written { object, .. } => Some(object),
            _ => None,
        }
    }

    /// Whether the server did what was asked for, and only its answer cannot be read. (Where no
    /// answer came at all, or half of one, nobody knows: that is not told here.)
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

    /// 404: there is no such object, or no such resource.
    pub fn is_not_found(&self) -> bool {
        self.is(Status::is_not_found)
    }

    /// 409: somebody else changed the object in between.
    pub fn is_conflict(&self) -> bool {
        self.is(Status::is_conflict)
    }

    /// 409: an object of this name is there already.
    pub fn is_already_exists(&self) -> bool {
        self.is(Status::is_already_exists)
    }

    /// 410: the version asked for is no longer there.
    pub fn is_gone(&self) -> bool {
        self.is(Status::is_gone)
    }

    /// Another word for [`Self::is_gone`]: servers give both reasons.
    pub fn is_expired(&self) -> bool {
        self.is_gone()
    }

    /// 422: the object breaks rules; the causes say which.
    pub fn is_invalid(&self) -> bool {
        self.is(Status::is_invalid)
    }

    /// 400.
    pub fn is_bad_request(&self) -> bool {
        self.is(Status::is_bad_request)
    }

    /// 401: the server does not know the caller.
    pub fn is_unauthorized(&self) -> bool {
        self.is(Status::is_unauthorized)
    }

    /// 403: the caller may not do this.
    pub fn is_forbidden(&self) -> bool {
        self.is(Status::is_forbidden)
    }

    /// 415: the server does not read this encoding, or this kind of patch.
    pub fn is_unsupported_media_type(&self) -> bool {
        self.is(Status::is_unsupported_media_type)
    }

    /// 429: too many requests, or an eviction that a disruption budget does not allow now.
    pub fn is_too_many_requests(&self) -> bool {
        self.is(Status::is_too_many_requests)
    }

    /// The pause that the server asked for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.status().and_then(Status::retry_after)
    }

    /// What the caller should do next.
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

    /// As the error of a write that was done: the object that came back is whole, and not readable.
    /// Anything else (a page of a proxy, another kind) says nothing about the write.
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
    /// Whether the answer ended where no end can be: the connection did, whatever it said.
    pub(crate) fn is_cut(&self) -> bool {
        matches!(
            self,
            Self::Watch(WatchStreamError::Truncated { .. })
                | Self::List(ListStreamError::Truncated { .. })
        )
    }

    /// As the error of a stream, for those who know of wires only.
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
