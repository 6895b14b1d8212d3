//! `StaticTokens`: bearer tokens of the configuration.

use crate::authentication::authenticator::StaticToken;
use kubist_registry::User;
use ring::digest::{SHA256, digest};
use std::collections::BTreeMap;

/// The users by the digests of their tokens: how long a look-up takes says nothing about tokens.
#[derive(Debug, Default)]
pub(crate) struct StaticTokens(BTreeMap<[u8; 32], User>);

impl StaticTokens {
    /// The last of equal tokens counts.
    pub(crate) fn new(tokens: &[StaticToken]) -> Self {
        let users = tokens.iter().map(|it| (key(&it.token), it.user.clone()));
        Self(users.collect())
    }

    /// Returns the user of a token.
    pub(crate) fn user(&self, token: &str) -> Option<&User> {
        self.0.get(&key(token))
    }
}

fn key(token: &str) -> [u8; 32] {
    let digest = digest(&SHA256, token.as_bytes());
    let mut key = [0; 32];
    key.copy_from_slice(digest.as_ref());
    key
}
