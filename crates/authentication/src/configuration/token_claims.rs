//! What every token of an issuer must claim: the issuer, an audience, and times that are now.

use super::file::Issuer;
use kubist_apimachinery::Time;
use kubist_apimachinery::go_text::quote;
use serde_json::{Map, Value};
use std::time::Duration;

/// Tolerated clock difference of the beginning, as upstream.
const LEEWAY: Duration = Duration::from_secs(60);
const GOOGLE: &str = "https://accounts.google.com";
const GOOGLE_WITHOUT_SCHEME: &str = "accounts.google.com";

/// Reports whether a token that names an issuer is one of this issuer.
pub(super) fn names(issuer: &str, named: &str) -> bool {
    named == issuer || (issuer == GOOGLE && named == GOOGLE_WITHOUT_SCHEME)
}

/// Checks the claims at `now`, since the Unix epoch.
///
/// # Errors
/// Upstream's words for what is wrong.
pub(super) fn check(
    claims: &Map<String, Value>,
    issuer: &Issuer,
    now: Duration,
) -> Result<(), String> {
    let malformed = |name: &str| format!("oidc: failed to unmarshal claims: {name:?} is malformed");
    let named = match claims.get("iss") {
        None | Some(Value::Null) => "",
        Some(Value::String(named)) => named,
        Some(_) => return Err(malformed("iss")),
    };
    let found = audiences(claims.get("aud")).ok_or_else(|| malformed("aud"))?;
    let [expires, begins, _] = ["exp", "nbf", "iat"].map(|name| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => seconds(value).map(Some).ok_or_else(|| malformed(name)),
    });
    let (expires, begins) = (expires?, begins?);
    if !names(&issuer.url, named) {
        return Err(format!(
            "oidc: id token issued by a different provider, expected {} got {}",
            quote(&issuer.url),
            quote(named)
        ));
    }
    if !issuer
        .audiences
        .iter()
        .any(|it| found.contains(&it.as_str()))
    {
        let wanted = match &issuer.audiences[..] {
            [only] => quote(only),
            several => {
                let mut several: Vec<&str> = several.iter().map(String::as_str).collect();
                several.sort_unstable();
                format!("in {}", list(&several))
            }
        };
        return Err(format!(
            "oidc: expected audience {wanted} got {}",
            list(&found)
        ));
    }
    let seconds_now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if expires.is_none_or(|it| it < seconds_now) {
        let shown = expires.map_or_else(|| "0001-01-01 00:00:00 +0000 UTC".to_owned(), go_time);
        return Err(format!("oidc: token is expired (Token Expiry: {shown})"));
    }
    let tolerated = seconds_now.saturating_add_unsigned(LEEWAY.as_secs());
    if let Some(begins) = begins.filter(|it| tolerated < *it) {
        return Err(format!(
            "oidc: current time {} before the nbf (not before) time: {}",
            go_time(seconds_now),
            go_time(begins)
        ));
    }
    Ok(())
}

/// One text, or a list of them.
fn audiences(claim: Option<&Value>) -> Option<Vec<&str>> {
    match claim {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::String(only)) => Some(vec![only]),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}

/// Seconds may have a fraction, which does not count.
fn seconds(value: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is too large saturates, and is in the far future"
    )]
    let of_float = |it: f64| it as i64;
    value.as_i64().or_else(|| value.as_f64().map(of_float))
}

/// A list of texts as Go prints it.
fn list(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|it| quote(it)).collect();
    format!("[{}]", quoted.join(" "))
}

/// A time as Go prints it.
fn go_time(seconds: i64) -> String {
    let time = Time::from_unix(seconds).to_string();
    let (date, time) = time.split_once('T').unwrap_or((&time, ""));
    format!("{date} {} +0000 UTC", time.trim_end_matches('Z'))
}
