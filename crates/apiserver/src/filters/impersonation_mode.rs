//! The modes of impersonation, which say what a sender must be allowed to do to act as somebody.
//!
//! As upstream since v1.36, a request is tried in each mode that fits it:
//!
//! 1. `associated-node`: a service account acts as the node that its Pod is on,
//! 2. `arbitrary-node`, and
//! 3. `serviceaccount`: as any node or service account that it may name,
//! 4. `user-info`: as somebody else, with groups, uid and extra fields,
//! 5. and with the verb `impersonate` of old.
//!
//! Each mode but the last asks twice: may the sender do this very thing in this mode
//! (`impersonate-on:MODE:VERB`), and may it act as that user (`impersonate:MODE`)? So a sender can
//! be limited in what it does in the name of others. The mode that a sender used last is tried
//! first, which saves questions and decides whose refusal is told.

use crate::authentication::service_accounts::{self, NODE_NAME};
use crate::authorization::authorizer::{Authorization, forbidden};
use crate::expiring_cache::{self, ExpiringCache};
use kubist_apimachinery::validate_name::{dns1123_subdomain, domain_prefixed_path};
use kubist_apimachinery::{FieldPath, Status, Str};
use kubist_authentication::aggregate;
use kubist_authorization::node::NODES_GROUP;
use kubist_authorization::{Action, Attributes, Decision, MASTERS_GROUP, ResourceAction};
use kubist_registry::User;
use std::borrow::Cow;
use std::time::Duration;

/// The group of what constrained modes ask about, and of uids and extra fields.
const AUTHENTICATION: &str = "authentication.k8s.io";
/// The prefix of the names of nodes.
const NODE_PREFIX: &str = "system:node:";
/// The only extra field of a sender that acts as its own node: the names of those it has.
const NODE_KEYS: &str = "authentication.kubernetes.io/associated-node-keys";
/// From so many groups or extra values on, a sender that may use all is asked about once.
const MANY: usize = 4;
/// Why a server that allows everything refuses it.
const UNSUPPORTED: &str = "this server obeys no roles, and so does not support impersonation";

/// How long the mode that a sender used last is tried first.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// The modes that senders used last, by their names.
#[derive(Debug, Default)]
pub(crate) struct LastModes(ExpiringCache<Mode>);

/// What an allowed impersonation gives.
#[derive(Debug)]
pub(super) struct Acting {
    /// The user's groups, without those that everybody has.
    pub(super) groups: Vec<Str>,
    /// The verb that permitted it; empty for the one of old.
    pub(super) constraint: &'static str,
}

/// A way to act as somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    AssociatedNode,
    ArbitraryNode,
    ServiceAccount,
    UserInfo,
    Legacy,
}

/// In the order in which they are tried.
const MODES: [Mode; 5] = [
    Mode::AssociatedNode,
    Mode::ArbitraryNode,
    Mode::ServiceAccount,
    Mode::UserInfo,
    Mode::Legacy,
];

/// Finds the mode in which a sender may act as somebody. `asked` is its request.
///
/// # Errors
/// 403 in upstream's words: the refusal of the first mode that fits.
pub(super) async fn authorize(
    authorization: &Authorization,
    last: &LastModes,
    asked: Attributes<'_>,
    wanted: &User,
) -> Result<Acting, Status> {
    let sender = expiring_cache::key([asked.user.name.as_bytes()]);
    let remembered = last.0.get(&sender);
    let others = MODES.into_iter().filter(|it| Some(*it) != remembered);
    let mut first = None;
    for mode in remembered.into_iter().chain(others) {
        if !mode.fits(asked.user, wanted) {
            continue;
        }
        match mode.check(authorization, asked, wanted).await {
            Ok(()) => {
                if remembered != Some(mode) {
                    last.0.put(sender, mode, REMEMBERED);
                }
                return Ok(Acting {
                    groups: mode.groups(wanted),
                    constraint: if mode.is_constrained() {
                        mode.verb()
                    } else {
                        ""
                    },
                });
            }
            Err(refusal) => drop(first.get_or_insert(refusal)),
        }
    }
    Err(first.unwrap_or_else(|| unsupported(asked.user, &wanted.name)))
}

