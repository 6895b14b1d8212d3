//! `OidcOptions`: the older options of one OpenID Connect issuer, which are a file with one issuer.

use super::file::{
    ClaimMappings, ClaimValidationRule, File, Issuer, JwtFile, PrefixedClaimOrExpression,
};
use super::{AuthenticationConfiguration, AuthenticationConfigurationError};
use crate::jwt::Algorithm;

/// The options `--oidc-*` of upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct OidcOptions {
    /// The URL of the issuer.
    pub issuer_url: String,
    /// The audience.
    pub client_id: String,
    /// The authorities of the issuer's certificate, in PEM; empty for those of the system.
    pub certificate_authority: String,
    /// The claim that is the user name. Default: `sub`.
    pub username_claim: String,
    /// What stands before user names. Default: empty, and then it is the URL of the issuer and `#`,
    /// except for the claim `email`; `-` for nothing.
    pub username_prefix: String,
    /// The claim that is a group or a list of groups; empty for none.
    pub groups_claim: String,
    /// What stands before groups.
    pub groups_prefix: String,
    /// The algorithms of signatures. Default: `RS256`.
    pub signing_algorithms: Vec<String>,
    /// Claims that a token must have, and their values.
    pub required_claims: Vec<(String, String)>,
}

impl Default for OidcOptions {
    fn default() -> Self {
        Self {
            issuer_url: String::new(),
            client_id: String::new(),
            certificate_authority: String::new(),
            username_claim: "sub".to_owned(),
            username_prefix: String::new(),
            groups_claim: String::new(),
            groups_prefix: String::new(),
            signing_algorithms: vec!["RS256".to_owned()],
            required_claims: Vec::new(),
        }
    }
}

impl OidcOptions {
    /// Returns the configuration that the options mean.
    ///
    /// # Errors
    /// They are invalid.
    pub fn configuration(
        self,
        disallowed_issuers: &[String],
    ) -> Result<AuthenticationConfiguration, AuthenticationConfigurationError> {
        let option = |reason: String| AuthenticationConfigurationError::Option { reason };
        if self.issuer_url.is_empty() || self.client_id.is_empty() {
            let why = "oidc-issuer-url and oidc-client-id must be specified together when any \
                       oidc-* flags are set";
            return Err(option(why.to_owned()));
        }
        let mut algorithms = Vec::new();
        for name in &self.signing_algorithms {
            let known: Result<Algorithm, _> = name.parse();
            let known =
                known.map_err(|_| option(format!("oidc: unsupported signing alg: {name:?}")));
            algorithms.push(known?);
        }
        let file = File {
            jwt: vec![self.file()],
            anonymous: None,
        };
        let mut configuration = AuthenticationConfiguration::of(file, disallowed_issuers)?;
        for jwt in &mut configuration.jwt {
            jwt.algorithms.clone_from(&algorithms);
        }
        Ok(configuration)
    }

    fn file(self) -> JwtFile {
        let prefix = match &*self.username_prefix {
            "" if self.username_claim != "email" => format!("{}#", self.issuer_url),
            "-" => String::new(),
            prefix => prefix.to_owned(),
        };
        let mut claim_mappings = ClaimMappings {
            username: PrefixedClaimOrExpression {
                claim: self.username_claim,
                prefix: Some(prefix),
                ..PrefixedClaimOrExpression::default()
            },
            ..ClaimMappings::default()
        };
        if !self.groups_claim.is_empty() {
            claim_mappings.groups = PrefixedClaimOrExpression {
                claim: self.groups_claim,
                prefix: Some(self.groups_prefix),
                ..PrefixedClaimOrExpression::default()
            };
        }
        let required = self.required_claims.into_iter();
        JwtFile {
            issuer: Issuer {
                url: self.issuer_url,
                audiences: vec![self.client_id],
                certificate_authority: self.certificate_authority,
                ..Issuer::default()
            },
            claim_validation_rules: required
                .map(|(claim, required_value)| ClaimValidationRule {
                    claim,
                    required_value,
                    ..ClaimValidationRule::default()
                })
                .collect(),
            claim_mappings,
            ..JwtFile::default()
        }
    }
}
