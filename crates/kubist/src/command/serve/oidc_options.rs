//! The older options of one OIDC issuer, under upstream's names.

use super::WrongUsage;
use clap::Args;
use kubist::authentication::OidcOptions;
use kubist::read_regular_file;
use std::error::Error;
use std::path::PathBuf;

/// Maximum bytes of a file of authorities.
const CA_BYTES_MAX: u64 = 1 << 20;

#[derive(Args, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "they are the names of the options"
)]
pub(super) struct OidcArgs {
    /// The URL of an OIDC issuer, whose tokens are believed
    #[arg(long, value_name = "URL")]
    oidc_issuer_url: Option<String>,
    /// The audience that its tokens must have
    #[arg(long, value_name = "ID")]
    oidc_client_id: Option<String>,
    /// The authorities of its certificate, as PEM; by default those of the system
    #[arg(long, value_name = "FILE")]
    oidc_ca_file: Option<PathBuf>,
    /// The claim that is the user name; by default sub
    #[arg(long, value_name = "CLAIM")]
    oidc_username_claim: Option<String>,
    /// What stands before user names; by default the URL and #, except for the claim email; - for
    /// nothing
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    oidc_username_prefix: Option<String>,
    /// The claim that is a group or a list of groups
    #[arg(long, value_name = "CLAIM")]
    oidc_groups_claim: Option<String>,
    /// What stands before groups
    #[arg(long, value_name = "PREFIX")]
    oidc_groups_prefix: Option<String>,
    /// The algorithms of signatures; by default RS256
    #[arg(long, value_name = "ALGORITHM,...", value_delimiter = ',')]
    oidc_signing_algs: Vec<String>,
    /// A claim that tokens must have, and its value
    #[arg(
        long,
        value_name = "CLAIM=VALUE",
        value_parser = required_claim
    )]
    oidc_required_claim: Vec<(String, String)>,
}

fn required_claim(text: &str) -> Result<(String, String), String> {
    let (claim, value) = text
        .split_once('=')
        .ok_or("must be a claim, = and a value")?;
    Ok((claim.trim().to_owned(), value.trim().to_owned()))
}

impl OidcArgs {
    /// Returns the options, if there are any.
    ///
    /// # Errors
    /// The file of authorities cannot be read.
    pub(super) fn options(&self) -> Result<Option<OidcOptions>, Box<dyn Error>> {
        let texts = [
            &self.oidc_issuer_url,
            &self.oidc_client_id,
            &self.oidc_username_claim,
            &self.oidc_username_prefix,
            &self.oidc_groups_claim,
            &self.oidc_groups_prefix,
        ];
        let is_set = texts.iter().any(|it| it.is_some())
            || self.oidc_ca_file.is_some()
            || !self.oidc_signing_algs.is_empty()
            || !self.oidc_required_claim.is_empty();
        if !is_set {
            return Ok(None);
        }
        let default = OidcOptions::default();
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        let mut options = OidcOptions {
            issuer_url: text(&self.oidc_issuer_url),
            client_id: text(&self.oidc_client_id),
            username_prefix: text(&self.oidc_username_prefix),
            groups_claim: text(&self.oidc_groups_claim),
            groups_prefix: text(&self.oidc_groups_prefix),
            required_claims: self.oidc_required_claim.clone(),
            ..default
        };
        if let Some(claim) = &self.oidc_username_claim {
            options.username_claim.clone_from(claim);
        }
        if !self.oidc_signing_algs.is_empty() {
            options
                .signing_algorithms
                .clone_from(&self.oidc_signing_algs);
        }
        if let Some(path) = &self.oidc_ca_file {
            let shown = path.display();
            let bytes = read_regular_file(path, CA_BYTES_MAX)
                .map_err(|error| format!("--oidc-ca-file: cannot read {shown}: {error}"))?;
            options.certificate_authority = String::from_utf8(bytes)
                .map_err(|_| WrongUsage(format!("--oidc-ca-file: {shown} is not text")))?;
        }
        Ok(Some(options))
    }
}