/// 403 of a server that allows everything.
pub(super) fn unsupported(sender: &User, name: &str) -> Status {
    let action = Action::Resource(Mode::Legacy.user_part(name));
    let verb = Mode::Legacy.verb();
    let user = sender;
    forbidden(Attributes { user, verb, action }, UNSUPPORTED)
}

impl Mode {
    fn verb(self) -> &'static str {
        match self {
            Self::AssociatedNode => "impersonate:associated-node",
            Self::ArbitraryNode => "impersonate:arbitrary-node",
            Self::ServiceAccount => "impersonate:serviceaccount",
            Self::UserInfo => "impersonate:user-info",
            Self::Legacy => "impersonate",
        }
    }

    /// The prefix of the verb that a request has in this mode.
    fn verb_on(self) -> Option<&'static str> {
        match self {
            Self::AssociatedNode => Some("impersonate-on:associated-node:"),
            Self::ArbitraryNode => Some("impersonate-on:arbitrary-node:"),
            Self::ServiceAccount => Some("impersonate-on:serviceaccount:"),
            Self::UserInfo => Some("impersonate-on:user-info:"),
            Self::Legacy => None,
        }
    }

    fn is_constrained(self) -> bool {
        self != Self::Legacy
    }

    /// Reports whether it is for this sender and this user.
    fn fits(self, sender: &User, wanted: &User) -> bool {
        let is_name_only =
            wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        let (node, account) = (node(&wanted.name), service_accounts::split(&wanted.name));
        match self {
            Self::AssociatedNode => {
                let own = sender.extra.get(NODE_NAME).map(Vec::as_slice);
                let is_account = service_accounts::split(&sender.name).is_some();
                let is_own = matches!(own, Some([own]) if Some(&**own) == node);
                is_name_only && is_account && is_own
            }
            Self::ArbitraryNode => is_name_only && node.is_some(),
            Self::ServiceAccount => is_name_only && account.is_some(),
            Self::UserInfo => node.is_none() && account.is_none(),
            Self::Legacy => true,
        }
    }

    /// Returns the groups of the user, as far as this mode knows.
    fn groups(self, wanted: &User) -> Vec<Str> {
        if self.is_constrained() && node(&wanted.name).is_some() {
            return vec![NODES_GROUP.into()];
        }
        match service_accounts::split(&wanted.name) {
            Some((namespace, _)) if wanted.groups.is_empty() => {
                service_accounts::groups(namespace).into()
            }
            _ => wanted.groups.clone(),
        }
    }

    /// Returns the sender as authorizers see it. One that acts as its own node is the same on every
    /// node, as upstream, where an answer is kept for all of them.
    fn sender(self, sender: &User) -> Cow<'_, User> {
        if self != Self::AssociatedNode {
            return Cow::Borrowed(sender);
        }
        let keys = sender.extra.keys().cloned().collect();
        let mut same = sender.clone();
        same.extra = [(NODE_KEYS.into(), keys)].into();
        Cow::Owned(same)
    }

    async fn check(
        self,
        authorization: &Authorization,
        asked: Attributes<'_>,
        wanted: &User,
    ) -> Result<(), Status> {
        let sender = &*self.sender(asked.user);
        if let Some(on) = self.verb_on() {
            let verb = &format!("{on}{}", asked.verb);
            let attributes = Attributes {
                user: sender,
                verb,
                action: asked.action,
            };
            permit(authorization, attributes).await?;
        }
        let parts = Parts {
            authorization,
            sender,
            mode: self,
        };
        parts.permit(self.user_part(&wanted.name)).await?;
        if !wanted.uid.is_empty() {
            parts
                .permit(part(AUTHENTICATION, "uids", &wanted.uid))
                .await?;
        }
        parts.check_groups(&wanted.groups).await?;
        parts.check_extra(wanted).await
    }

    /// The group of users and groups.
    fn group(self) -> &'static str {
        if self.is_constrained() {
            AUTHENTICATION
        } else {
            ""
        }
    }

    fn user_part(self, name: &str) -> ResourceAction<'_> {
        if let Some(node) = node(name).filter(|_| self.is_constrained()) {
            let is_own = self == Self::AssociatedNode;
            return part(self.group(), "nodes", if is_own { "*" } else { node });
        }
        // A service account is an object of its namespace.
        match service_accounts::split(name) {
            Some((namespace, account)) => ResourceAction {
                namespace,
                ..part(self.group(), "serviceaccounts", account)
            },
            None => part(self.group(), "users", name),
        }
    }
}

