//! Runs `testdata/*.txt`: inputs, each followed by the machine's actions (`> …`). `UPDATE_EXPECT=1`
//! rewrites the expected lines.

use kubist_cache::{FetchError, ListEnd};
use kubist_reflector::{
    Action, Config, Event, InitialSync, Machine, PageEnd, Recovery, WatchEnd, WatchOutcome,
};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

#[test]
fn the_recovery_scripts_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    scripts.sort();
    assert!(scripts.len() >= 5, "{scripts:?}");
    #[expect(
        clippy::disallowed_methods,
        reason = "a developer's switch, as the style asks for"
    )]
    let update = std::env::var("UPDATE_EXPECT").is_ok();
    for path in scripts {
        let script = std::fs::read_to_string(&path).expect("it is text");
        let found = run(&script);
        if update {
            std::fs::write(&path, found).expect("it can be written");
        } else {
            assert_eq!(found, script, "{}", path.display());
        }
    }
}

/// Returns the script with its actual `>` lines.
fn run(script: &str) -> String {
    let mut out = String::new();
    let mut machine = Machine::new(Config::default(), 1);
    let mut now = Duration::ZERO;
    for line in script.lines().filter(|line| !line.starts_with('>')) {
        writeln!(out, "{line}").expect("memory");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        if let Some(observed) = tell(&mut machine, &mut now, &words) {
            writeln!(out, "> {observed}").expect("memory");
        }
        let action = machine.action(now);
        writeln!(out, "> {}", show(&action, now)).expect("memory");
    }
    out
}

fn tell(machine: &mut Machine, now: &mut Duration, words: &[&str]) -> Option<String> {
    let value = |key: &str| {
        words
            .iter()
            .find_map(|word| word.strip_prefix(key))
            .unwrap_or("")
    };
    let recovery = |it: Recovery| Some(format!("{it:?}").to_lowercase());
    let ended = |it: WatchOutcome| recovery(it.recovery);
    match words[0] {
        "start" => {
            let mut config = Config {
                page_size: value("page-size=").parse().ok(),
                ..Config::default()
            };
            if words.contains(&"paged") {
                config.initial_sync = InitialSync::ListThenWatch;
            }
            let window = value("internal-window=").parse();
            config.internal_error_retry = Duration::from_secs(window.unwrap_or_default());
            *machine = Machine::new(config, 1);
            None
        }
        "after" => {
            *now += Duration::from_secs_f64(words[1].parse().expect("seconds"));
            None
        }
        "pause-over" => {
            if let Action::Pause { until } = machine.action(*now) {
                *now = until;
            }
            None
        }
        "page" => {
            let end = ListEnd {
                resource_version: value("rv=").into(),
                continue_token: value("continue=").into(),
                remaining: None,
            };
            match machine.page_complete(&end) {
                PageEnd::More => None,
                PageEnd::Complete => Some(format!("replace @{}", machine.version())),
                PageEnd::Stale => Some("stale".to_owned()),
            }
        }
        "items" => {
            machine.list_goes_on(*now);
            None
        }
        "list-silent" => recovery(machine.list_silent(*now)),
        "list-failed" => recovery(machine.list_failed(*now, &error(words[1]))),
        "opened" => {
            machine.watch_opened(*now);
            None
        }
        "closed" => ended(machine.watch_ended(*now, &WatchEnd::Clean)),
        "silent" => ended(machine.watch_ended(*now, &WatchEnd::Silent)),
        "watch-failed" => ended(machine.watch_ended(*now, &WatchEnd::Failed(&error(words[1])))),
        "added" => verdict(machine, *now, Event::Added(words[1])),
        "modified" => verdict(machine, *now, Event::Modified(words[1])),
        "deleted" => verdict(machine, *now, Event::Deleted(words[1])),
        "lost" => verdict(machine, *now, Event::Lost),
        "bookmark" => {
            let initial_events_end = words.contains(&"end");
            verdict(machine, *now, bookmark(words[1], initial_events_end))
        }
        word => panic!("{word}?"),
    }
}

fn bookmark(version: &str, initial_events_end: bool) -> Event<'_> {
    Event::Bookmark {
        version,
        initial_events_end,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as the other answers of `tell`")]
fn verdict(machine: &mut Machine, now: Duration, event: Event<'_>) -> Option<String> {
    let verdict = machine.event(now, event);
    Some(format!("{verdict:?} @{}", machine.version()).to_lowercase())
}

fn show(action: &Action, now: Duration) -> String {
    let version = |version: &str| {
        if version.is_empty() {
            "\"\"".into()
        } else {
            version.to_owned()
        }
    };
    match action {
        Action::List(list) => {
            let mut text = format!("list rv={}", version(list.resource_version.as_str()));
            write!(text, " limit={}", list.limit).expect("memory");
            if !list.continue_token.is_empty() {
                write!(text, " continue={}", list.continue_token).expect("memory");
            }
            text
        }
        Action::Watch(watch) => {
            let kind = if watch.send_initial_events {
                "streaming list"
            } else {
                "watch"
            };
            assert!(watch.bookmarks);
            let timeout = watch.timeout.expect("always asked for").as_secs();
            assert!((300..600).contains(&timeout));
            format!("{kind} rv={}", version(watch.resource_version.as_str()))
        }
        Action::Read { deadline } => {
            let seconds = deadline.saturating_sub(now).as_secs();
            if seconds > 120 {
                "read, minutes".to_owned()
            } else {
                format!("read, at most {seconds} s")
            }
        }
        Action::Pause { until } => {
            format!("pause {:.1} s", until.saturating_sub(now).as_secs_f64())
        }
    }
}

pub(crate) fn error(word: &str) -> FetchError {
    let message = word.into();
    let (word, seconds) = word.split_once(':').unwrap_or((word, ""));
    let retry_after = seconds.parse().ok().map(Duration::from_secs);
    match word {
        "expired" => FetchError::Expired { message },
        "too-large" => FetchError::TooLargeResourceVersion { retry_after },
        "throttled" => FetchError::Throttled { retry_after },
        "refused" => FetchError::ConnectionRefused {
            source: std::sync::Arc::new(Refused),
        },
        "cut" => FetchError::Connection {
            source: std::sync::Arc::new(Refused),
        },
        "not-served" => FetchError::NotServed { message },
        "forbidden" => FetchError::Forbidden { message },
        "invalid" => FetchError::Invalid { message },
        "internal" => FetchError::Internal {
            message,
            retry_after,
        },
        "table" => FetchError::UnexpectedKind {
            kind: "Table".into(),
        },
        word => panic!("{word}?"),
    }
}

#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("refused")
    }
}

impl std::error::Error for Refused {}
