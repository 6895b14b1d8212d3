//! The file as it is written.

use kubist_codec::config_file::Fields;
use serde::{Deserialize, Serialize};

/// The fields of the file.
pub(super) const FIELDS: Fields = Fields(&[("jwt", Some(&JWT)), ("anonymous", Some(&ANONYMOUS))]);
const ANONYMOUS: Fields = Fields(&[("enabled", None), ("conditions", Some(&CONDITION))]);
const CONDITION: Fields = Fields(&[("path", None)]);
const JWT: Fields = Fields(&[
    ("issuer", Some(&ISSUER)),
    ("claimValidationRules", Some(&CLAIM_RULE)),
    ("claimMappings", Some(&MAPPINGS)),
    ("userValidationRules", Some(&USER_RULE)),
]);
const ISSUER: Fields = Fields(&[
    ("url", None),
    ("discoveryURL", None),
    ("certificateAuthority", None),
    ("audiences", None),
    ("audienceMatchPolicy", None),
    ("egressSelectorType", None),
]);
const CLAIM_RULE: Fields = Fields(&[
    ("claim", None),
    ("requiredValue", None),
    ("expression", None),
    ("message", None),
]);
const USER_RULE: Fields = Fields(&[("expression", None), ("message", None)]);
const MAPPINGS: Fields = Fields(&[
    ("username", Some(&PREFIXED)),
    ("groups", Some(&PREFIXED)),
    ("uid", Some(&CLAIM)),
    ("extra", Some(&EXTRA)),
]);
const PREFIXED: Fields = Fields(&[("claim", None), ("prefix", None), ("expression", None)]);
const CLAIM: Fields = Fields(&[("claim", None), ("expression", None)]);
const EXTRA: Fields = Fields(&[("key", None), ("valueExpression", None)]);

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct File {
    pub(super) jwt: Vec<JwtFile>,
    pub(super) anonymous: Option<AnonymousAuthConfig>,
}

/// Which requests without credentials are served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(clippy::exhaustive_structs, reason = "it is upstream's")]
pub struct AnonymousAuthConfig {
    /// Whether any is.
    pub enabled: bool,
    /// Those for these paths; for none, all are.
    pub conditions: Vec<AnonymousAuthCondition>,
}

/// A condition of an anonymous request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
#[expect(clippy::exhaustive_structs, reason = "it is upstream's")]
pub struct AnonymousAuthCondition {
    /// The path of the request, in full.
    #[serde(rename(serialize = "Path"))]
    pub path: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct JwtFile {
    pub(super) issuer: Issuer,
    pub(super) claim_validation_rules: Vec<ClaimValidationRule>,
    pub(super) claim_mappings: ClaimMappings,
    pub(super) user_validation_rules: Vec<UserValidationRule>,
}

/// An issuer of JWTs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Issuer {
    /// The URL that its tokens name.
    pub url: String,
    /// Where its discovery document is; empty for the usual place below the URL.
    #[serde(rename = "discoveryURL")]
    pub discovery_url: String,
    /// The authorities of its certificates, in PEM; empty for those of the system.
    pub certificate_authority: String,
    /// The audiences, of which a token must have one.
    pub audiences: Vec<String>,
    /// `MatchAny`, or empty for one audience.
    pub audience_match_policy: String,
    /// The network of its server. No value is supported here.
    pub egress_selector_type: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ClaimValidationRule {
    pub(super) claim: String,
    pub(super) required_value: String,
    pub(super) expression: String,
    pub(super) message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ClaimMappings {
    pub(super) username: PrefixedClaimOrExpression,
    pub(super) groups: PrefixedClaimOrExpression,
    pub(super) uid: ClaimOrExpression,
    pub(super) extra: Vec<ExtraMapping>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct PrefixedClaimOrExpression {
    pub(super) claim: String,
    pub(super) prefix: Option<String>,
    pub(super) expression: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ClaimOrExpression {
    pub(super) claim: String,
    pub(super) expression: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ExtraMapping {
    pub(super) key: String,
    pub(super) value_expression: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct UserValidationRule {
    pub(super) expression: String,
    pub(super) message: String,
}
