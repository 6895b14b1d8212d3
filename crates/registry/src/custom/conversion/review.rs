//! Conversion reviews: the request of a batch, and the converted objects of an answer.
//!
//! The answer comes from outside the server. Nothing in it is trusted: the review must match the
//! request, and `answer.rs` compares each object with its original.

use kubist_apimachinery::Str;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The versions of reviews that this server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewVersion {
    V1,
    V1beta1,
}

/// The group of reviews.
const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "ConversionReview";
const SUCCESS: &str = "Success";

impl ReviewVersion {
    /// Returns the first of these versions that this server knows.
    pub(crate) fn first_known(accepted: &[Str]) -> Option<Self> {
        let mut accepted = accepted.iter().map(Str::as_str);
        accepted.find_map(|version| match version {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1beta1),
            _ => None,
        })
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1beta1 => "v1beta1",
        }
    }
}

/// Returns the body of a review. `objects` are finished JSON texts.
pub(crate) fn request(
    version: ReviewVersion,
    uid: &str,
    desired: &str,
    objects: &[Vec<u8>],
) -> Vec<u8> {
    let length: usize = objects.iter().map(|it| it.len() + 1).sum();
    let mut body = Vec::with_capacity(length + 256);
    let version = version.as_str();
    let head = format!("{{\"kind\":\"{KIND}\",\"apiVersion\":\"{GROUP}/{version}\",");
    body.extend_from_slice(head.as_bytes());
    // Group, version and uid need no escapes.
    let head = format!(
        "\"request\":{{\"uid\":\"{uid}\",\"desiredAPIVersion\":\"{desired}\",\"objects\":["
    );
    body.extend_from_slice(head.as_bytes());
    for (index, object) in objects.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(object);
    }
    body.extend_from_slice(b"]}}");
    body
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    kind: Option<String>,
    api_version: Option<String>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: Option<String>,
    #[serde(borrow)]
    converted_objects: Option<Vec<&'a RawValue>>,
    result: Option<Outcome>,
}

#[derive(Default, Deserialize)]
struct Outcome {
    status: Option<String>,
    message: Option<String>,
}

/// Returns the converted objects of an answer, as JSON texts.
///
/// # Errors
/// The answer is malformed, belongs to another request, or reports a failure; the text is
/// upstream's.
pub(crate) fn converted_objects<'a>(
    version: ReviewVersion,
    uid: &str,
    answer: &'a [u8],
) -> Result<Vec<&'a RawValue>, String> {
    if answer.is_empty() {
        return Err("0-length response with status code: 200 and content type: ".to_owned());
    }
    let review: Review<'_> = serde_json::from_slice(answer)
        .map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    // Upstream does not check the type and the uid of answers in v1beta1.
    if version == ReviewVersion::V1 {
        check_type(&review)?;
    }
    let response = review.response.ok_or("no response provided")?;
    let found = response.uid.unwrap_or_default();
    if version == ReviewVersion::V1 && found != uid {
        return Err(format!("expected response.uid={uid:?}, got {found:?}"));
    }
    let outcome = response.result.unwrap_or_default();
    let status = outcome.status.unwrap_or_default();
    if status != SUCCESS {
        return Err(match outcome.message {
            Some(message) if !message.is_empty() => message,
            _ => format!("response.result.status was '{status}', not 'Success'"),
        });
    }
    Ok(response.converted_objects.unwrap_or_default())
}

fn check_type(review: &Review<'_>) -> Result<(), String> {
    let api_version = review.api_version.as_deref().unwrap_or_default();
    let kind = review.kind.as_deref().unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    if (group, version, kind) == (GROUP, "v1", KIND) {
        return Ok(());
    }
    Err(format!(
        "expected webhook response of {GROUP}/v1, Kind={KIND}, got {group}/{version}, Kind={kind}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn answer(change: impl FnOnce(&mut Value)) -> Result<usize, String> {
        let mut review = json!({
            "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
            "response": {
                "uid": "u", "result": {"status": "Success"}, "convertedObjects": [{}, {}],
            },
        });
        change(&mut review);
        let text = review.to_string();
        converted_objects(ReviewVersion::V1, "u", text.as_bytes()).map(|it| it.len())
    }

    #[test]
    fn the_first_known_review_version_is_used() {
        let first = |accepted: &[&str]| {
            let accepted: Vec<Str> = accepted.iter().map(|it| (*it).into()).collect();
            ReviewVersion::first_known(&accepted)
        };
        assert_eq!(
            first(&["v2", "v1beta1", "v1"]),
            Some(ReviewVersion::V1beta1)
        );
        assert_eq!(first(&["v1"]), Some(ReviewVersion::V1));
        assert_eq!(first(&["v2"]), None);
        assert_eq!(first(&[]), None);
    }

    #[test]
    fn a_review_has_the_objects_in_order() {
        let objects = [b"{\"a\":1}".to_vec(), b"{\"a\":2}".to_vec()];
        let body = request(ReviewVersion::V1beta1, "u", "example.com/v2", &objects);
        let body: Value = serde_json::from_slice(&body).expect("it is JSON");
        let expected = json!({
            "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1beta1",
            "request": {
                "uid": "u", "desiredAPIVersion": "example.com/v2", "objects": [{"a": 1}, {"a": 2}],
            },
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn an_answer_must_belong_to_the_request_and_report_success() {
        assert_eq!(answer(|_| {}), Ok(2));
        let failed = |change: fn(&mut Value)| answer(change).expect_err("it is refused");
        assert_eq!(
            failed(|it| it["response"] = Value::Null),
            "no response provided"
        );
        assert_eq!(
            failed(|it| it["response"]["uid"] = "x".into()),
            "expected response.uid=\"u\", got \"x\""
        );
        assert_eq!(
            failed(|it| it["kind"] = "Other".into()),
            "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got \
             apiextensions.k8s.io/v1, Kind=Other"
        );
        assert_eq!(
            failed(|it| it["apiVersion"] = Value::Null),
            "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got \
             /, Kind=ConversionReview"
        );
        assert_eq!(
            failed(|it| it["response"]["result"] = json!({"status": "Failure"})),
            "response.result.status was 'Failure', not 'Success'"
        );
        let refused = |it: &mut Value| {
            it["response"]["result"] = json!({"status": "Failure", "message": "no"});
        };
        assert_eq!(failed(refused), "no");
        assert_eq!(
            answer(|it| it["response"]["convertedObjects"] = Value::Null),
            Ok(0)
        );
    }

    #[test]
    fn an_answer_in_v1beta1_needs_no_uid() {
        let text = br#"{"response": {"result": {"status": "Success"}, "convertedObjects": [1]}}"#;
        let found = converted_objects(ReviewVersion::V1beta1, "u", text);
        assert_eq!(found.map(|it| it.len()), Ok(1));
        let found = converted_objects(ReviewVersion::V1, "u", text);
        assert!(found.is_err());
    }
}
