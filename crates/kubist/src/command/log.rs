//! Warnings and errors of the libraries, as lines on standard error.
//!
//! No more than that: no filters, no spans, no colours. Programs that embed the libraries choose a
//! subscriber of their own.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// From here on warnings and errors of this process are written to standard error.
pub(super) fn warnings_to_stderr() {
    // A subscriber that is there already was put there by somebody who wants it.
    drop(tracing::subscriber::set_global_default(Lines));
}

struct Lines;

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Libraries of others say things that their users can do nothing about. What a server says
        // of requests concerns those who write requests; here the program's own controllers do.
        *metadata.level() <= Level::WARN
            && metadata.target().starts_with("kubist")
            && metadata.target() != "kubist_client::warning"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    #[expect(clippy::print_stderr, reason = "this is the command's own output")]
    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        eprintln!("kubist: {}", line.text());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message first, the fields behind it.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Line {
    fn text(self) -> String {
        if self.fields.is_empty() {
            return self.message;
        }
        format!("{} ({})", self.message, self.fields)
    }

    fn field(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if field.name() == "message" {
            self.message = value.to_string();
            return;
        }
        let comma = if self.fields.is_empty() { "" } else { ", " };
        write!(self.fields, "{comma}{}: {value}", field.name())
            .expect("a string takes what it is given");
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.field(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut cause = value.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        self.field(field, format_args!("{text}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::sync::Arc;

    /// Keeps the lines that `Lines` would write.
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Subscriber for Kept {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            Lines.enabled(metadata)
        }
        fn new_span(&self, attributes: &Attributes<'_>) -> Id {
            Lines.new_span(attributes)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let mut line = Line::default();
            event.record(&mut line);
            self.0.lock().push(line.text());
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn an_event_is_its_message_with_the_fields_behind_it() {
        let lines = Arc::default();
        tracing::subscriber::with_default(Kept(Arc::clone(&lines)), || {
            tracing::warn!(target: "kubist_client", name = "web", tries = 2, "cannot list");
            tracing::error!(target: "kubist", "stopped");
            tracing::info!(target: "kubist", "not told");
            tracing::warn!(target: "h2", "not told");
            tracing::warn!(target: "kubist_client::warning", "v1 Endpoints is deprecated");
        });
        assert_eq!(
            *lines.lock(),
            ["cannot list (name: web, tries: 2)", "stopped"]
        );
    }
}
