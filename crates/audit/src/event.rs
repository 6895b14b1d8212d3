//! `Event`: what is recorded of a request at a stage, as JSON of `audit.k8s.io/v1`.

use crate::level::{Level, Stage};
use kubist_apimachinery::{MicroTime, Str};
use kubist_authorization::User;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What is recorded of a request at a stage.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "servers fill it in")]
pub struct Event {
    /// `Event`.
    pub kind: &'static str,
    /// `audit.k8s.io/v1`.
    pub api_version: &'static str,
    /// How much is recorded.
    pub level: Level,
    /// The same for all stages of a request.
    #[serde(rename = "auditID")]
    pub audit_id: String,
    /// The moment of the request.
    pub stage: Stage,
    /// Path and query, as they were sent.
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    /// The verb.
    pub verb: String,
    /// Who asked.
    pub user: UserInfo,
    /// Whom the user impersonates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impersonated_user: Option<UserInfo>,
    /// What permitted that.
    #[serde(skip_serializing_if = "AuthenticationMetadata::is_empty")]
    pub authentication_metadata: AuthenticationMetadata,
    /// Where the request came from.
    #[serde(rename = "sourceIPs", skip_serializing_if = "Vec::is_empty")]
    pub source_ips: Vec<String>,
    /// The program that asked, as it says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// What it is about, if it is about a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_ref: Option<ObjectReference>,
    /// The status of the response; a whole `Status` if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_status: Option<Box<RawValue>>,
    /// The body of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_object: Option<Box<RawValue>>,
    /// The body of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_object: Option<Box<RawValue>>,
    /// When the request was received.
    pub request_received_timestamp: MicroTime,
    /// When the stage was reached.
    pub stage_timestamp: MicroTime,
    /// What authorization and admission add.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<Str, Str>,
}

/// A user, in events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "servers fill it in")]
pub struct UserInfo {
    /// The name.
    #[serde(skip_serializing_if = "is_empty")]
    pub username: Str,
    /// The uid.
    #[serde(skip_serializing_if = "is_empty")]
    pub uid: Str,
    /// The groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Str>,
    /// Further attributes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl From<&User> for UserInfo {
    fn from(user: &User) -> Self {
        Self {
            username: user.name.clone(),
            uid: user.uid.clone(),
            groups: user.groups.clone(),
            extra: user.extra.clone(),
        }
    }
}

/// How a request was authenticated, in events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "servers fill it in")]
pub struct AuthenticationMetadata {
    /// The constrained verb that permitted the impersonation, such as `impersonate:user-info`;
    /// empty for `impersonate`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub impersonation_constraint: String,
}

impl AuthenticationMetadata {
    fn is_empty(&self) -> bool {
        self.impersonation_constraint.is_empty()
    }
}

/// What a request is about, in events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "servers fill it in")]
pub struct ObjectReference {
    /// The plural name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// The namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The uid, once it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    /// The version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The resource version of the request's body.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The subresource.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

fn is_empty(text: &Str) -> bool {
    text.is_empty()
}
