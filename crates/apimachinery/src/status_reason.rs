//! `StatusReason` and `CauseType`: the one-word reasons that programs act on.

use crate::Str;
use std::fmt;

macro_rules! words {
    (
        $(#[$outer:meta])* $name:ident, $empty:ident;
        $($(#[$inner:meta])* $variant:ident = $word:literal,)*
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            /// No reason was given.
            #[default]
            $empty,
            $($(#[$inner])* $variant,)*
            /// One that this list does not have.
            Other(Str),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    Self::$empty => "",
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    "" => Self::$empty,
                    $($word => Self::$variant,)*
                    _ => Self::Other(word.into()),
                }
            }
        }

        impl From<&Str> for $name {
            fn from(word: &Str) -> Self {
                Self::from(word.as_str())
            }
        }

        impl From<$name> for Str {
            fn from(word: $name) -> Self {
                word.as_str().into()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

words! {
    /// Why a request failed, for programs.
    StatusReason, Unknown;
    /// 401: no or wrong credentials.
    Unauthorized = "Unauthorized",
    /// 403: the user may not do this.
    Forbidden = "Forbidden",
    /// 404: there is no such object or resource.
    NotFound = "NotFound",
    /// 409: there is such an object already.
    AlreadyExists = "AlreadyExists",
    /// 409: the object changed in between.
    Conflict = "Conflict",
    /// 410: the object is gone for good.
    Gone = "Gone",
    /// 422: the object breaks rules; the causes say which.
    Invalid = "Invalid",
    /// 500: the server could not do it in time; try again.
    ServerTimeout = "ServerTimeout",
    /// 500: stored objects could not be read.
    StorageReadError = "StorageReadError",
    /// 504: not done in the time that the client gave.
    Timeout = "Timeout",
    /// 429: try again later.
    TooManyRequests = "TooManyRequests",
    /// 400: the request itself makes no sense.
    BadRequest = "BadRequest",
    /// 405: the resource does not have this verb.
    MethodNotAllowed = "MethodNotAllowed",
    /// 406: none of the accepted media types can be made.
    NotAcceptable = "NotAcceptable",
    /// 413: the body is too large.
    RequestEntityTooLarge = "RequestEntityTooLarge",
    /// 415: the media type of the body is not known.
    UnsupportedMediaType = "UnsupportedMediaType",
    /// 500: something else.
    InternalError = "InternalError",
    /// 410: the version or continue token is too old.
    Expired = "Expired",
    /// 503: the server or the group's own server is not ready.
    ServiceUnavailable = "ServiceUnavailable",
}

words! {
    /// What one cause is about, for programs.
    CauseType, Unset;
    /// A reference to something that does not exist.
    FieldValueNotFound = "FieldValueNotFound",
    /// A missing value.
    FieldValueRequired = "FieldValueRequired",
    /// A value that must be unique.
    FieldValueDuplicate = "FieldValueDuplicate",
    /// A malformed value.
    FieldValueInvalid = "FieldValueInvalid",
    /// A value that is none of those allowed.
    FieldValueNotSupported = "FieldValueNotSupported",
    /// A value that must not be set.
    FieldValueForbidden = "FieldValueForbidden",
    /// A text that is too long.
    FieldValueTooLong = "FieldValueTooLong",
    /// A text that is too short.
    FieldValueTooShort = "FieldValueTooShort",
    /// A list that is too long.
    FieldValueTooMany = "FieldValueTooMany",
    /// A list that is too short.
    FieldValueTooFew = "FieldValueTooFew",
    /// A value of another type.
    FieldValueTypeInvalid = "FieldValueTypeInvalid",
    /// A failure to check.
    InternalError = "InternalError",
    /// The server answered something that is not its API.
    UnexpectedServerResponse = "UnexpectedServerResponse",
    /// Another manager owns the field.
    FieldManagerConflict = "FieldManagerConflict",
    /// The version asked for is ahead of the server.
    ResourceVersionTooLarge = "ResourceVersionTooLarge",
}

impl StatusReason {
    /// Whether this is one of the reasons that Kubernetes defines.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Other(_))
    }
}
