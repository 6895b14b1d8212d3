//! The wall clock, as API objects hold it: to the second.

use kubist_apimachinery::Time;
use std::time::Duration;

/// Now.
pub(crate) fn now() -> Time {
    jiff::Timestamp::now().into()
}

/// How long it is until `seconds` after `from`; `None` once it is past. A little more than the
/// whole seconds, because `from` was cut to one.
pub(crate) fn until(from: Time, seconds: i32, now: Time) -> Option<Duration> {
    let left = from.unix().saturating_add(seconds.into()) - now.unix();
    let left = u64::try_from(left).ok().filter(|it| *it > 0)?;
    Some(Duration::from_secs(left))
}
