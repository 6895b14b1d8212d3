//! Discovery against the documents of a real server of the same version.

use super::*;
use kubist_codec::negotiate::{Offer, negotiate};
use kubist_registry::{Registry, RegistryConfig, RuntimeConfig};
use std::path::PathBuf;
use std::sync::Arc;

fn recorded(name: &str) -> Option<Value> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/kubernetes-v1.36/discovery");
    let bytes = std::fs::read(folder.join(name)).ok()?;
    Some(serde_json::from_slice(&bytes).expect("it is JSON"))
}

fn served() -> Arc<[ServedGroup]> {
    let kv = Arc::new(kubist_storage::memory::MemoryKv::default());
    let mut config = RegistryConfig::new(kv, kubist_kinds::BuiltIn::shared());
    config.runtime_config = RuntimeConfig::everything();
    Registry::new(config).groups()
}

#[test]
fn documents_equal_those_of_a_real_server() {
    let Some(groups) = recorded("apis.json") else {
        println!("skipped: there are no recorded documents in ../shared");
        return;
    };
    let served = served();
    assert_eq!(api_groups(&served), groups);
    let mut compared = 0;
    for facts in served.iter() {
        let name = facts.name.as_str();
        if !name.is_empty() {
            let file = format!("apis__{name}.json");
            assert_eq!(Some(api_group(facts)), recorded(&file), "{file}");
        }
        for version in &facts.versions {
            let file = match name {
                "" => format!("api__{}.json", version.version),
                _ => format!("apis__{name}__{}.json", version.version),
            };
            let mut expected = recorded(&file).expect("each version was recorded");
            if name.is_empty() {
                expected.as_object_mut().map(|it| it.remove("apiVersion"));
            }
            assert_eq!(resource_list(name, version), expected, "{file}");
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared} versions");
    let mut all = recorded("aggregated_v2.json").expect("it was recorded");
    let items = all["items"].take();
    assert_eq!(aggregated(&served, false)["items"], items);
}

#[test]
fn the_aggregated_form_is_tagged_and_not_sent_twice() {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let chosen = negotiate(Some(accept), &Offer::DISCOVERY).expect("it is served");
    let first = groups(&served(), &chosen, None, |_, _| {}).expect("it is made");
    assert_eq!(first.code, 200);
    assert_eq!(first.content_type, accept);
    let tag = first.headers[ETAG].to_str().expect("it is text").to_owned();
    assert_eq!(
        groups(&served(), &chosen, Some(&tag), |_, _| {})
            .expect("it is made")
            .code,
        304
    );
    assert_eq!(
        groups(&served(), &chosen, Some("\"x\""), |_, _| {})
            .expect("it is made")
            .code,
        200
    );
}

#[test]
fn every_document_has_a_protobuf_form() {
    let chosen = negotiate(
        Some("application/vnd.kubernetes.protobuf"),
        &Offer::DISCOVERY,
    );
    let chosen = chosen.expect("it is served");
    let served = served();
    let core = group(&served, "").and_then(|group| group.version("v1"));
    let core = core.expect("there is a core group");
    let documents = [
        api_versions(&served, None),
        api_groups(&served),
        resource_list("", core),
    ];
    for it in documents {
        let answer = document(&chosen, &it).expect("it is a message");
        let crate::response::body::Body::Whole(bytes) = answer.body else {
            panic!("it is whole");
        };
        let envelope = envelope::Envelope::open(&bytes).expect("it is an envelope");
        assert_eq!(Some(envelope.kind), it["kind"].as_str());
        assert!(envelope.raw.len() > 10);
    }
}
