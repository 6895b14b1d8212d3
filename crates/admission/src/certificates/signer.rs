//! Permissions on the signers of certificates, which are no objects.

use kubist_authorization::{Action, Attributes, Authorizer, ResourceAction, User};

/// Reports whether a user may do something for a signer, or for all signers of its domain.
pub(super) async fn is_permitted(
    authorizer: &dyn Authorizer,
    user: &User,
    verb: &str,
    signer: &str,
) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    let all = format!("{domain}/*");
    for name in [signer, all.as_str()] {
        let attributes = Attributes {
            user,
            verb,
            action: Action::Resource(ResourceAction {
                group: "certificates.k8s.io",
                version: "*",
                resource: "signers",
                name,
                ..ResourceAction::default()
            }),
        };
        if authorizer.authorize(attributes).await.is_allowed() {
            return true;
        }
    }
    false
}
