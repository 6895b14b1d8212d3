//! `GivenLists`: the empty lists of a request body, for the errors that show them.
//!
//! Decoded objects do not tell an empty list from none, which upstream's errors do: `[]` and
//! `null`. So the error of a body is shown with what the body has. It is looked at only then.

use crate::negotiation::decode;
use bytes::Bytes;
use kubist_apimachinery::{Status, Str};
use kubist_codec::Format;
use memchr::memmem;
use serde_json::Value;

/// How a list that is not there is shown.
const NONE: &str = "Invalid value: null";
/// How an empty one is.
const EMPTY: &str = "Invalid value: []";

/// A body that may have empty lists.
#[derive(Debug)]
pub(crate) struct GivenLists(Option<(Format, Bytes)>);

impl GivenLists {
    /// Keeps a body if it may have an empty list.
    pub(crate) fn of(format: Format, body: &Bytes) -> Self {
        let may_have = format != Format::Protobuf && memmem::find(body, b"[]").is_some();
        Self(may_have.then(|| (format, body.clone())))
    }

    /// Returns the error with the empty lists of the body where it shows none.
    pub(crate) fn shown_in(&self, mut status: Status) -> Status {
        let (Some((format, body)), Some(details)) = (&self.0, &mut status.details) else {
            return status;
        };
        let is_about_none = |message: &str| message.starts_with(NONE);
        if !details.causes.iter().any(|it| is_about_none(&it.message)) {
            return status;
        }
        let given = decode::tree(*format, body);
        for cause in &mut details.causes {
            let given = given.as_ref().and_then(|it| at(it, &cause.field));
            if is_about_none(&cause.message)
                && given.is_some_and(|it| it.as_array().is_some_and(Vec::is_empty))
            {
                cause.message = Str::from(cause.message.replacen(NONE, EMPTY, 1));
                let (none, empty) = (
                    format!("{}: {NONE}", cause.field),
                    format!("{}: {EMPTY}", cause.field),
                );
                status.message = Str::from(status.message.replacen(&none, &empty, 1));
            }
        }
        status
    }
}

/// Returns the value at a path such as `spec.versions[0].name`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, segment| {
        let (name, indexes) = segment.split_once('[').unwrap_or((segment, ""));
        let mut indexes = indexes.split(['[', ']']).filter(|it| !it.is_empty());
        indexes.try_fold(value.get(name)?, |value, index| {
            value.get(index.parse::<usize>().ok()?)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::{BadValue, FieldError, FieldPath, GroupKind};

    fn shown(format: Format, body: &'static str) -> String {
        let path = FieldPath::new("spec").child("versions").index(1);
        let errors = [
            FieldError::invalid(&path.child("names"), BadValue::null(), "too few"),
            FieldError::invalid(&FieldPath::new("names"), BadValue::null(), "too few"),
        ];
        let status = Status::invalid(&GroupKind::new("", "A"), "a", &errors);
        let given = GivenLists::of(format, &Bytes::from_static(body.as_bytes()));
        let status = given.shown_in(status);
        let details = status.details.expect("it is about fields");
        let shown = ["[]", "null"].map(|value| {
            let cause = format!("Invalid value: {value}: too few");
            let text = format!("spec.versions[1].names: {cause}");
            let causes = details.causes.iter().filter(|it| *it.message == *cause);
            (causes.count(), status.message.contains(&text))
        });
        match shown {
            [(1, true), (1, false)] => "empty".to_owned(),
            [(0, false), (2, true)] => "none".to_owned(),
            other => format!("{other:?} in {status:?}", status = status.message),
        }
    }

    #[test]
    fn empty_lists_are_shown_as_they_were_given() {
        for (body, expected) in [
            (r#"{"spec":{"versions":[{},{"names":[]}]}}"#, "empty"),
            (r#"{"spec":{"versions":[{"names":[]},{}]}}"#, "none"),
            (r#"{"spec":{"versions":[[],{"names":null}]}}"#, "none"),
            (r#"{"spec":{"versions":[]}}"#, "none"),
            (r#"{"spec":[]}"#, "none"),
            (r#"{"spec":{"versions":[{},{"names":{}}]}}"#, "none"),
            ("[]", "none"),
        ] {
            assert_eq!(shown(Format::Json, body), expected, "{body}");
        }
        let yaml = "spec:\n  versions:\n  - a: b\n  - names: []\n";
        assert_eq!(shown(Format::Yaml, yaml), "empty");
    }
}
