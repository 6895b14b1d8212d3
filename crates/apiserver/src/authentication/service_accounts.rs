//! The user of a service account token, as long as the account exists.
//!
//! A token becomes invalid when its account, or the Pod, Secret or Node that it is bound to, is
//! deleted; an object recreated under the same name has another uid. Nothing is cached: each
//! request looks the objects up.

use crate::authentication::authenticator::{AUTHENTICATED_GROUP, CREDENTIAL_ID};
use crate::authentication::token_issuer::{Claims, Reference};
use kubist_apimachinery::{Status, Str};
use kubist_registry::{Registry, User};

/// The group of all service accounts; the group of a namespace appends a colon and its name.
const GROUP: &str = "system:serviceaccounts";
const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const NODE_UID: &str = "authentication.kubernetes.io/node-uid";

/// Returns the user name of a service account.
pub(crate) fn user_name(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

/// Returns namespace and name of a service account from its user name.
pub(crate) fn split(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user
        .strip_prefix("system:serviceaccount:")?
        .split_once(':')?;
    let is_one = !namespace.is_empty() && !name.is_empty() && !name.contains(':');
    is_one.then_some((namespace, name))
}

/// Returns the groups that all service accounts of a namespace are in.
pub(crate) fn groups(namespace: &str) -> [Str; 2] {
    [GROUP.into(), format!("{GROUP}:{namespace}").into()]
}

/// Returns the user of verified claims if every object that they name still exists.
///
/// # Errors
/// Storage errors, which say nothing about the token.
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
    // The node of a bound Pod is informational and not checked: the token ends with the Pod.
    if let Some(node) = account.node.as_ref().filter(|_| account.pod.is_none())
        && !exists(registry, "nodes", "", node).await?
    {
        return Ok(None);
    }
    let mut user = User {
        name: user_name(namespace, &account.own.name).into(),
        uid: account.own.uid.as_str().into(),
        groups: groups(namespace).into(),
        ..User::default()
    };
    user.groups.push(AUTHENTICATED_GROUP.into());
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