/// Authorizes the parts of a user, one by one.
struct Parts<'a> {
    authorization: &'a Authorization,
    sender: &'a User,
    mode: Mode,
}

impl Parts<'_> {
    fn attributes<'b>(&'b self, part: ResourceAction<'b>) -> Attributes<'b> {
        Attributes {
            user: self.sender,
            verb: self.mode.verb(),
            action: Action::Resource(part),
        }
    }

    async fn permit(&self, part: ResourceAction<'_>) -> Result<(), Status> {
        permit(self.authorization, self.attributes(part)).await
    }

    async fn check_groups(&self, groups: &[Str]) -> Result<(), Status> {
        let of = |name| part(self.mode.group(), "groups", name);
        if self.mode.is_constrained() {
            let refuse = |name, why| Err(forbidden(self.attributes(of(name)), why));
            if groups.iter().any(|it| it.is_empty()) {
                return refuse("", "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|it| *it == *MASTERS_GROUP) {
                let why = "impersonating the system:masters group is not allowed";
                return refuse(MASTERS_GROUP, why);
            }
            if groups.len() >= MANY && self.permit(of("*")).await.is_ok() {
                return Ok(());
            }
        }
        for group in groups {
            self.permit(of(group)).await?;
        }
        Ok(())
    }

    async fn check_extra(&self, wanted: &User) -> Result<(), Status> {
        let of = |subresource, name| ResourceAction {
            subresource,
            ..part(AUTHENTICATION, "userextras", name)
        };
        if self.mode.is_constrained() {
            for (key, values) in &wanted.extra {
                if let Some(why) = problem_of_extra(key, values) {
                    return Err(forbidden(self.attributes(of("", "")), &why));
                }
            }
            let values = wanted.extra.values().map(Vec::len).sum::<usize>();
            if values.max(wanted.extra.len()) >= MANY && self.permit(of("*", "*")).await.is_ok() {
                return Ok(());
            }
        }
        for (key, values) in &wanted.extra {
            for value in values {
                self.permit(of(key, value)).await?;
            }
        }
        Ok(())
    }
}

async fn permit(authorization: &Authorization, attributes: Attributes<'_>) -> Result<(), Status> {
    let decision = authorization.decide(attributes).await;
    if let Decision::Allow(_) = decision {
        return Ok(());
    }
    let (error, reason) = (decision.error(), decision.reason());
    let said = [error, reason].into_iter().filter(|it| !it.is_empty());
    let said = said.collect::<Vec<_>>().join(": ");
    Err(forbidden(attributes, &said))
}

/// Returns why an extra field may not be impersonated by a constrained mode.
fn problem_of_extra(key: &str, values: &[Str]) -> Option<String> {
    if key.is_empty() {
        return Some("impersonating the empty string key in extra is not allowed".to_owned());
    }
    let problems = domain_prefixed_path(key, &FieldPath::new("extra").child("key"));
    if !problems.is_empty() {
        let problems = aggregate(problems.iter().map(ToString::to_string));
        let what = "impersonating an invalid key in extra is not allowed";
        return Some(format!("{what}: {problems}"));
    }
    if key != key.to_lowercase() {
        let what = "impersonating a non-lowercase key in extra is not allowed";
        return Some(format!("{what}: {key:?}"));
    }
    let what = match values {
        [] => "empty values",
        _ if values.iter().any(|it| it.is_empty()) => "the empty string value",
        _ => return None,
    };
    Some(format!("impersonating {what} in extra is not allowed"))
}

/// Returns the node that has this user name.
fn node(user: &str) -> Option<&str> {
    let name = user.strip_prefix(NODE_PREFIX)?;
    dns1123_subdomain(name).is_empty().then_some(name)
}

fn part<'a>(group: &'a str, resource: &'a str, name: &'a str) -> ResourceAction<'a> {
    ResourceAction {
        group,
        version: "v1",
        resource,
        name,
        ..ResourceAction::default()
    }
}

#[cfg(test)]
mod tests;
