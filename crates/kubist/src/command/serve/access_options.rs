//! Options that say who is let in.

use std::error::Error;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args};
use kubist::read_regular_file;

use super::WrongUsage;

/// Bytes of a file that holds a token.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

#[derive(Args, Debug)]
pub(super) struct AccessOptions {
    /// A bearer token that is the administrator's, beside the client certificate. Other users of
    /// this machine can read it from a command line: the variable or a file keeps it from them
    #[arg(
        long,
        env = "KUBIST_TOKEN",
        hide_env_values = true,
        value_parser = NonEmptyStringValueParser::new()
    )]
    token: Option<String>,
    /// A file whose only line is such a token; with --token there are two
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Answer /livez, /readyz, /healthz and /version without credentials, and nothing else
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
}

impl AccessOptions {
    /// The administrator's tokens.
    pub(super) fn tokens(&self) -> Result<Vec<String>, Box<dyn Error>> {
        let mut tokens: Vec<String> = self.token.iter().cloned().collect();
        if !tokens.iter().all(|it| is_plain(it)) {
            let why = "a token has no spaces, and no characters beyond ASCII: no header carries it";
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
                let why = "does not hold one token and nothing else";
                return Err(format!("--token-file: {shown} {why}").into());
            }
            tokens.push(token.to_owned());
        }
        Ok(tokens)
    }

    /// Whether probes need no credentials.
    pub(super) fn anonymous(&self) -> bool {
        self.anonymous_auth
    }
}

/// Whether a header carries it as one word: what it does not would never be anybody's token.
fn is_plain(token: &str) -> bool {
    token.chars().all(|it| it.is_ascii_graphic())
}
