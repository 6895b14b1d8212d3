//! Validation of container stop signals. In upstream, the field belongs to a gate that is off by
//! default, so only stored values are checked.

use crate::shared::rules::{self, Errors};
use kubist_api::core::v1::PodSpec;
use kubist_apimachinery::{FieldError, FieldPath};

/// The named signals of Linux, including both ends of the real-time range.
const NAMED: [&str; 36] = [
    "SIGABRT",
    "SIGALRM",
    "SIGBUS",
    "SIGCHLD",
    "SIGCLD",
    "SIGCONT",
    "SIGFPE",
    "SIGHUP",
    "SIGILL",
    "SIGINT",
    "SIGIO",
    "SIGIOT",
    "SIGKILL",
    "SIGPIPE",
    "SIGPOLL",
    "SIGPROF",
    "SIGPWR",
    "SIGQUIT",
    "SIGRTMAX",
    "SIGRTMIN",
    "SIGSEGV",
    "SIGSTKFLT",
    "SIGSTOP",
    "SIGSYS",
    "SIGTERM",
    "SIGTRAP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGUSR1",
    "SIGUSR2",
    "SIGVTALRM",
    "SIGWINCH",
    "SIGXCPU",
    "SIGXFSZ",
];
/// Signals of the real-time range, counted from its start and from its end.
const AFTER_START_MAX: u32 = 15;
const BEFORE_END_MAX: u32 = 14;

/// Checks that the Pod's operating system has the signal.
pub(crate) fn check(errors: &mut Errors, signal: &str, spec: &PodSpec, path: &FieldPath) {
    match spec.os.as_deref().map(|it| it.name.as_str()) {
        None => {
            let detail = "may not be set for containers with empty `spec.os.name`";
            errors.push(FieldError::forbidden(path, detail));
        }
        Some("windows") => rules::one_of(errors, signal, &["SIGKILL", "SIGTERM"], path),
        Some("linux") => {
            let supported = of_linux();
            if supported.iter().all(|it| it != signal) {
                errors.push(FieldError::not_supported(path, signal, &supported));
            }
        }
        Some(_) => {}
    }
}

/// Returns all signals of Linux, sorted.
fn of_linux() -> Vec<String> {
    let named = NAMED.map(str::to_owned).into_iter();
    let after = (1..=AFTER_START_MAX).map(|number| format!("SIGRTMIN+{number}"));
    let before = (1..=BEFORE_END_MAX).map(|number| format!("SIGRTMAX-{number}"));
    let mut all: Vec<String> = named.chain(after).chain(before).collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::PodOS;

    fn problems(signal: &str, os: Option<&str>) -> Vec<String> {
        let os = os.map(|name| Box::new(PodOS { name: name.into() }));
        let spec = PodSpec {
            os,
            ..PodSpec::default()
        };
        let mut errors = Vec::new();
        check(&mut errors, signal, &spec, &FieldPath::new("stopSignal"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_signal_is_one_of_the_operating_system() {
        assert_eq!(of_linux().len(), 65);
        assert_eq!(problems("SIGRTMIN+15", Some("linux")), [""; 0]);
        assert_eq!(problems("SIGTERM", Some("windows")), [""; 0]);
        assert_eq!(
            problems("SIGHUP", Some("windows")),
            [
                "stopSignal: Unsupported value: \"SIGHUP\": supported values: \"SIGKILL\", \
              \"SIGTERM\""
            ]
        );
        assert_eq!(
            problems("SIGTERM", None),
            ["stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"]
        );
        assert_eq!(problems("TERM", Some("linux")).len(), 1);
    }
}
