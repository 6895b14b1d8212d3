//! Service accounts: which user a token of one is, as long as the account is there.
//!
//! A token dies with its account and with the Pod, Secret or Node that it is bound to; the same
//! name made anew has another uid. Nothing is remembered: each request looks.

use crate::authentication::authenticator::{AUTHENTICATED_GROUP, CREDENTIAL_ID};
use crate::authentication::token_issuer::{Claims, Reference};
use kubist_apimachinery::Status;
use kubist_registry::{Registry, User};

/// The group of all service accounts; that of one namespace has its name behind a colon.
const GROUP: &str = "system:serviceaccounts";
const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const NODE_UID: &str = "authentication.kubernetes.io/node-uid";

/// The name that the user of a service account has.
pub(crate) fn user_name(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

/// The user that a verified token makes one, if everything that it names is still there.
///
/// # Errors
/// What storage says when it cannot tell: that is no verdict about the token.
pub(crate) async fn user_of(registry: &Registry, claims: &Claims) -> Result<Option<User>, Status> {
    let account = &claims.account;
    let namespace = account.namespace.as_str();
    let bound = [
        ("serviceaccounts", namespace, Some(&account.own)),
        ("pods", namespace, account.pod.as_ref()),
        ("secrets", namespace, account.secret.as_ref()),
    ];
    for (plural, namespace, reference) in bound {
        if let Some(reference) = reference
            && !exists(registry, plural, namespace, reference).await?
        {
            return Ok(None);
        }
    }
    // The node of a bound Pod is told, not checked: the Pod ends with it anyway.
    if let Some(node) = account.node.as_ref().filter(|_| account.pod.is_none())
        && !exists(registry, "nodes", "", node).await?
    {
        return Ok(None);
    }
    let mut user = User {
        name: user_name(namespace, &account.own.name).into(),
        uid: account.own.uid.as_str().into(),
        groups: vec![
            GROUP.into(),
            format!("{GROUP}:{namespace}").into(),
            AUTHENTICATED_GROUP.into(),
        ],
        ..User::default()
    };
    let mut say = |key: &str, value: String| user.extra.insert(key.into(), vec![value.into()]);
    say(CREDENTIAL_ID, format!("JTI={}", claims.id));
    for (reference, name, uid) in [
        (&account.pod, POD_NAME, POD_UID),
        (&account.node, NODE_NAME, NODE_UID),
    ] {
        if let Some(reference) = reference {
            say(name, reference.name.clone());
            if !reference.uid.is_empty() {
                say(uid, reference.uid.clone());
            }
        }
    }
    Ok(Some(user))
}

async fn exists(
    registry: &Registry,
    plural: &str,
    namespace: &str,
    reference: &Reference,
) -> Result<bool, Status> {
    let lookup = registry.lookup();
    let found = lookup.get("", plural, namespace, &reference.name).await?;
    Ok(found.is_some_and(|found| found.meta().uid == reference.uid.as_str()))
}
