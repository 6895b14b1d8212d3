//! `Failure`: why a backend did not answer.

use std::fmt;

/// Why a backend did not answer, in Go's words where it has some.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Too many connections are open.
    Full,
    /// There is no connection, or no TLS on it.
    Connect(String),
    /// The connection ended before an answer.
    Exchange(String),
}

impl Failure {
    /// The error of an exchange.
    pub(super) fn of(error: &hyper::Error) -> Self {
        let is_end = error.is_closed() || error.is_incomplete_message() || error.is_canceled();
        let why = match std::error::Error::source(error) {
            _ if is_end => "EOF".to_owned(),
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        Self::Exchange(why)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("too many connections to backends are open"),
            Self::Connect(why) | Self::Exchange(why) => f.write_str(why),
        }
    }
}
