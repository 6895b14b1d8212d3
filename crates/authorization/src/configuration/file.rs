//! The file as it is written.

use kubist_apimachinery::Duration;
use kubist_codec::config_file::Fields;
use serde::Deserialize;

/// The fields of the file.
pub(super) const FIELDS: Fields = Fields(&[("authorizers", Some(&AUTHORIZER))]);
const AUTHORIZER: Fields = Fields(&[("type", None), ("name", None), ("webhook", Some(&WEBHOOK))]);
const WEBHOOK: Fields = Fields(&[
    ("authorizedTTL", None),
    ("cacheAuthorizedRequests", None),
    ("unauthorizedTTL", None),
    ("cacheUnauthorizedRequests", None),
    ("timeout", None),
    ("subjectAccessReviewVersion", None),
    ("matchConditionSubjectAccessReviewVersion", None),
    ("failurePolicy", None),
    ("connectionInfo", Some(&CONNECTION)),
    ("matchConditions", Some(&CONDITION)),
]);
const CONNECTION: Fields = Fields(&[("type", None), ("kubeConfigFile", None)]);
const CONDITION: Fields = Fields(&[("expression", None)]);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) authorizers: Vec<Authorizer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Authorizer {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) webhook: Option<Webhook>,
}

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Webhook {
    #[serde(rename = "authorizedTTL")]
    pub(super) authorized_ttl: Duration,
    pub(super) cache_authorized_requests: bool,
    #[serde(rename = "unauthorizedTTL")]
    pub(super) unauthorized_ttl: Duration,
    pub(super) cache_unauthorized_requests: bool,
    pub(super) timeout: Duration,
    pub(super) subject_access_review_version: String,
    pub(super) match_condition_subject_access_review_version: String,
    pub(super) failure_policy: String,
    pub(super) connection_info: ConnectionInfo,
    pub(super) match_conditions: Vec<MatchCondition>,
}

/// Upstream's defaults.
impl Default for Webhook {
    fn default() -> Self {
        Self {
            authorized_ttl: Duration::from_secs(5 * 60),
            cache_authorized_requests: true,
            unauthorized_ttl: Duration::from_secs(30),
            cache_unauthorized_requests: true,
            timeout: Duration::ZERO,
            subject_access_review_version: String::new(),
            match_condition_subject_access_review_version: String::new(),
            failure_policy: String::new(),
            connection_info: ConnectionInfo::default(),
            match_conditions: Vec::new(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ConnectionInfo {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) kube_config_file: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MatchCondition {
    pub(super) expression: String,
}
