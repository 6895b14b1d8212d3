//! Options for the administrator's tokens.

use super::WrongUsage;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use kubist::read_regular_file;
use std::error::Error;
use std::path::PathBuf;

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
}

/// Reports whether a header can carry the token as one word; otherwise it could never be used.
fn is_plain(token: &str) -> bool {
    token.chars().all(|it| it.is_ascii_graphic())
}
