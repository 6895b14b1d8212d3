//! The current time, for displayed ages.

use kubist_apimachinery::Time;
use std::time::SystemTime;

/// Returns the current time.
#[expect(
    clippy::disallowed_methods,
    reason = "the ages in a table are of this moment"
)]
pub(super) fn now() -> Time {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = now.unwrap_or_default().as_secs();
    Time::from_unix(i64::try_from(seconds).unwrap_or_default())
}
