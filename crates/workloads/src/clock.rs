//! Times with the precision of API objects, one second.

use kubist_apimachinery::Time;
use std::time::Duration;

/// Returns how long it is until `seconds` after `from`; `None` if that has passed. A little is
/// added to whole seconds, because `from` was rounded down.
pub(crate) fn until(from: Time, seconds: i32, now: Time) -> Option<Duration> {
    let left = from.unix().saturating_add(seconds.into()) - now.unix();
    let left = u64::try_from(left).ok().filter(|it| *it > 0)?;
    Some(Duration::from_secs(left))
}
