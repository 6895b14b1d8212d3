//! Writes from a cache that may be older than what is stored.

use kubist_client::ApiError;
use kubist_controller::Error;

/// Ignores that the object has changed or is gone: a newer state is on its way.
pub(crate) fn ignore_outdated<T>(written: Result<T, ApiError>) -> Result<(), Error> {
    match written {
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(()),
        written => Ok(written.map(drop)?),
    }
}
