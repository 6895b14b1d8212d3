//! The query options of Pod logs, which are parsed and validated before anything is looked up.

use crate::request::query::Query;
use kubist_apimachinery::{FieldError, FieldPath, GroupKind, Status, Time};

/// The options of a request for logs.
#[derive(Debug, Default)]
pub(super) struct LogOptions {
    pub(super) follows: bool,
    /// The query for a kubelet.
    pub(super) query: Vec<(&'static str, String)>,
    /// Whether any certificate of the kubelet will do.
    pub(super) unverified: bool,
}

/// Parses and validates the log options of a Pod.
///
/// # Errors
/// 400 for malformed values, 422 for invalid ones.
pub(super) fn parse(query: &Query, pod: &str) -> Result<LogOptions, Status> {
    let since_seconds = number(query, "sinceSeconds")?;
    let since_time = time(query, "sinceTime")?;
    let tail_lines = number(query, "tailLines")?;
    let limit_bytes = number(query, "limitBytes")?;
    let mut errors = Vec::new();
    let mut at_least = |least: i64, name: &str, value: Option<i64>| {
        if let Some(value) = value.filter(|it| *it < least) {
            let detail = match least {
                0 => "must be greater than or equal to 0",
                _ => "must be greater than 0",
            };
            errors.push(FieldError::invalid(&FieldPath::new(name), value, detail));
        }
    };
    at_least(0, "tailLines", tail_lines);
    at_least(1, "limitBytes", limit_bytes);
    let both = since_seconds.is_some() && since_time.is_some();
    if !both {
        at_least(1, "sinceSeconds", since_seconds);
    }
    if both {
        let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
        // Upstream's display of an empty path.
        errors.push(FieldError::forbidden(&FieldPath::new("[]"), detail));
    }
    if query.has("stream") {
        let path = FieldPath::new("stream");
        errors.push(FieldError::forbidden(&path, "may not be specified"));
    }
    if errors.is_empty() {
        let flags = ["follow", "previous", "timestamps"];
        let flags = flags.into_iter().filter(|it| query.flag(it));
        let flags = flags.map(|it| (it, "true".to_owned()));
        let numbers = [
            ("sinceSeconds", since_seconds),
            ("tailLines", tail_lines),
            ("limitBytes", limit_bytes),
        ];
        let numbers = numbers.into_iter();
        let numbers = numbers.filter_map(|(name, it)| Some((name, it?.to_string())));
        let time = since_time.map(|it| ("sinceTime", it.to_string()));
        return Ok(LogOptions {
            follows: query.flag("follow"),
            query: flags.chain(numbers).chain(time).collect(),
            unverified: query.flag("insecureSkipTLSVerifyBackend"),
        });
    }
    let kind = GroupKind::new("", "PodLogOptions");
    Err(Status::invalid(&kind, pod, &errors))
}

/// Parses an integer, with upstream's error.
fn number(query: &Query, name: &str) -> Result<Option<i64>, Status> {
    let Some(text) = query.first(name) else {
        return Ok(None);
    };
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let why = match text.parse() {
        Ok(number) => return Ok(Some(number)),
        Err(_) if is_number => "value out of range",
        Err(_) => "invalid syntax",
    };
    Err(Status::bad_request(format!(
        "strconv.ParseInt: parsing {text:?}: {why}"
    )))
}

/// Parses a time; empty is none.
fn time(query: &Query, name: &str) -> Result<Option<Time>, Status> {
    match query.first(name) {
        None | Some("" | "null") => Ok(None),
        Some(text) => {
            let parsed: Result<Time, _> = text.parse();
            parsed
                .map(Some)
                .map_err(|error| Status::bad_request(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(query: &str) -> Option<(i32, String)> {
        let status = parse(&Query::parse(Some(query)), "p").err()?;
        Some((status.code, status.message.to_string()))
    }

    #[test]
    fn options_are_read_and_checked_in_upstreams_words() {
        for fine in [
            "",
            "tailLines=0&limitBytes=1&sinceSeconds=1",
            "sinceTime=",
            "follow=maybe",
        ] {
            assert_eq!(refusal(fine), None, "{fine}");
        }
        for (query, code, message) in [
            (
                "tailLines=",
                400,
                "strconv.ParseInt: parsing \"\": invalid syntax",
            ),
            (
                "tailLines=1.5",
                400,
                "strconv.ParseInt: parsing \"1.5\": invalid syntax",
            ),
            (
                "sinceSeconds=99999999999999999999",
                400,
                "strconv.ParseInt: parsing \"99999999999999999999\": value out of range",
            ),
            (
                "sinceTime=x&tailLines=-1",
                400,
                "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
            ),
            (
                "tailLines=-1&limitBytes=0&sinceSeconds=0&stream=Stdout",
                422,
                "PodLogOptions \"p\" is invalid: [tailLines: Invalid value: -1: must be greater \
                 than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, \
                 sinceSeconds: Invalid value: 0: must be greater than 0, stream: Forbidden: may \
                 not be specified]",
            ),
            (
                "sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z",
                422,
                "PodLogOptions \"p\" is invalid: []: Forbidden: at most one of `sinceTime` or \
                 `sinceSeconds` may be specified",
            ),
        ] {
            assert_eq!(refusal(query), Some((code, message.to_owned())), "{query}");
        }
    }

    #[test]
    fn a_kubelet_gets_the_options_that_are_set() {
        let query =
            "follow=true&previous=false&tailLines=%2B5&sinceTime=2020-01-01T01:00:00%2B01:00";
        let options = parse(&Query::parse(Some(query)), "p").expect("it is valid");
        assert!(options.follows && !options.unverified);
        let expected = [
            ("follow", "true"),
            ("tailLines", "5"),
            ("sinceTime", "2020-01-01T00:00:00Z"),
        ];
        assert_eq!(
            options.query,
            expected.map(|(name, it)| (name, it.to_owned()))
        );
    }
}
