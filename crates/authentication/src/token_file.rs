//! The file of static tokens: CSV with a token, a user name, a uid and, in quotes, groups.

use crate::csv::{self, CsvError};
use kubist_authorization::User;
use std::fmt;

/// The number of columns that each record has at least.
const COLUMNS_MIN: usize = 3;

/// A token of a file, and its user.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileToken {
    /// The token. This is a secret.
    pub token: String,
    /// The user, without the group of all authenticated users.
    pub user: User,
}

/// Omits the token.
impl fmt::Debug for FileToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileToken")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// The tokens of a file, and what is odd in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenFile {
    /// The tokens, each once.
    pub tokens: Vec<FileToken>,
    /// Records that are probably a mistake.
    pub oddities: Vec<TokenFileOddity>,
}

/// A record that is probably a mistake. The text is upstream's, without the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileOddity {
    /// An earlier record has the same token; this one counts.
    #[error("duplicate token has been found in token file, record number '{0}'")]
    Duplicate(usize),
    /// The token is empty; the record is skipped.
    #[error("empty token has been found in token file, record number '{0}'")]
    Empty(usize),
}

/// Why a text is not a token file. The texts contain nothing of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// It is not CSV.
    #[error("{reason}")]
    Csv {
        /// Where, and what is wrong.
        reason: String,
    },
    /// A record has too few columns.
    #[error(
        "token file must have at least {COLUMNS_MIN} columns (token, user name, user uid), found \
         {found}"
    )]
    Columns {
        /// The number of columns.
        found: usize,
    },
}

impl From<CsvError> for TokenFileError {
    fn from(error: CsvError) -> Self {
        Self::Csv {
            reason: error.to_string(),
        }
    }
}

/// Reads a token file. As upstream, records with an empty token are skipped, and the last of equal
/// tokens counts.
///
/// ```
/// let file = kubist_authentication::parse_token_file("s3cret,alice,7,\"devs,ops\"\n")?;
/// assert_eq!(&*file.tokens[0].user.name, "alice");
/// assert_eq!(file.tokens[0].user.groups, ["devs", "ops"]);
/// # Ok::<(), kubist_authentication::TokenFileError>(())
/// ```
///
/// # Errors
/// It is not CSV, or a record has fewer than three columns.
pub fn parse_token_file(text: &str) -> Result<TokenFile, TokenFileError> {
    let mut file = TokenFile::default();
    for (index, record) in csv::records(text)?.into_iter().enumerate() {
        let number = index + 1;
        let [token, name, uid, more @ ..] = &record[..] else {
            let found = record.len();
            return Err(TokenFileError::Columns { found });
        };
        if token.is_empty() {
            file.oddities.push(TokenFileOddity::Empty(number));
            continue;
        }
        let groups = more.first().map(|it| it.split(','));
        let user = User {
            name: name.into(),
            uid: uid.into(),
            groups: groups.into_iter().flatten().map(Into::into).collect(),
            ..User::default()
        };
        let token = token.clone();
        match file.tokens.iter_mut().find(|it| it.token == token) {
            Some(known) => {
                known.user = user;
                file.oddities.push(TokenFileOddity::Duplicate(number));
            }
            None => file.tokens.push(FileToken { token, user }),
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_tokens_counts_and_empty_ones_do_not() {
        let file = parse_token_file("a,u,1\n,x,2\na,v,3,g\n").expect("it is fine");
        let [only] = &file.tokens[..] else {
            panic!("{file:?}");
        };
        assert_eq!(
            file.oddities,
            [TokenFileOddity::Empty(2), TokenFileOddity::Duplicate(3)]
        );
        assert_eq!((&*only.user.name, &*only.user.uid), ("v", "3"));
        assert_eq!(only.user.groups, ["g"]);
    }

    #[test]
    fn short_records_are_refused() {
        let refused = parse_token_file("a,u\n").expect_err("the uid is missing");
        assert_eq!(refused, TokenFileError::Columns { found: 2 });
    }
}
