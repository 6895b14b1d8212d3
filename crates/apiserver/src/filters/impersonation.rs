//! Impersonation: requests on behalf of another user.
//!
//! It is not supported, and such requests are refused. Handling one as its sender would report
//! permissions that the impersonated user may not have.

use http::HeaderMap;
use kubist_apimachinery::{GroupResource, Status};
use kubist_registry::User;

/// The user to impersonate.
const USER: &str = "impersonate-user";
/// The groups to impersonate.
const GROUP: &str = "impersonate-group";
/// The uid to impersonate.
const UID: &str = "impersonate-uid";
/// Prefix of the headers with the extra fields to impersonate.
const EXTRA: &str = "impersonate-extra-";

/// Refuses a request that asks for impersonation.
///
/// # Errors
/// 403 in upstream's words for a sender without permission; 400 if it names no user, as upstream.
pub(crate) fn refuse(headers: &HeaderMap, user: &User) -> Result<(), Status> {
    let text = |name| {
        let value = headers.get(name).map(http::HeaderValue::as_bytes);
        value.map(|it| String::from_utf8_lossy(it).into_owned())
    };
    if let Some(name) = text(USER).filter(|name| !name.is_empty()) {
        return Err(forbidden(user, &name));
    }
    let asks = |name: &str| matches!(name, USER | GROUP | UID) || name.starts_with(EXTRA);
    match headers.keys().find(|name| asks(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Status::bad_request(format!(
            "requested {name} without impersonating a user"
        ))),
    }
}

fn forbidden(user: &User, name: &str) -> Status {
    // A service account is a namespaced resource.
    let account = name.strip_prefix("system:serviceaccount:");
    let account = account.and_then(|it| it.split_once(':'));
    let (resource, name, scope) = match account {
        Some((namespace, account)) => (
            "serviceaccounts",
            account,
            format!("in the namespace {namespace:?}"),
        ),
        None => ("users", name, "at the cluster scope".to_owned()),
    };
    let why = format_args!(
        "User {:?} cannot impersonate resource {resource:?} in API group \"\" {scope}: this server \
         does not support impersonation",
        &*user.name
    );
    Status::forbidden(&GroupResource::new("", resource), name, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};

    fn refused(headers: &[(&'static str, &'static str)]) -> Option<(i32, String)> {
        let headers = headers.iter().map(|(name, value)| {
            let value = HeaderValue::from_static(value);
            (HeaderName::from_static(name), value)
        });
        let headers: HeaderMap = headers.collect();
        let user = User {
            name: "alice".into(),
            ..User::default()
        };
        let refused = refuse(&headers, &user).err()?;
        Some((refused.code, refused.message.to_string()))
    }

    #[test]
    fn impersonation_is_refused() {
        assert_eq!(refused(&[("accept", "application/json")]), None);
        let (code, message) = refused(&[(USER, "bob")]).expect("it is refused");
        assert_eq!(code, 403);
        assert_eq!(
            message,
            "users \"bob\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in \
             API group \"\" at the cluster scope: this server does not support impersonation"
        );
        let account = refused(&[(USER, "system:serviceaccount:shop:web"), (GROUP, "x")]);
        let (code, message) = account.expect("it is refused");
        assert_eq!(code, 403);
        assert!(
            message.starts_with("serviceaccounts \"web\" is forbidden: User \"alice\" cannot"),
            "{message}"
        );
        for name in [USER, GROUP, UID, "impersonate-extra-scopes"] {
            let value = if name == USER { "" } else { "x" };
            let (code, message) = refused(&[(name, value)]).expect("it is refused");
            assert_eq!(code, 400, "{message}");
        }
    }
}
