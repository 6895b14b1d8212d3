//! `AuthenticationConfiguration`: upstream's file of JWT issuers and anonymous paths.
//!
//! Its expressions are compiled when it is read, and everything that is wrong with it is told at
//! once, in upstream's words. The older options of one OpenID Connect issuer are the same with
//! fewer choices ([`OidcOptions`]).

mod expression;
mod file;
mod jwt_authenticator;
mod mapping;
mod oidc_options;
mod token_claims;
mod url;
mod validation;

pub use file::{AnonymousAuthCondition, AnonymousAuthConfig, Issuer};
pub use jwt_authenticator::JwtAuthenticator;
pub use oidc_options::OidcOptions;

use file::{FIELDS, File};
use kubist_apimachinery::{FieldError, FieldPath};
use kubist_codec::config_file::{self, ConfigFileError};

/// Maximum number of issuers, as upstream.
pub const JWT_AUTHENTICATORS_MAX: usize = 64;
const KIND: &str = "AuthenticationConfiguration";
const VERSIONS: [&str; 2] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
];

/// Whom a server believes: issuers of JWTs, and which requests may be anonymous.
///
/// ```
/// use kubist_authentication::AuthenticationConfiguration;
///
/// let text = "
/// apiVersion: apiserver.config.k8s.io/v1
/// kind: AuthenticationConfiguration
/// jwt:
/// - issuer: {url: 'https://issuer.example.com', audiences: [my-app]}
///   claimMappings:
///     username: {expression: 'claims.sub + \"@example\"'}
/// anonymous: {enabled: true, conditions: [{path: /livez}]}
/// ";
/// let configuration = AuthenticationConfiguration::parse(text.as_bytes(), &[])?;
/// assert_eq!(configuration.jwt[0].issuer().url, "https://issuer.example.com");
/// # Ok::<(), kubist_authentication::AuthenticationConfigurationError>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct AuthenticationConfiguration {
    /// The issuers, at most [`JWT_AUTHENTICATORS_MAX`].
    pub jwt: Vec<JwtAuthenticator>,
    /// Which requests without credentials are served; `None` if the file does not say it.
    pub anonymous: Option<AnonymousAuthConfig>,
}

/// Why an authentication configuration cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthenticationConfigurationError {
    /// It is not the file.
    #[error(transparent)]
    File(#[from] ConfigFileError),
    /// It says something that makes no sense.
    #[error(
        "invalid authentication configuration: {}",
        FieldError::aggregate(errors)
    )]
    Invalid {
        /// What is wrong, in upstream's words.
        errors: Vec<FieldError>,
    },
    /// An option is wrong.
    #[error("{reason}")]
    Option {
        /// What is wrong.
        reason: String,
    },
}

impl AuthenticationConfiguration {
    /// Parses a file. `disallowed_issuers` are those of service accounts, whose tokens are the
    /// server's own.
    ///
    /// # Errors
    /// It is not the file, or is invalid.
    pub fn parse(
        text: &[u8],
        disallowed_issuers: &[String],
    ) -> Result<Self, AuthenticationConfigurationError> {
        let file: File = config_file::parse(text, KIND, &VERSIONS, &FIELDS)?;
        Self::of(file, disallowed_issuers)
    }

    fn of(
        file: File,
        disallowed_issuers: &[String],
    ) -> Result<Self, AuthenticationConfigurationError> {
        let (jwt, mut errors) = validation::authenticators(file.jwt, disallowed_issuers);
        if let Some(anonymous) = &file.anonymous
            && !anonymous.enabled
            && !anonymous.conditions.is_empty()
        {
            let path = FieldPath::new("anonymous").child("conditions");
            errors.push(FieldError::invalid(
                &path,
                kubist_apimachinery::BadValue::json(&anonymous.conditions),
                "enabled should be set to true when conditions are defined",
            ));
        }
        if !errors.is_empty() {
            return Err(AuthenticationConfigurationError::Invalid { errors });
        }
        Ok(Self {
            jwt,
            anonymous: file.anonymous,
        })
    }
}

#[cfg(test)]
mod tests;
