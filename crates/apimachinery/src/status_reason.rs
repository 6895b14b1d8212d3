//! `StatusReason` and `CauseType`: machine-readable reasons of failures.

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
            /// A reason that is not in this list.
            Other(Str),
        }

        impl $name {
            /// Returns the name on the wire.
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
    /// The reason of a failed request, for programs.
    StatusReason, Unknown;
    /// 401: no or wrong credentials.
    Unauthorized = "Unauthorized",
    /// 403: the user may not do this.
    Forbidden = "Forbidden",
    /// 404: the object or resource does not exist.
    NotFound = "NotFound",
    /// 409: the object already exists.
    AlreadyExists = "AlreadyExists",
    /// 409: the object was changed concurrently.
    Conflict = "Conflict",
    /// 410: the object is permanently gone.
    Gone = "Gone",
    /// 422: the object is invalid; the causes have the details.
    Invalid = "Invalid",
    /// 500: the server did not finish in time; retry.
    ServerTimeout = "ServerTimeout",
    /// 500: stored objects could not be read.
    StorageReadError = "StorageReadError",
    /// 504: the request timed out.
    Timeout = "Timeout",
    /// 429: too many requests; retry later.
    TooManyRequests = "TooManyRequests",
    /// 400: the request is malformed.
    BadRequest = "BadRequest",
    /// 405: the resource does not support the verb.
    MethodNotAllowed = "MethodNotAllowed",
    /// 406: none of the accepted media types is available.
    NotAcceptable = "NotAcceptable",
    /// 413: the body is too large.
    RequestEntityTooLarge = "RequestEntityTooLarge",
    /// 415: the media type of the body is not supported.
    UnsupportedMediaType = "UnsupportedMediaType",
    /// 500: another error.
    InternalError = "InternalError",
    /// 410: the resource version or continue token has expired.
    Expired = "Expired",
    /// 503: the server, or the server of the API group, is not ready.
    ServiceUnavailable = "ServiceUnavailable",
}

words! {
    /// The type of a cause, for programs.
    CauseType, Unset;
    /// The referenced object does not exist.
    FieldValueNotFound = "FieldValueNotFound",
    /// A required value is missing.
    FieldValueRequired = "FieldValueRequired",
    /// The value must be unique.
    FieldValueDuplicate = "FieldValueDuplicate",
    /// The value is malformed.
    FieldValueInvalid = "FieldValueInvalid",
    /// The value is not supported.
    FieldValueNotSupported = "FieldValueNotSupported",
    /// The value must not be set.
    FieldValueForbidden = "FieldValueForbidden",
    /// The text is too long.
    FieldValueTooLong = "FieldValueTooLong",
    /// The text is too short.
    FieldValueTooShort = "FieldValueTooShort",
    /// The list is too long.
    FieldValueTooMany = "FieldValueTooMany",
    /// The list is too short.
    FieldValueTooFew = "FieldValueTooFew",
    /// The value has the wrong type.
    FieldValueTypeInvalid = "FieldValueTypeInvalid",
    /// The validation itself failed.
    InternalError = "InternalError",
    /// The server's response is not an API response.
    UnexpectedServerResponse = "UnexpectedServerResponse",
    /// Another field manager owns the field.
    FieldManagerConflict = "FieldManagerConflict",
    /// The requested version is ahead of the server.
    ResourceVersionTooLarge = "ResourceVersionTooLarge",
}

impl StatusReason {
    /// Reports whether Kubernetes defines this reason.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown | Self::Other(_))
    }
}
