//! List and watch options: queries, the table of positions, and what is refused.

use super::*;

fn options(query: &str) -> Result<ListOptions, OptionsError> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    ListOptions::from_query(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))))
}

fn list(query: &str) -> Result<ListPosition, (i32, String)> {
    let position = options(query).and_then(|options| options.list_position());
    position.map_err(|error| answer(&error))
}

fn watch(query: &str) -> Result<WatchPosition, (i32, String)> {
    let position = options(query).and_then(|options| options.watch_position());
    position.map_err(|error| answer(&error))
}

fn answer(error: &OptionsError) -> (i32, String) {
    let status = error.to_status();
    (status.code, status.message.to_string())
}

#[test]
fn queries_are_read_and_written() {
    let full = "labelSelector=a in (b)&fieldSelector=metadata.name=x&watch=true\
                &allowWatchBookmarks=true&resourceVersion=5&resourceVersionMatch=NotOlderThan\
                &timeoutSeconds=7&limit=3&continue=tok&sendInitialEvents=false";
    let parsed = options(full).expect("all are fine by themselves");
    let written: Vec<String> = parsed
        .to_query()
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    assert_eq!(written.join("&"), full);
    assert_eq!(ListOptions::default().to_query(), []);
    assert_eq!(
        options("unknown=1&limit=2&limit=x").map(|it| it.limit),
        Ok(2)
    );
}

#[test]
fn flags_are_true_unless_they_say_no() {
    for (query, expected) in [
        ("", false),
        ("watch", true),
        ("watch=", true),
        ("watch=1", true),
        ("watch=no", true),
        ("watch=0", false),
        ("watch=False", false),
    ] {
        assert_eq!(options(query).map(|it| it.watch), Ok(expected), "{query}");
    }
    assert_eq!(
        options("sendInitialEvents=0").map(|it| it.send_initial_events),
        Ok(Some(false))
    );
}

#[test]
fn bad_values_are_bad_requests() {
    for (query, expected) in [
        ("limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ("limit=", "strconv.ParseInt: parsing \"\": invalid syntax"),
        (
            "labelSelector==&timeoutSeconds=y",
            "strconv.ParseInt: parsing \"y\": invalid syntax",
        ),
        (
            "labelSelector=a,,",
            "found ',', expected: identifier after ','",
        ),
        (
            "fieldSelector=foo",
            "invalid selector: 'foo'; can't understand 'foo'",
        ),
        (
            "continue=x&resourceVersion=5",
            "specifying resource version is not allowed when using continue",
        ),
    ] {
        assert_eq!(list(query), Err((400, expected.to_owned())));
    }
}

#[test]
fn a_list_reads_where_upstream_reads() {
    use ListPosition::{Any, Continue, Exact, MostRecent, NotOlderThan};
    for (query, expected) in [
        ("", MostRecent),
        ("limit=5", MostRecent),
        ("resourceVersion=0", Any),
        ("resourceVersion=0&limit=5", Any),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan", Any),
        ("resourceVersion=7", NotOlderThan("7".into())),
        (
            "resourceVersion=7&limit=5",
            Exact {
                version: "7".into(),
                legacy: true,
            },
        ),
        (
            "resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan",
            NotOlderThan("7".into()),
        ),
        (
            "resourceVersion=7&resourceVersionMatch=Exact",
            Exact {
                version: "7".into(),
                legacy: false,
            },
        ),
        ("continue=tok", Continue("tok".into())),
        (
            "continue=tok&resourceVersion=0&limit=5",
            Continue("tok".into()),
        ),
    ] {
        assert_eq!(list(query), Ok(expected), "{query}");
    }
}

#[test]
fn a_list_refuses_what_upstream_refuses() {
    for (query, expected) in [
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless \
             resourceVersion is provided",
        ),
        (
            "resourceVersionMatch=Exact&resourceVersion=0",
            "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for \
             resourceVersion \"0\"",
        ),
        (
            "resourceVersionMatch=Foo&resourceVersion=1",
            "resourceVersionMatch: Unsupported value: \"Foo\": supported values: \"Exact\", \
             \"NotOlderThan\", \"\"",
        ),
        (
            "resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is \
             provided",
        ),
        (
            "sendInitialEvents=true",
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
    ] {
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {expected}");
        assert_eq!(list(query), Err((422, message)));
    }
}

#[test]
fn a_watch_begins_where_upstream_begins() {
    use WatchPosition::{After, Any, Initial, MostRecent};
    let initial = |version: &str, end_bookmark| {
        Ok(Initial {
            not_older_than: version.into(),
            end_bookmark,
        })
    };
    let streaming = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let silent = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    for (query, expected) in [
        (String::new(), initial("", false)),
        ("resourceVersion=0".to_owned(), initial("0", false)),
        ("allowWatchBookmarks=true".to_owned(), initial("", true)),
        (
            format!("{streaming}&allowWatchBookmarks=1"),
            initial("", true),
        ),
        (
            format!("{streaming}&resourceVersion=9"),
            initial("9", false),
        ),
        (silent.to_owned(), Ok(MostRecent)),
        (format!("{silent}&resourceVersion=0"), Ok(Any)),
        (format!("{silent}&resourceVersion=9"), Ok(After("9".into()))),
        ("resourceVersion=9".to_owned(), Ok(After("9".into()))),
        (
            "resourceVersion=9&continue=x".to_owned(),
            Ok(After("9".into())),
        ),
    ] {
        assert_eq!(watch(&query), expected, "{query}");
    }
}

#[test]
fn a_watch_refuses_what_upstream_refuses() {
    for (query, expected) in [
        (
            "sendInitialEvents=true",
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
             resourceVersionMatch to NotOlderThan",
        ),
        (
            "resourceVersionMatch=NotOlderThan",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless \
             sendInitialEvents is provided",
        ),
        (
            "sendInitialEvents=true&resourceVersionMatch=Exact",
            "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
             resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: \
             \"Exact\": supported values: \"NotOlderThan\"]",
        ),
        (
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is \
             provided",
        ),
        (
            "resourceVersion=0&continue=x",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is \
             provided",
        ),
    ] {
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {expected}");
        assert_eq!(watch(query), Err((422, message)));
    }
}
