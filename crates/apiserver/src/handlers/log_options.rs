//! The query options of Pod logs, which are parsed and validated before anything is looked up.
//!
//! There are no logs behind this server, so the options have no further use.

use crate::request::query::Query;
use kubist_apimachinery::{FieldError, FieldPath, GroupKind, Status, Time};

/// Validates the log options of a Pod.
///
/// # Errors
/// 400 for malformed values, 422 for invalid ones.
pub(super) fn check(query: &Query, pod: &str) -> Result<(), Status> {
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
    let both = since_seconds.is_some() && since_time;
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
        return Ok(());
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

/// Parses a time and reports whether there is one; empty is none.
fn time(query: &Query, name: &str) -> Result<bool, Status> {
    match query.first(name) {
        None | Some("" | "null") => Ok(false),
        Some(text) => {
            let parsed: Result<Time, _> = text.parse();
            let parsed = parsed.map_err(|error| Status::bad_request(error.to_string()));
            parsed.map(|_| true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(query: &str) -> Option<(i32, String)> {
        let status = check(&Query::parse(Some(query)), "p").err()?;
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
}
