//! `RequestForm`: the request of an admission, as webhooks and expressions see it.

use crate::matching::Matched;
use kubist_api::admission::v1::AdmissionRequest;
use kubist_api::authentication::v1::{ExtraValue, UserInfo};
use kubist_api::meta::v1::{GroupVersionKind, GroupVersionResource};
use kubist_apimachinery::wire::{Wire as _, to_json_value};
use kubist_apimachinery::{ByteString, RawExtension};
use kubist_authorization::User;
use serde_json::Value as Json;

/// A request without its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestForm<'a> {
    /// The resource and kind in the version that a rule matched.
    pub(crate) matched: &'a Matched,
    /// The same as they were requested.
    pub(crate) requested: &'a Matched,
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// In upper case.
    pub(crate) operation: &'a str,
    pub(crate) user: &'a User,
    pub(crate) dry_run: bool,
    /// The JSON of the options of the request; empty if it has none.
    pub(crate) options: &'a [u8],
}

impl RequestForm<'_> {
    /// Returns the value of the variable `request`.
    pub(crate) fn for_expressions(&self) -> Json {
        to_json_value(&self.request())
    }

    /// Returns the body of a review of a version such as `v1`, in the JSON that upstream sends. The
    /// objects are finished JSON; an empty one is null.
    pub(crate) fn review(&self, version: &str, uid: &str, object: &[u8], old: &[u8]) -> Vec<u8> {
        let request = AdmissionRequest {
            uid: uid.into(),
            object: raw(object),
            old_object: raw(old),
            ..self.request()
        };
        let head = format!(
            "{{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/{version}\",\
             \"request\":"
        );
        let mut body = head.into_bytes();
        body.extend(request.to_json());
        body.extend(b"}\n");
        body
    }

    fn request(&self) -> AdmissionRequest {
        AdmissionRequest {
            kind: kind(self.matched),
            resource: resource(self.matched),
            sub_resource: self.subresource.into(),
            request_kind: Some(Box::new(kind(self.requested))),
            request_resource: Some(Box::new(resource(self.requested))),
            request_sub_resource: self.subresource.into(),
            name: self.name.into(),
            namespace: self.namespace.into(),
            operation: self.operation.into(),
            user_info: user_info(self.user),
            dry_run: Some(self.dry_run),
            options: raw(self.options),
            ..AdmissionRequest::default()
        }
    }
}

fn raw(json: &[u8]) -> RawExtension {
    RawExtension {
        raw: ByteString(json.to_vec()),
    }
}

fn kind(of: &Matched) -> GroupVersionKind {
    GroupVersionKind {
        group: of.kind.group.clone(),
        version: of.kind.version.clone(),
        kind: of.kind.kind.clone(),
    }
}

fn resource(of: &Matched) -> GroupVersionResource {
    GroupVersionResource {
        group: of.resource.group.clone(),
        version: of.resource.version.clone(),
        resource: of.resource.resource.clone(),
    }
}

fn user_info(user: &User) -> UserInfo {
    let extra = user.extra.iter().map(|(key, items)| {
        let items = items.clone();
        (key.clone(), ExtraValue { items })
    });
    UserInfo {
        username: user.name.clone(),
        uid: user.uid.clone(),
        groups: user.groups.clone(),
        extra: extra.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form<'a>(user: &'a User, of: &'a Matched) -> RequestForm<'a> {
        RequestForm {
            matched: of,
            requested: of,
            subresource: "",
            namespace: "default",
            name: "a",
            operation: "CREATE",
            user,
            dry_run: false,
            options: br#"{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}"#,
        }
    }

    fn maps() -> Matched {
        Matched {
            resource: kubist_apimachinery::GroupVersionResource::new("", "v1", "configmaps"),
            kind: kubist_apimachinery::GroupVersionKind::new("", "v1", "ConfigMap"),
        }
    }

    fn bob() -> User {
        User {
            name: "bob".into(),
            groups: vec!["g1".into()],
            ..User::default()
        }
    }

    #[test]
    fn a_review_is_the_document_that_upstream_sends() {
        let (user, of) = (bob(), maps());
        let object = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}"#;
        let body = form(&user, &of).review("v1", "u-1", object, b"");
        assert_eq!(
            String::from_utf8_lossy(&body),
            concat!(
                r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"#,
                r#""uid":"u-1","kind":{"group":"","version":"v1","kind":"ConfigMap"},"#,
                r#""resource":{"group":"","version":"v1","resource":"configmaps"},"#,
                r#""requestKind":{"group":"","version":"v1","kind":"ConfigMap"},"#,
                r#""requestResource":{"group":"","version":"v1","resource":"configmaps"},"#,
                r#""name":"a","namespace":"default","operation":"CREATE","#,
                r#""userInfo":{"username":"bob","groups":["g1"]},"#,
                r#""object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}},"#,
                r#""oldObject":null,"dryRun":false,"#,
                r#""options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn expressions_see_the_request_without_its_objects() {
        let (user, of) = (bob(), maps());
        let request = form(&user, &of).for_expressions();
        assert_eq!(request["userInfo"]["username"], "bob");
        assert_eq!(request["options"]["kind"], "CreateOptions");
        assert_eq!(request["object"], json!(null));
        assert_eq!(request["dryRun"], false);
    }
}
