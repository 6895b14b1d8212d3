//! The current time, for displayed ages.

use kubist_apimachinery::Time;
use std::time::{Duration, SystemTime};

/// Returns how long ago that was; zero if it is in the future.
#[expect(
    clippy::disallowed_methods,
    reason = "the age of an object in a table is of this moment"
)]
pub(super) fn since(time: Time) -> Duration {
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let Some(then) = time.timestamp() else {
        return Duration::ZERO;
    };
    let then = u64::try_from(then.as_second()).unwrap_or_default();
    now.saturating_sub(Duration::from_secs(then))
}
