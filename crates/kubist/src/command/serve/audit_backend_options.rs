//! The options that each backend of audit has, under upstream's names: its mode, its batches and
//! the limits of its events.

use crate::command::values;
use clap::{ArgAction, Args};
use kubist::apiserver::audit::{Batch, Mode, Throttle, Truncation};
use std::time::Duration;

/// Makes the options of one backend: upstream has the same ones for each, with its name in theirs.
macro_rules! backend_options {
    ($name:ident, $plugin:literal, $mode:literal, $batch:literal, $wait:literal, $throttle:literal) => {
        #[derive(Args, Debug)]
        pub(super) struct $name {
            #[arg(
                id = concat!("audit_", $plugin, "_mode"),
                long = concat!("audit-", $plugin, "-mode"),
                value_name = "MODE",
                default_value = $mode,
                help = "What happens when it is slow. batch: events wait in a buffer, and are \
                        dropped and counted if it is full. blocking: requests wait, and nothing \
                        is dropped. blocking-strict: a request also waits for its first event to \
                        be written, and is refused if it is not"
            )]
            mode: String,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_buffer_size"),
                long = concat!("audit-", $plugin, "-batch-buffer-size"),
                value_name = "EVENTS",
                default_value_t = 10_000,
                allow_negative_numbers = true,
                help = "Events that wait at most, in mode batch"
            )]
            buffer_size: i64,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_max_size"),
                long = concat!("audit-", $plugin, "-batch-max-size"),
                value_name = "EVENTS",
                default_value_t = $batch,
                allow_negative_numbers = true,
                help = "Events of a batch at most, in mode batch"
            )]
            max_size: i64,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_max_wait"),
                long = concat!("audit-", $plugin, "-batch-max-wait"),
                value_name = "DURATION",
                default_value = $wait,
                value_parser = values::duration,
                allow_hyphen_values = true,
                help = "How long a batch waits for further events, in mode batch"
            )]
            max_wait: Duration,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_throttle_enable"),
                long = concat!("audit-", $plugin, "-batch-throttle-enable"),
                value_name = "BOOL",
                num_args = 0..=1,
                require_equals = true,
                action = ArgAction::Set,
                default_value_t = $throttle,
                default_missing_value = "true",
                help = "Whether batches are limited, in mode batch"
            )]
            throttle: bool,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_throttle_qps"),
                long = concat!("audit-", $plugin, "-batch-throttle-qps"),
                value_name = "BATCHES",
                default_value_t = if $throttle { 10.0 } else { 0.0 },
                allow_negative_numbers = true,
                help = "Batches a second, in mode batch"
            )]
            throttle_qps: f32,
            #[arg(
                id = concat!("audit_", $plugin, "_batch_throttle_burst"),
                long = concat!("audit-", $plugin, "-batch-throttle-burst"),
                value_name = "BATCHES",
                default_value_t = if $throttle { 15 } else { 0 },
                allow_negative_numbers = true,
                help = "Batches at once after a pause, in mode batch"
            )]
            throttle_burst: i64,
            #[arg(
                id = concat!("audit_", $plugin, "_truncate_enabled"),
                long = concat!("audit-", $plugin, "-truncate-enabled"),
                value_name = "BOOL",
                num_args = 0..=1,
                require_equals = true,
                action = ArgAction::Set,
                default_value_t = false,
                default_missing_value = "true",
                help = "Whether events and batches have a maximum size"
            )]
            truncates: bool,
            #[arg(
                id = concat!("audit_", $plugin, "_truncate_max_event_size"),
                long = concat!("audit-", $plugin, "-truncate-max-event-size"),
                value_name = "BYTES",
                default_value_t = 100 << 10,
                allow_negative_numbers = true,
                help = "The size from which an event loses its bodies; it is dropped if it is \
                        still larger"
            )]
            event_size: i64,
            #[arg(
                id = concat!("audit_", $plugin, "_truncate_max_batch_size"),
                long = concat!("audit-", $plugin, "-truncate-max-batch-size"),
                value_name = "BYTES",
                default_value_t = 10 << 20,
                allow_negative_numbers = true,
                help = "The size from which a batch is split"
            )]
            batch_size: i64,
        }

        impl $name {
            /// Returns the mode.
            ///
            /// # Errors
            /// What is wrong, in upstream's words.
            pub(super) fn mode(&self) -> Result<Mode, String> {
                BackendMode {
                    plugin: $plugin,
                    mode: &self.mode,
                    buffer_size: self.buffer_size,
                    max_size: self.max_size,
                    max_wait: self.max_wait,
                    throttle: self.throttle,
                    throttle_qps: self.throttle_qps,
                    throttle_burst: self.throttle_burst,
                }
                .mode()
            }

            /// Returns the limits of events and batches, if there are some.
            ///
            /// # Errors
            /// What is wrong, in upstream's words.
            pub(super) fn truncation(&self) -> Result<Option<Truncation>, String> {
                let limits = truncation($plugin, self.event_size, self.batch_size)?;
                Ok(self.truncates.then_some(limits))
            }
        }
    };
}

