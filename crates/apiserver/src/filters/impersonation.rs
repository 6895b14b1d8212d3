//! Impersonation: requests on behalf of another user.
//!
//! As upstream, who asks for it needs the verb `impersonate` on the user (or service account), on
//! each group, on the uid, and on each extra value. A server that allows everything without asking
//! refuses it: handling such a request would report permissions that the impersonated user may not
//! have.

use crate::authentication::authenticator::{
    ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP,
};
use crate::authentication::service_accounts;
use crate::authorization::authorizer::{Authorization, forbidden};
use http::HeaderMap;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{Status, Str};
use kubist_authorization::{Action, Attributes, Decision, ResourceAction};
use kubist_registry::User;
use percent_encoding::percent_decode_str;

/// The user to impersonate.
const USER: &str = "impersonate-user";
/// The groups to impersonate.
const GROUP: &str = "impersonate-group";
/// The uid to impersonate.
const UID: &str = "impersonate-uid";
/// Prefix of the headers with the extra fields to impersonate.
const EXTRA: &str = "impersonate-extra-";
/// The group of uids and extra fields.
const AUTHENTICATION: &str = "authentication.k8s.io";

/// Why a server that allows everything refuses it.
const UNSUPPORTED: &str = "this server obeys no roles, and so does not support impersonation";

/// Returns the user that a request is handled as: its sender, or whom it asks to be.
///
/// # Errors
/// 403 in upstream's words for a sender without permission; 400 if it names no user, as upstream.
pub(crate) async fn impersonated(
    headers: &HeaderMap,
    sender: User,
    authorization: &Authorization,
) -> Result<User, Status> {
    let asks = |name: &str| matches!(name, USER | GROUP | UID) || name.starts_with(EXTRA);
    if !headers.keys().any(|name| asks(name.as_str())) {
        return Ok(sender);
    }
    let mut wanted = wanted(headers);
    if wanted.name.is_empty() {
        // An empty header of the user or the uid alone asks for nothing.
        if wanted == User::default() {
            return Ok(sender);
        }
        let shown = shown(&wanted);
        let message = format!("requested {shown} without impersonating a user name");
        return Err(Status::bad_request(message));
    }
    if authorization.allows_all() {
        let attributes = impersonation(&sender, user_part(&wanted.name));
        return Err(forbidden(attributes, UNSUPPORTED));
    }
    check(&sender, &wanted, authorization).await?;
    add_groups(&mut wanted);
    Ok(wanted)
}

/// Reads whom a request asks to be.
fn wanted(headers: &HeaderMap) -> User {
    let texts = |name: &str| -> Vec<Str> {
        let values = headers.get_all(name).iter();
        values
            .map(|it| Str::from(&*String::from_utf8_lossy(it.as_bytes())))
            .collect()
    };
    let first = |name: &str| texts(name).into_iter().next().unwrap_or_default();
    let mut user = User {
        name: first(USER),
        uid: first(UID),
        groups: texts(GROUP),
        ..User::default()
    };
    for name in headers.keys().map(http::HeaderName::as_str) {
        if let Some(key) = name.strip_prefix(EXTRA) {
            let key = percent_decode_str(key).decode_utf8_lossy();
            user.extra.insert((&*key).into(), texts(name));
        }
    }
    user
}

/// Returns whom a request asks to be as Go prints it, which upstream's message has.
fn shown(user: &User) -> String {
    let list = |texts: &[Str]| {
        let texts: Vec<String> = texts.iter().map(|it| quote(it)).collect();
        format!("[]string{{{}}}", texts.join(", "))
    };
    let groups = match &user.groups[..] {
        [] => "[]string(nil)".to_owned(),
        groups => list(groups),
    };
    let extra = user.extra.iter();
    let extra: Vec<String> = extra
        .map(|(key, values)| format!("{}:{}", quote(key), list(values)))
        .collect();
    let extra = match &extra[..] {
        [] => "map[string][]string(nil)".to_owned(),
        extra => format!("map[string][]string{{{}}}", extra.join(", ")),
    };
    format!(
        "&user.DefaultInfo{{Name:\"\", UID:{}, Groups:{groups}, Extra:{extra}}}",
        quote(&user.uid)
    )
}

/// Authorizes each part.
async fn check(sender: &User, wanted: &User, authorization: &Authorization) -> Result<(), Status> {
    let mut parts = vec![user_part(&wanted.name)];
    parts.extend(
        wanted
            .groups
            .iter()
            .map(|name| part("", "groups", "", name)),
    );
    for (key, values) in &wanted.extra {
        let of_key = |value| part(AUTHENTICATION, "userextras", key, value);
        parts.extend(values.iter().map(|value| of_key(value)));
    }
    if !wanted.uid.is_empty() {
        parts.push(part(AUTHENTICATION, "uids", "", &wanted.uid));
    }
    for part in parts {
        let attributes = impersonation(sender, part);
        match authorization.decide(attributes).await {
            Decision::Allow(_) => {}
            refused => return Err(forbidden(attributes, refused.reason())),
        }
    }
    Ok(())
}

fn impersonation<'a>(sender: &'a User, part: ResourceAction<'a>) -> Attributes<'a> {
    Attributes {
        user: sender,
        verb: "impersonate",
        action: Action::Resource(part),
    }
}

/// A service account is an object of its namespace.
fn user_part(name: &str) -> ResourceAction<'_> {
    match service_accounts::split(name) {
        Some((namespace, account)) => ResourceAction {
            namespace,
            ..part("", "serviceaccounts", "", account)
        },
        None => part("", "users", "", name),
    }
}

