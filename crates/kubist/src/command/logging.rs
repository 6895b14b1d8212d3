//! The log of `kubist serve` on standard error: text or JSON, one line per event.
//!
//! It has events of this project's crates from a level on; those of other libraries are omitted,
//! because users can do nothing about them. Programs that embed the crates install their own
//! subscriber.

use clap::{ArgAction, Args, ValueEnum};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::{MakeWriter, layer};
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Args, Debug)]
pub(super) struct LogOptions {
    /// The log level; info has a line for each request
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "warn")]
    log_level: Level,
    /// More log output: -v info, -vv debug, -vvv trace
    #[arg(short, long, action = ArgAction::Count, conflicts_with = "log_level")]
    verbose: u8,
    /// The log format
    #[arg(long, value_enum, default_value = "text")]
    logging_format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Errors
    Error,
    /// And warnings, such as slow requests
    Warn,
    /// And a line for each request
    Info,
    /// And decisions
    Debug,
    /// And every step
    Trace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For humans
    Text,
    /// For programs: an object on each line
    Json,
}

impl LogOptions {
    /// Starts logging to standard error.
    pub(super) fn install(&self) {
        install_as(self.level(), self.logging_format);
    }

    fn level(&self) -> LevelFilter {
        match (self.verbose, self.log_level) {
            (0, Level::Error) => LevelFilter::ERROR,
            (0, Level::Warn) => LevelFilter::WARN,
            (0, Level::Info) | (1, _) => LevelFilter::INFO,
            (0, Level::Debug) | (2, _) => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        }
    }
}

/// Starts logging text from a level on.
pub(super) fn install(level: LevelFilter) {
    install_as(level, Format::Text);
}

fn install_as(level: LevelFilter, format: Format) {
    // An existing subscriber was installed on purpose.
    drop(tracing::subscriber::set_global_default(subscriber(
        level, format, writer,
    )));
}

/// Whether the log has ended.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Ends the log: later events are dropped.
pub(super) fn end() {
    ENDED.store(true, Ordering::Relaxed);
}

fn writer() -> Box<dyn io::Write> {
    if ENDED.load(Ordering::Relaxed) {
        Box::new(io::sink())
    } else {
        Box::new(io::stderr())
    }
}

fn subscriber<W>(level: LevelFilter, format: Format, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let targets = Targets::new()
        .with_target("kubist", level)
        // Warnings of a server are for the authors of requests; here these are the program's own
        // controllers.
        .with_target("kubist_client::warning", LevelFilter::OFF);
    let registry = tracing_subscriber::registry().with(targets);
    match format {
        Format::Text => Box::new(registry.with(layer().with_ansi(false).with_writer(writer))),
        Format::Json => {
            let layer = layer().json().flatten_event(true).with_current_span(false);
            Box::new(registry.with(layer.with_span_list(false).with_writer(writer)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::io::Write;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(level: LevelFilter, format: Format) -> String {
        let kept = Captured::default();
        let writer = kept.clone();
        let subscriber = subscriber(level, format, move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(target: "kubist_client", name = "web", tries = 2, "cannot list");
            tracing::info!(target: "kubist_apiserver::request", code = 200, "request");
            tracing::error!(target: "h2", "not logged");
            tracing::warn!(target: "kubist_client::warning", "v1 Endpoints is deprecated");
        });
        let bytes = kept.0.lock().clone();
        String::from_utf8(bytes).expect("it is text")
    }

    #[test]
    fn levels_select_events_of_this_project() {
        let text = logged(LevelFilter::WARN, Format::Text);
        assert_eq!(text.lines().count(), 1, "{text}");
        let is_logged = text.contains("WARN kubist_client: cannot list name=\"web\" tries=2");
        assert!(is_logged, "{text}");
        let text = logged(LevelFilter::INFO, Format::Text);
        assert!(
            text.contains("INFO kubist_apiserver::request: request code=200"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn json_is_one_object_on_each_line() {
        let text = logged(LevelFilter::INFO, Format::Json);
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"))
            .collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(lines[0]["level"], "WARN");
        assert_eq!(lines[0]["message"], "cannot list");
        assert_eq!(lines[1]["code"], 200);
        assert_eq!(lines[1]["target"], "kubist_apiserver::request");
    }
}
