//! Options for authentication and authorization.

use super::WrongUsage;
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, ValueEnum};
use kubist::authorization::{AlwaysAllow, AlwaysDeny};
use kubist::{Authorization, AuthorizationMode, read_regular_file};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum bytes of a token file.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

#[derive(Args, Debug)]
pub(super) struct AccessOptions {
    /// An additional bearer token of the administrator. Command lines are visible to other users of
    /// this machine; the environment variable or a file is not
    #[arg(
        long,
        env = "KUBIST_TOKEN",
        hide_env_values = true,
        value_parser = NonEmptyStringValueParser::new()
    )]
    token: Option<String>,
    /// A file with such a token on its only line; may be used beside --token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Serve /livez, /readyz, /healthz and /version to anonymous requests, and nothing else
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_value_t = true,
        default_missing_value = "true"
    )]
    anonymous_auth: bool,
    /// Who decides about requests, in this order; the first that allows one decides.
    /// system:masters may do everything, unless nobody may do anything
    #[arg(
        long,
        value_name = "MODES",
        value_delimiter = ',',
        default_value = "RBAC",
        ignore_case = false
    )]
    authorization_mode: Vec<Mode>,
}

/// A way to authorize requests, by its name of upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Everything is allowed to every authenticated user; roles are not obeyed.
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// Nothing is allowed.
    #[value(name = "AlwaysDeny")]
    AlwaysDeny,
    /// What kubelets may do is decided by the Pods of their node.
    #[value(name = "Node")]
    Node,
    /// The stored roles and bindings decide.
    #[value(name = "RBAC")]
    Rbac,
}

impl AccessOptions {
    /// Returns the administrator's tokens.
    pub(super) fn tokens(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let mut tokens: Vec<String> = self.token.iter().cloned().collect();
        if !tokens.iter().all(|it| is_plain(it)) {
            let why = "a token must not contain spaces or non-ASCII characters";
            let said = format!("--token (or KUBIST_TOKEN) can never be used: {why}");
            return Err(WrongUsage(said).into());
        }
        if let Some(path) = &self.token_file {
            let shown = path.display();
            let bytes = read_regular_file(path, TOKEN_BYTES_MAX)
                .map_err(|error| format!("--token-file: cannot read {shown}: {error}"))?;
            let text = String::from_utf8(bytes)
                .map_err(|_| format!("--token-file: {shown} is not text"))?;
            let token = text.trim();
            if token.is_empty() || !is_plain(token) {
                let why = "must contain exactly one token";
                return Err(format!("--token-file: {shown} {why}").into());
            }
            tokens.push(token.to_owned());
        }
        Ok(tokens)
    }

    /// Returns who decides about requests.
    ///
    /// # Errors
    /// A mode is named twice.
    pub(super) fn authorization(&self) -> Result<Authorization, Box<dyn Error>> {
        let modes = &self.authorization_mode;
        if let Some(twice) = (1..modes.len()).find(|&at| modes[..at].contains(&modes[at])) {
            let name = modes[twice].to_possible_value();
            let name = name.map_or_else(String::new, |it| it.get_name().to_owned());
            return Err(WrongUsage(format!("--authorization-mode: {name} is named twice")).into());
        }
        // What follows AlwaysAllow is never asked.
        let until = modes.iter().position(|it| *it == Mode::AlwaysAllow);
        let asked = &modes[..until.unwrap_or(modes.len())];
        let decides = |it: &&Mode| matches!(it, Mode::Node | Mode::Rbac);
        if !asked.iter().any(|it| decides(&it)) {
            return Ok(match until {
                Some(_) => Authorization::default(),
                None => Authorization::by(Arc::new(AlwaysDeny)),
            });
        }
        let modes = asked.iter().filter(decides).map(|mode| match mode {
            Mode::Node => AuthorizationMode::Node,
            _ => AuthorizationMode::Rbac,
        });
        let last = until.map(|_| AuthorizationMode::Other(Arc::new(AlwaysAllow)));
        Ok(Authorization::chain(modes.chain(last)))
    }

    /// Returns the modes as they were given.
    pub(super) fn modes(&self) -> String {
        let names = self
            .authorization_mode
            .iter()
            .filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|it| it.get_name().to_owned()).collect();
        names.join(",")
    }

    /// Reports whether health checks may be anonymous.
    pub(super) fn anonymous(&self) -> bool {
        self.anonymous_auth
    }
}

/// Reports whether a header can carry the token as one word; otherwise it could never be used.
fn is_plain(token: &str) -> bool {
    token.chars().all(|it| it.is_ascii_graphic())
}