backend_options!(LogMode, "log", "blocking", 1, "0s", false);
backend_options!(WebhookMode, "webhook", "batch", 400, "30s", true);

/// What the options of a backend say of its mode.
struct BackendMode<'a> {
    plugin: &'a str,
    mode: &'a str,
    buffer_size: i64,
    max_size: i64,
    max_wait: Duration,
    throttle: bool,
    throttle_qps: f32,
    throttle_burst: i64,
}

impl BackendMode<'_> {
    fn mode(&self) -> Result<Mode, String> {
        let plugin = self.plugin;
        match self.mode {
            "blocking" => return Ok(Mode::Blocking),
            "blocking-strict" => return Ok(Mode::BlockingStrict),
            "batch" => {}
            other => {
                let allowed = "batch,blocking,blocking-strict";
                return Err(format!(
                    "invalid audit {plugin} mode {other}, allowed modes are {allowed:?}"
                ));
            }
        }
        let positive = |number: i64, what: &str| {
            let found = usize::try_from(number).ok().filter(|it| *it > 0);
            let why = || {
                format!("invalid audit batch {plugin} {what} {number}, must be a positive number")
            };
            found.ok_or_else(why)
        };
        let buffer_events = positive(self.buffer_size, "buffer size")?;
        let batch_events = positive(self.max_size, "max batch size")?;
        let mut throttle = None;
        if self.throttle {
            let per_second = self.throttle_qps;
            if per_second.is_nan() || per_second <= 0.0 {
                return Err(format!(
                    "invalid audit batch {plugin} throttle QPS {per_second}, must be a positive \
                     number"
                ));
            }
            let burst = positive(self.throttle_burst, "throttle burst")?;
            let burst = u32::try_from(burst).unwrap_or(u32::MAX);
            throttle = Some(Throttle { per_second, burst });
        }
        Ok(Mode::Batch(Batch {
            buffer_events: buffer_events.min(BUFFER_EVENTS_MAX),
            batch_events,
            wait: self.max_wait,
            throttle,
        }))
    }
}

/// Events that a buffer has at most: their slots are made at the start.
const BUFFER_EVENTS_MAX: usize = 10_000_000;

fn truncation(plugin: &str, event_size: i64, batch_size: i64) -> Result<Truncation, String> {
    let event_bytes = usize::try_from(event_size).ok().filter(|it| *it > 0);
    let Some(event_bytes) = event_bytes else {
        return Err(format!(
            "invalid audit truncate {plugin} max event size {event_size}, must be a positive number"
        ));
    };
    let batch_bytes = usize::try_from(batch_size).unwrap_or_default();
    if batch_bytes < event_bytes {
        return Err(format!(
            "invalid audit truncate {plugin} max batch size {batch_size}, must be greater than max \
             event size ({event_size})"
        ));
    }
    Ok(Truncation {
        event_bytes,
        batch_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Both {
        #[command(flatten)]
        log: LogMode,
        #[command(flatten)]
        webhook: WebhookMode,
    }

    fn parsed(options: &[&str]) -> Both {
        Both::parse_from(std::iter::once(&"serve").chain(options))
    }

    #[test]
    fn defaults_are_upstreams() {
        let both = parsed(&[]);
        assert_eq!(both.log.mode(), Ok(Mode::Blocking));
        assert_eq!(both.webhook.mode(), Ok(Mode::Batch(Batch::default())));
        assert_eq!(both.webhook.truncation(), Ok(None));
        let both = parsed(&["--audit-log-mode=batch", "--audit-log-truncate-enabled"]);
        let batch = Batch {
            batch_events: 1,
            wait: Duration::ZERO,
            throttle: None,
            ..Batch::default()
        };
        assert_eq!(both.log.mode(), Ok(Mode::Batch(batch)));
        assert_eq!(both.log.truncation(), Ok(Some(Truncation::default())));
    }

    #[test]
    fn what_is_wrong_is_said_in_upstreams_words() {
        let said = |option: &str| {
            let both = parsed(&["--audit-log-mode=batch", option]);
            both.log.mode().expect_err("it is wrong")
        };
        assert_eq!(
            said("--audit-log-batch-buffer-size=-1"),
            "invalid audit batch log buffer size -1, must be a positive number"
        );
        assert_eq!(
            said("--audit-log-batch-throttle-enable"),
            "invalid audit batch log throttle QPS 0, must be a positive number"
        );
        let both = parsed(&[
            "--audit-webhook-mode=fast",
            "--audit-webhook-truncate-max-batch-size=5",
        ]);
        assert_eq!(
            both.webhook.mode().expect_err("there is no such mode"),
            "invalid audit webhook mode fast, allowed modes are \"batch,blocking,blocking-strict\""
        );
        assert_eq!(
            both.webhook.truncation().expect_err("it is too small"),
            "invalid audit truncate webhook max batch size 5, must be greater than max event size \
             (102400)"
        );
    }
}
