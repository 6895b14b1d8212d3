//! `ListPosition` and `WatchPosition`: validated resource version, match, limit and continue token.

use super::{EXACT, ListOptions, NOT_OLDER_THAN};
use crate::query::OptionsError;
use crate::{FieldError, FieldPath, ResourceVersion, Str};

/// The position of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a server must handle each")]
pub enum ListPosition {
    /// The state at the time of the request.
    MostRecent,
    /// Any state that the server has cached. Such a list ignores the limit when it is served from a
    /// cache.
    Any,
    /// A state at this resource version or later.
    NotOlderThan(ResourceVersion),
    /// The state at exactly this resource version. With `legacy`, only a limit implies exactness; a
    /// cached state for the version is then good enough.
    Exact {
        /// The resource version.
        version: ResourceVersion,
        /// Whether only a limit implies exactness.
        legacy: bool,
    },
    /// The next page after the one with this continue token.
    Continue(Str),
}

/// The position of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a server must handle each")]
pub enum WatchPosition {
    /// Begins with an event for every object of a state no older than this version (unset: the most
    /// recent; `0`: any), and continues with the changes after it. `end_bookmark` requests a
    /// bookmark between the two.
    Initial {
        /// The resource version.
        not_older_than: ResourceVersion,
        /// Whether an annotated bookmark follows the initial events.
        end_bookmark: bool,
    },
    /// Changes after the time of the request.
    MostRecent,
    /// Changes after any state that the server has cached.
    Any,
    /// Changes after this resource version.
    After(ResourceVersion),
}

const KIND: &str = "ListOptions";

pub(super) fn list(options: &ListOptions) -> Result<ListPosition, OptionsError> {
    OptionsError::check(KIND, list_errors(options))?;
    let version = options.resource_version.clone();
    if !options.continue_.is_empty() {
        if !version.is_unset() && !version.is_any() {
            return Err(OptionsError::ContinueWithVersion);
        }
        return Ok(ListPosition::Continue(options.continue_.clone()));
    }
    Ok(if version.is_unset() {
        ListPosition::MostRecent
    } else if version.is_any() {
        ListPosition::Any
    } else if options.resource_version_match == EXACT {
        ListPosition::Exact {
            version,
            legacy: false,
        }
    } else if options.resource_version_match.is_empty() && options.limit > 0 {
        ListPosition::Exact {
            version,
            legacy: true,
        }
    } else {
        ListPosition::NotOlderThan(version)
    })
}

pub(super) fn watch(options: &ListOptions) -> Result<WatchPosition, OptionsError> {
    OptionsError::check(KIND, watch_errors(options))?;
    let version = options.resource_version.clone();
    let end_bookmark = options.allow_watch_bookmarks;
    let live = is_live(options);
    Ok(match options.send_initial_events {
        Some(true) => WatchPosition::Initial {
            not_older_than: version,
            end_bookmark,
        },
        // The server adds the request for initial events that older clients imply.
        None if live => WatchPosition::Initial {
            not_older_than: version,
            end_bookmark,
        },
        _ if version.is_unset() => WatchPosition::MostRecent,
        _ if version.is_any() => WatchPosition::Any,
        _ => WatchPosition::After(version),
    })
}

/// Reports whether no resource version is requested.
fn is_live(options: &ListOptions) -> bool {
    options.resource_version.is_unset() || options.resource_version.is_any()
}

fn list_errors(options: &ListOptions) -> Vec<FieldError> {
    let path = FieldPath::new("resourceVersionMatch");
    let matching = options.resource_version_match.as_str();
    let mut errors = Vec::new();
    let mut forbid = |forbidden: bool, detail: &str| {
        if forbidden {
            errors.push(FieldError::forbidden(&path, detail));
        }
    };
    if !matching.is_empty() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        forbid(options.resource_version.is_unset(), detail);
        forbid(!options.continue_.is_empty(), WITH_CONTINUE);
        if matching != EXACT && matching != NOT_OLDER_THAN {
            let supported = [EXACT, NOT_OLDER_THAN, ""];
            errors.push(FieldError::not_supported(&path, matching, &supported));
        }
        if matching == EXACT && options.resource_version.is_any() {
            let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    if options.send_initial_events.is_some() {
        let path = FieldPath::new("sendInitialEvents");
        errors.push(FieldError::forbidden(
            &path,
            "sendInitialEvents is forbidden for list",
        ));
    }
    errors
}

fn watch_errors(options: &ListOptions) -> Vec<FieldError> {
    let path = FieldPath::new("resourceVersionMatch");
    let matching = options.resource_version_match.as_str();
    let initial = options.send_initial_events.is_some();
    let mut errors = Vec::new();
    // The server adds what older clients imply before it validates.
    if !initial && matching.is_empty() && is_live(options) && !options.continue_.is_empty() {
        errors.push(FieldError::forbidden(&path, WITH_CONTINUE));
    }
    if initial && matching != NOT_OLDER_THAN {
        let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if matching.is_empty() {
        return errors;
    }
    if !initial {
        let detail =
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        errors.push(FieldError::forbidden(&path, detail));
    }
    if matching != NOT_OLDER_THAN {
        errors.push(FieldError::not_supported(
            &path,
            matching,
            &[NOT_OLDER_THAN],
        ));
    }
    if !options.continue_.is_empty() {
        errors.push(FieldError::forbidden(&path, WITH_CONTINUE));
    }
    errors
}

const WITH_CONTINUE: &str = "resourceVersionMatch is forbidden when continue is provided";
