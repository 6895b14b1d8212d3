//! `retry_on_conflict`: repeats a read, change and write until there is no conflict.
//!
//! It repeats the caller's whole operation, which must start with a read, because earlier reads are
//! outdated after a conflict. It does not cover lost connections or busy servers, for which the
//! client waits itself when the server asks for it, unless [`retry_on`] selects those errors.

use crate::ambient::Ambient;
use crate::error::ApiError;
use std::time::Duration;

/// The number of attempts and the pauses between them.
///
/// Both constants have the values of client-go's `util/retry`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a configuration is built by its users"
)]
pub struct Retries {
    /// The total number of attempts; 0 counts as 1.
    pub attempts: u32,
    /// The pause after the first attempt.
    pub pause: Duration,
    /// The factor by which each pause is longer than the one before.
    pub factor: u32,
    /// The jitter: a random share of the pause, up to this one, is added; 0.1 is a tenth.
    pub jitter: f64,
}

impl Retries {
    /// For objects that several clients write occasionally: 5 attempts, 10 ms apart. Upstream's
    /// `DefaultRetry`, and the default of [`retry_on_conflict`].
    pub const CONFLICT: Self = Self {
        attempts: 5,
        pause: Duration::from_millis(10),
        factor: 1,
        jitter: 0.1,
    };
    /// For objects that a controller writes continuously: 4 attempts, after 10, 50 and 250 ms.
    /// Upstream's `DefaultBackoff`.
    pub const BUSY: Self = Self {
        attempts: 4,
        pause: Duration::from_millis(10),
        factor: 5,
        jitter: 0.1,
    };

    /// Returns the pause after this many attempts.
    pub(crate) fn pause_after(&self, attempts: u32, chance: &Ambient) -> Duration {
        let factor = self.factor.saturating_pow(attempts.saturating_sub(1));
        let pause = self.pause.saturating_mul(factor);
        let chance = f64::from(u32::try_from(chance.number() >> 32).unwrap_or_default());
        let share = self.jitter.clamp(0.0, 1.0) * chance / f64::from(u32::MAX);
        pause.saturating_add(pause.mul_f64(share))
    }
}

/// Repeats `operation` while it fails with a conflict, according to [`Retries::CONFLICT`].
///
/// ```
/// # use kubist_api::core::v1::ConfigMap;
/// # use kubist_client::{Api, ApiError, retry_on_conflict};
/// # async fn example(maps: Api<ConfigMap>) -> Result<(), ApiError> {
/// retry_on_conflict(async || {
///     let mut map = maps.get("counter").await?;
///     let count: u32 = map.data.get("count").and_then(|it| it.parse().ok()).unwrap_or(0);
///     map.data.insert("count".into(), (count + 1).to_string().into());
///     maps.replace(&map).await
/// })
/// .await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// The last conflict when the attempts are used up; any other error at once.
pub async fn retry_on_conflict<T>(
    operation: impl AsyncFnMut() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    retry_on(Retries::CONFLICT, ApiError::is_conflict, operation).await
}

/// Repeats `operation` while it fails with an error that `retriable` accepts.
///
/// Cancel safety: dropping the future drops the current attempt.
///
/// # Errors
/// The last error when the attempts are used up; an error that is not retriable at once.
pub async fn retry_on<T>(
    retries: Retries,
    retriable: impl Fn(&ApiError) -> bool,
    mut operation: impl AsyncFnMut() -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    let mut attempts = 1;
    loop {
        match operation().await {
            Err(error) if attempts < retries.attempts && retriable(&error) => {
                let pause = retries.pause_after(attempts, &Ambient::default());
                tokio::time::sleep(pause).await;
                attempts += 1;
            }
            other => return other,
        }
    }
}
