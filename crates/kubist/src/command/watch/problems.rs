//! What goes wrong in a watch, as sentences: on standard error, or kept for whoever draws the
//! screen, which lines in between would tear.

use std::error::Error;
use std::time::Duration;

use kubist_informers::{Problem, Report};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Tells problems; one that repeats is told once.
#[derive(Debug)]
pub(super) struct Problems {
    last: Mutex<Option<(String, Instant)>>,
    on_stderr: bool,
}

impl Problems {
    /// Tells them on standard error.
    pub(super) fn on_stderr() -> Self {
        Self {
            last: Mutex::default(),
            on_stderr: true,
        }
    }

    /// Keeps the last one.
    pub(super) fn kept() -> Self {
        Self {
            last: Mutex::default(),
            on_stderr: false,
        }
    }

    #[expect(clippy::print_stderr, reason = "this is the command's own output")]
    pub(super) fn tell(&self, problem: &Problem) {
        let text = describe(problem);
        let mut last = self.last.lock();
        let repeats = last.as_ref().is_some_and(|(before, _)| *before == text);
        if self.on_stderr && !repeats {
            eprintln!("kubist: {text}");
        }
        *last = Some((text, Instant::now()));
    }

    /// The last one, and how long ago it came.
    pub(super) fn last(&self) -> Option<(String, Duration)> {
        let last = self.last.lock();
        last.as_ref().map(|(text, at)| (text.clone(), at.elapsed()))
    }
}

fn describe(problem: &Problem) -> String {
    match problem {
        Problem::Fetch(Report::ListFailed(error)) => {
            format!("cannot list, and tries again: {}", chain(error))
        }
        Problem::Fetch(Report::WatchFailed(error, _)) => {
            format!("the watch failed, and begins again: {}", chain(error))
        }
        Problem::Fetch(Report::WatchTooShort) => {
            "the server ends watches as soon as they begin; trying again".to_owned()
        }
        Problem::Fetch(Report::WatchSilent(_)) => {
            "the server has been silent for too long; the watch begins again".to_owned()
        }
        Problem::Fetch(Report::Invalid(item)) => {
            let name = item
                .name
                .as_ref()
                .map_or_else(|| "an object".to_owned(), ToString::to_string);
            format!(
                "{name} cannot be read and is left out: {}",
                chain(&item.error)
            )
        }
        other => format!("{other:?}"),
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectName;
    use kubist_apimachinery::wire::WireErrorKind;
    use kubist_cache::InvalidItem;

    #[test]
    fn the_last_problem_is_kept_for_the_screen() {
        let problems = Problems::kept();
        assert!(problems.last().is_none());
        problems.tell(&Problem::Fetch(Report::WatchTooShort));
        let (text, age) = problems.last().unwrap();
        assert!(text.contains("trying again"), "{text}");
        assert!(age < Duration::from_secs(60));
    }

    #[test]
    fn an_object_that_cannot_be_read_is_named_with_the_reason() {
        let reason = "no quantity".to_owned();
        let item = InvalidItem {
            name: Some(ObjectName::new("shop", "web-0")),
            error: WireErrorKind::Invalid { reason }.into(),
        };
        let text = describe(&Problem::Fetch(Report::Invalid(item)));
        assert!(text.starts_with("shop/web-0 cannot be read"), "{text}");
        assert!(text.contains("no quantity"), "{text}");
    }
}
