//! Impersonation: requests on behalf of another user.
//!
//! Who asks for it needs to be allowed to act as that user in one of the
//! [modes](crate::filters::impersonation_mode), of which the last is the verb `impersonate` of old.
//! A server that allows everything without asking refuses it: handling such a request would report
//! permissions that the impersonated user may not have.

use crate::authentication::authenticator::{
    ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP,
};
use crate::authorization::authorizer::Authorization;
use crate::filters::impersonation_mode::{self, Acting, LastModes};
use http::HeaderMap;
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{Status, Str};
use kubist_authorization::Attributes;
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

/// Whom a request is handled as.
#[derive(Debug)]
pub(crate) struct Impersonated {
    /// The user.
    pub(crate) user: User,
    /// What permitted it, as the audit log has it: empty for the verb of old.
    pub(crate) constraint: &'static str,
}

/// Returns whom a request asks to be handled as; `None` if it is handled as its sender's. `asked`
/// is the request, by its sender.
///
/// # Errors
/// 403 in upstream's words for a sender without permission; 400 if it names no user, as upstream.
pub(crate) async fn impersonated(
    headers: &HeaderMap,
    asked: Attributes<'_>,
    authorization: &Authorization,
    last: &LastModes,
) -> Result<Option<Impersonated>, Status> {
    let asks = |name: &str| matches!(name, USER | GROUP | UID) || name.starts_with(EXTRA);
    if !headers.keys().any(|name| asks(name.as_str())) {
        return Ok(None);
    }
    let mut wanted = wanted(headers);
    if wanted.name.is_empty() {
        // An empty header of the user or the uid alone asks for nothing.
        if wanted == User::default() {
            return Ok(None);
        }
        let shown = shown(&wanted);
        let message = format!("requested {shown} without impersonating a user name");
        return Err(Status::bad_request(message));
    }
    if authorization.allows_all() {
        return Err(impersonation_mode::unsupported(asked.user, &wanted.name));
    }
    let Acting { groups, constraint } =
        impersonation_mode::authorize(authorization, last, asked, &wanted).await?;
    wanted.groups = groups;
    add_group(&mut wanted);
    Ok(Some(Impersonated {
        user: wanted,
        constraint,
    }))
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

/// Adds the group of everybody who is authenticated, or of nobody.
fn add_group(user: &mut User) {
    let group = if *user.name == *ANONYMOUS_USER {
        UNAUTHENTICATED_GROUP
    } else if user.is_in(UNAUTHENTICATED_GROUP) {
        return;
    } else {
        AUTHENTICATED_GROUP
    };
    if !user.is_in(group) {
        user.groups.push(group.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use kubist_authorization::{Action, Authorizer, BoxFuture, Decision, ResourceAction};
    use parking_lot::Mutex;
    use std::sync::Arc;

    /// Allows all but one name, with the verb of old, and records what it is asked.
    #[derive(Debug, Default)]
    struct Asked(Mutex<Vec<String>>);

    impl Authorizer for Asked {
        fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
            let decision = match attributes.action {
                Action::Resource(it) if it.name == "root" || attributes.verb != "impersonate" => {
                    Decision::NoOpinion("no".to_owned())
                }
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
        let asked = Attributes {
            user: &alice,
            verb: "list",
            action: Action::Path("/metrics"),
        };
        let done = impersonated(&map, asked, authorization, &LastModes::default()).await;
        done.map(|it| it.map_or_else(|| alice.clone(), |it| it.user))
            .map_err(|status| (status.code, status.message.to_string()))
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
                "authentication.k8s.io/uids/ /7",
                "/groups/ /devs",
                "/groups/ /ops",
                "authentication.k8s.io/userextras/acme.com/scopes /view",
            ]
        );
        let (code, message) = ask(&authorization, &[(USER, "root")])
            .await
            .expect_err("refused");
        assert_eq!(code, 403);
        // The refusal is that of the first mode that fits.
        let why = "cannot impersonate-on:user-info:list path \"/metrics\"";
        assert!(message.ends_with(why), "{message}");
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
