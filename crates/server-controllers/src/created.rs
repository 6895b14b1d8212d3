//! What the controllers of the contents of every namespace have in common.

use kubist_apimachinery::Status;
use kubist_client::ApiError;
use kubist_controller::Error;

/// The phase of namespaces in which objects can be created.
pub(crate) const ACTIVE: &str = "Active";

/// The cause of a refusal because the namespace is being deleted.
const TERMINATING: &str = "NamespaceTerminating";

/// Ignores that somebody else created the object, or that its namespace ends or is gone.
pub(crate) fn unless_needless<T>(created: Result<T, ApiError>) -> Result<(), Error> {
    let Err(error) = created else {
        return Ok(());
    };
    let causes = error.status().map(Status::causes).unwrap_or_default();
    let ends = causes.iter().any(|it| it.reason == *TERMINATING);
    if ends || error.is_already_exists() || error.is_not_found() {
        return Ok(());
    }
    Err(error.into())
}
