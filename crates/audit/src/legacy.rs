//! The text form of events: one line with a few of the fields, upstream's log format `legacy`.

use crate::event::Event;
use kubist_apimachinery::Str;
use kubist_apimachinery::go_text::quote;
use serde::Deserialize;

/// What a legacy line shows of the status of a response.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    code: i64,
}

impl Event {
    /// Returns the event as a line of text, as upstream's log format `legacy`. It has neither
    /// bodies nor annotations.
    ///
    /// ```
    /// # use kubist_audit::{Event, Level, Stage, UserInfo};
    /// # let event = Event {
    /// #     kind: "Event", api_version: "audit.k8s.io/v1", level: Level::Metadata,
    /// #     audit_id: "a".to_owned(), stage: Stage::RequestReceived,
    /// #     request_uri: "/version".to_owned(), verb: "get".to_owned(),
    /// #     user: UserInfo { username: "eve".into(), ..UserInfo::default() },
    /// #     impersonated_user: None, authentication_metadata: Default::default(),
    /// #     source_ips: Vec::new(), user_agent: String::new(),
    /// #     object_ref: None, response_status: None, request_object: None,
    /// #     response_object: None, request_received_timestamp: Default::default(),
    /// #     stage_timestamp: Default::default(), annotations: Default::default(),
    /// # };
    /// let line = event.legacy_line();
    /// assert!(line.contains(r#" AUDIT: id="a" stage="RequestReceived" ip="<unknown>""#));
    /// ```
    pub fn legacy_line(&self) -> String {
        let or = |text: &str, none: &str| {
            let text = if text.is_empty() { none } else { text };
            quote(text)
        };
        let user = &self.user;
        let groups = match &*user.username {
            "" => String::new(),
            _ => list(&user.groups),
        };
        let (as_user, as_groups) = match &self.impersonated_user {
            None => (quote("<self>"), quote("<lookup>")),
            Some(other) => (quote(&other.username), or(&list(&other.groups), "<lookup>")),
        };
        let about = self.object_ref.as_ref();
        let answer = self.response_status.as_ref();
        let answer = answer.and_then(|it| serde_json::from_str::<Answer>(it.get()).ok());
        let answer = answer.map_or_else(|| "<deferred>".to_owned(), |it| it.code.to_string());
        format!(
            "{} AUDIT: id={} stage={} ip={} method={} user={} groups={} as={as_user} \
             asgroups={as_groups} user-agent={} namespace={} uri={} response=\"{answer}\"",
            trimmed(&self.request_received_timestamp.to_string()),
            quote(&self.audit_id),
            quote(self.stage.name()),
            or(self.source_ips.first().map_or("", |it| it), "<unknown>"),
            quote(&self.verb),
            or(&user.username, "<none>"),
            or(&groups, "<none>"),
            quote(&self.user_agent),
            or(about.map_or("", |it| &it.namespace), "<none>"),
            quote(&self.request_uri),
        )
    }
}

/// Returns the quoted texts with commas between them, which the line quotes again.
fn list(texts: &[Str]) -> String {
    let texts: Vec<String> = texts.iter().map(|it| quote(it)).collect();
    texts.join(",")
}

/// Returns a time without zeros at the end of its fraction.
fn trimmed(time: &str) -> String {
    let Some((whole, fraction)) = time.trim_end_matches('Z').split_once('.') else {
        return time.to_owned();
    };
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}Z"),
        fraction => format!("{whole}.{fraction}Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{AuthenticationMetadata, ObjectReference, UserInfo};
    use crate::level::{Level, Stage};
    use kubist_apimachinery::MicroTime;
    use std::collections::BTreeMap;

    #[test]
    fn a_line_has_the_fields_in_upstreams_order() {
        let mut event = Event {
            kind: "Event",
            api_version: "audit.k8s.io/v1",
            level: Level::Metadata,
            audit_id: "id".to_owned(),
            stage: Stage::RequestReceived,
            request_uri: "/api/v1/namespaces/ns/pods".to_owned(),
            verb: "list".to_owned(),
            user: UserInfo::default(),
            impersonated_user: None,
            authentication_metadata: AuthenticationMetadata::default(),
            source_ips: Vec::new(),
            user_agent: "curl".to_owned(),
            object_ref: None,
            response_status: None,
            request_object: None,
            response_object: None,
            request_received_timestamp: MicroTime::from_unix(0, 120_000_000),
            stage_timestamp: MicroTime::from_unix(0, 0),
            annotations: BTreeMap::new(),
        };
        assert_eq!(
            event.legacy_line(),
            "1970-01-01T00:00:00.12Z AUDIT: id=\"id\" stage=\"RequestReceived\" ip=\"<unknown>\" \
             method=\"list\" user=\"<none>\" groups=\"<none>\" as=\"<self>\" \
             asgroups=\"<lookup>\" user-agent=\"curl\" namespace=\"<none>\" \
             uri=\"/api/v1/namespaces/ns/pods\" response=\"<deferred>\""
        );
        event.user.username = "eve".into();
        event.user.groups = vec!["a".into(), "b".into()];
        event.impersonated_user = Some(UserInfo {
            username: "bob".into(),
            ..UserInfo::default()
        });
        event.object_ref = Some(ObjectReference {
            namespace: "ns".to_owned(),
            ..ObjectReference::default()
        });
        let status = serde_json::value::to_raw_value(&serde_json::json!({"code": 200}));
        event.response_status = status.ok();
        event.request_received_timestamp = MicroTime::from_unix(1, 0);
        let line = event.legacy_line();
        assert!(line.starts_with("1970-01-01T00:00:01Z AUDIT"), "{line}");
        let end = "user=\"eve\" groups=\"\\\"a\\\",\\\"b\\\"\" as=\"bob\" asgroups=\"<lookup>\" \
                   user-agent=\"curl\" namespace=\"ns\" uri=\"/api/v1/namespaces/ns/pods\" \
                   response=\"200\"";
        assert!(line.ends_with(end), "{line}");
    }
}
