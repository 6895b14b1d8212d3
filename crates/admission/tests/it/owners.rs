//! Who may make objects depend on others.

use crate::fixture::{Fixture, MAPS, config_map};
use futures_util::FutureExt as _;
use kubist_admission::PluginSelection;
use kubist_authorization::{Action, Attributes, Authorizer, BoxFuture, Decision};
use serde_json::{Value, json};
use std::sync::Arc;

/// Lets users do what is listed: verb, resource and subresource.
#[derive(Debug)]
struct Permitted(&'static [&'static str]);

impl Authorizer for Permitted {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        let what = match attributes.action {
            Action::Resource(it) => {
                format!("{} {}/{}", attributes.verb, it.resource, it.subresource)
            }
            Action::Path(path) => path.to_owned(),
        };
        let decision = if self.0.contains(&what.as_str()) {
            Decision::Allow(String::new())
        } else {
            Decision::NoOpinion("not listed".to_owned())
        };
        async { decision }.boxed()
    }
}

async fn permitting(permitted: &'static [&'static str]) -> Fixture {
    let enabled = ["OwnerReferencesPermissionEnforcement".to_owned()];
    let selection = PluginSelection::new(&enabled, &[]).expect("it exists");
    let authorizer: Arc<dyn Authorizer> = Arc::new(Permitted(permitted));
    Fixture::with(selection.chain_with(&authorizer, Vec::new())).await
}

fn owned(name: &str, kind: &str, blocks: bool) -> Value {
    let mut map = config_map(name);
    let (api_version, uid) = ("v1", "2f4a1a56-7c3e-4a6e-9d5b-0f3a5a4b6c7d");
    map["metadata"]["ownerReferences"] = json!([{
        "apiVersion": api_version,
        "kind": kind,
        "name": "o",
        "uid": uid,
        "blockOwnerDeletion": blocks,
    }]);
    map
}

#[tokio::test]
async fn who_cannot_delete_an_object_cannot_give_it_an_owner() {
    let fixture = permitting(&[]).await;
    let created = fixture.create(MAPS, owned("a", "Secret", false)).await;
    created.expect("a new object may have an owner");
    let created = fixture.create(MAPS, config_map("b")).await;
    created.expect("it has none");
    let status = fixture.put(MAPS, "", owned("b", "Secret", false)).await;
    assert_eq!(
        status.expect_err("it may not be deleted").message,
        "configmaps \"b\" is forbidden: cannot set an ownerRef on a resource you can't delete: not \
         listed, <nil>"
    );
    let fixture = permitting(&["delete configmaps/"]).await;
    let created = fixture.create(MAPS, config_map("b")).await;
    created.expect("it has none");
    let changed = fixture.put(MAPS, "", owned("b", "Secret", false)).await;
    changed.expect("it may be deleted");
}

#[tokio::test]
async fn who_cannot_set_finalizers_cannot_block_a_deletion() {
    let fixture = permitting(&["update secrets/finalizers"]).await;
    let created = fixture.create(MAPS, owned("a", "Secret", true)).await;
    created.expect("secrets may be finalized");
    let status = fixture.create(MAPS, owned("b", "Node", true)).await;
    assert_eq!(
        status.expect_err("nodes may not").message,
        "configmaps \"b\" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers \
         to a resource you can't set finalizers on: not listed, <nil>"
    );
    let status = fixture.create(MAPS, owned("c", "Other", true)).await;
    assert_eq!(
        status.expect_err("there is no such kind").message,
        "configmaps \"c\" is forbidden: cannot set blockOwnerDeletion in this case because cannot \
         find RESTMapping for APIVersion v1 Kind Other: no matches for kind \"Other\" in version \
         \"v1\""
    );
    let fixture = permitting(&["update */finalizers"]).await;
    let created = fixture.create(MAPS, owned("c", "Other", true)).await;
    created.expect("everything may be finalized");
}
