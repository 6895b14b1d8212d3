//! What goes wrong in a watch, as sentences on standard error.

use std::error::Error;

use kubist_informers::{Problem, Report};
use parking_lot::Mutex;

/// Tells problems; one that repeats is told once.
#[derive(Debug, Default)]
pub(super) struct Problems {
    last: Mutex<String>,
}

impl Problems {
    #[expect(clippy::print_stderr, reason = "this is the command's own output")]
    pub(super) fn tell(&self, problem: &Problem) {
        let text = describe(problem);
        let mut last = self.last.lock();
        if *last != text {
            eprintln!("kubist: {text}");
            *last = text;
        }
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