fn part<'a>(
    group: &'a str,
    resource: &'a str,
    subresource: &'a str,
    name: &'a str,
) -> ResourceAction<'a> {
    ResourceAction {
        group,
        version: "v1",
        resource,
        subresource,
        name,
        ..ResourceAction::default()
    }
}

/// Adds the groups that such a user has without being asked for: those of a service account if no
/// groups are named, and that of everybody who is authenticated.
fn add_groups(user: &mut User) {
    if user.groups.is_empty()
        && let Some((namespace, _)) = service_accounts::split(&user.name)
    {
        user.groups.extend(service_accounts::groups(namespace));
    }
    let group = if *user.name == *ANONYMOUS_USER {
        UNAUTHENTICATED_GROUP
    } else {
        AUTHENTICATED_GROUP
    };
    let has_either = user.is_in(AUTHENTICATED_GROUP) || user.is_in(UNAUTHENTICATED_GROUP);
    if !has_either {
        user.groups.push(group.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use kubist_authorization::{Authorizer, BoxFuture};
    use parking_lot::Mutex;
    use std::sync::Arc;

    /// Allows all but one name, and records what it is asked.
    #[derive(Debug, Default)]
    struct Asked(Mutex<Vec<String>>);

    impl Authorizer for Asked {
        fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
            let decision = match attributes.action {
                Action::Resource(it) if it.name == "root" => Decision::NoOpinion("no".to_owned()),
                Action::Resource(it) => {
                    let ResourceAction {
                        group,
                        resource,
                        subresource,
                        namespace,
                        name,
                        ..
                    } = it;
                    let text = format!("{group}/{resource}/{subresource} {namespace}/{name}");
                    self.0.lock().push(text);
                    Decision::Allow(String::new())
                }
                Action::Path(_) => Decision::NoOpinion(String::new()),
            };
            Box::pin(std::future::ready(decision))
        }
    }

    async fn ask(
        authorization: &Authorization,
        headers: &[(&'static str, &'static str)],
    ) -> Result<User, (i32, String)> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_static(value);
            map.append(HeaderName::from_static(name), value);
        }
        let alice = User {
            name: "alice".into(),
            ..User::default()
        };
        let done = impersonated(&map, alice, authorization).await;
        done.map_err(|status| (status.code, status.message.to_string()))
    }

    #[tokio::test]
    async fn a_server_without_roles_refuses_it() {
        let everything = Authorization::default();
        let sender = ask(&everything, &[("accept", "*/*")]).await;
        assert_eq!(&*sender.expect("it is handled").name, "alice");
        let (code, message) = ask(&everything, &[(USER, "bob")])
            .await
            .expect_err("refused");
        assert_eq!(code, 403);
        assert!(message.starts_with(
            "users \"bob\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in \
             API group \"\" at the cluster scope: this server"
        ));
    }

    #[tokio::test]
    async fn groups_without_a_user_are_a_mistake() {
        let refused = ask(&Authorization::rbac(), &[(GROUP, "devs")]).await;
        let message = "requested &user.DefaultInfo{Name:\"\", UID:\"\", \
                       Groups:[]string{\"devs\"}, Extra:map[string][]string(nil)} without \
                       impersonating a user name";
        assert_eq!(refused, Err((400, message.to_owned())));
        let refused = ask(&Authorization::rbac(), &[("impersonate-extra-a", "b")]).await;
        let message = "requested &user.DefaultInfo{Name:\"\", UID:\"\", \
                       Groups:[]string(nil), Extra:map[string][]string{\"a\":[]string{\"b\"}}} \
                       without impersonating a user name";
        assert_eq!(refused, Err((400, message.to_owned())));
        let empty = ask(&Authorization::rbac(), &[(USER, "")]).await;
        assert_eq!(&*empty.expect("it asks for nothing").name, "alice");
    }

    #[tokio::test]
    async fn each_part_is_authorized() {
        let asked = Arc::<Asked>::default();
        let authorization = Authorization::by(Arc::clone(&asked) as Arc<dyn Authorizer>);
        let headers = [
            (USER, "bob"),
            (GROUP, "devs"),
            (GROUP, "ops"),
            (UID, "7"),
            ("impersonate-extra-acme.com%2fscopes", "view"),
        ];
        let bob = ask(&authorization, &headers).await.expect("it may");
        assert_eq!((&*bob.name, &*bob.uid), ("bob", "7"));
        assert_eq!(bob.groups, ["devs", "ops", AUTHENTICATED_GROUP]);
        assert_eq!(bob.extra["acme.com/scopes"], ["view"]);
        assert_eq!(
            *asked.0.lock(),
            [
                "/users/ /bob",
                "/groups/ /devs",
                "/groups/ /ops",
                "authentication.k8s.io/userextras/acme.com/scopes /view",
                "authentication.k8s.io/uids/ /7",
            ]
        );
        let (code, message) = ask(&authorization, &[(USER, "root")])
            .await
            .expect_err("refused");
        assert_eq!(code, 403);
        assert!(message.ends_with("at the cluster scope: no"), "{message}");
    }

    #[tokio::test]
    async fn a_service_account_has_its_groups() {
        let asked = Arc::<Asked>::default();
        let authorization = Authorization::by(Arc::clone(&asked) as Arc<dyn Authorizer>);
        let robot = [(USER, "system:serviceaccount:shop:robot")];
        let robot = ask(&authorization, &robot).await.expect("it may");
        let groups = [
            "system:serviceaccounts",
            "system:serviceaccounts:shop",
            AUTHENTICATED_GROUP,
        ];
        assert_eq!(robot.groups, groups);
        assert_eq!(*asked.0.lock(), ["/serviceaccounts/ shop/robot"]);
    }
}
