//! Encryption at rest, and key rotation.

use super::stack::{Engine, Stack, drain, edits, pod, typed};
use kubist_registry::storage::{PutOptions, Storage, UpdateRequest};
use kubist_registry::transformer::{AesGcm, Identity, Transformer, Transformers};
use kubist_registry::{RawStorage, StoredCodec};
use std::sync::Arc;

fn key(name: &str, byte: u8) -> AesGcm {
    AesGcm::new(name, &[byte; 32]).expect("32 bytes are a key")
}

fn with(s: &Stack, transformer: impl Transformer) -> RawStorage {
    let codec = StoredCodec::new(s.storage.kind(), s.keys.clone());
    RawStorage::new(
        Arc::clone(&s.kv),
        codec.with_transformer(Arc::new(transformer)),
    )
}

#[tokio::test(start_paused = true)]
async fn values_are_encrypted_at_rest_and_bound_to_their_keys() {
    for engine in [Engine::Memory, Engine::Redb] {
        let s = Stack::new(engine, false).await;
        let storage = with(&s, Transformers::encrypting(key("one", 1)));
        let created = storage.create(
            s.key("ns", "a"),
            Box::new(pod("ns", "a")),
            PutOptions::default(),
        );
        created.await.expect("nothing is there");
        let value = s.raw_value("a").await;
        assert!(value.starts_with(b"k8s:enc:aesgcm:v1:one:"));
        assert!(!value.windows(8).any(|it| it == b"uid-of-a"));
        // Another process reads the value with the same key, but not without it.
        let again = with(&s, Transformers::encrypting(key("one", 1)));
        let got = again
            .get(&s.key("ns", "a"), None)
            .await
            .expect("it can be read");
        assert_eq!(typed(&got.expect("it exists")).metadata.uid, "uid-of-a");
        for other in [
            with(&s, Transformers::encrypting(key("one", 2))),
            with(&s, Transformers::encrypting(key("two", 1))),
            with(&s, Identity),
        ] {
            other
                .get(&s.key("ns", "a"), None)
                .await
                .expect_err("it cannot be read");
        }
        // The value is bound to its storage key.
        s.put_raw("b", &value).await;
        again
            .get(&s.key("ns", "b"), None)
            .await
            .expect_err("it was moved");
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_rewrites_values_of_the_old_key() {
    let s = Stack::new(Engine::Memory, false).await;
    let old = with(&s, Transformers::encrypting(key("old", 1)));
    let created = old.create(
        s.key("ns", "a"),
        Box::new(pod("ns", "a")),
        PutOptions::default(),
    );
    let created = created.await.expect("nothing is there").revision();
    let rotated = with(
        &s,
        Transformers::encrypting(key("new", 2))
            .decrypting(key("old", 1))
            .reading("", Identity),
    );
    let update = async || {
        let mut change = edits(|_| ());
        let request = UpdateRequest::default();
        let updated = rotated.update(s.key("ns", "a"), request, &mut change).await;
        updated.expect("it exists").stored.revision()
    };
    assert_eq!(update().await, created + 1, "nothing changed but the key");
    assert!(
        s.raw_value("a")
            .await
            .starts_with(b"k8s:enc:aesgcm:v1:new:")
    );
    assert_eq!(update().await, created + 1, "once is enough");
    let without_old = with(&s, Transformers::encrypting(key("new", 2)));
    let got = without_old
        .get(&s.key("ns", "a"), None)
        .await
        .expect("it can be read");
    assert!(got.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_cache_holds_encrypted_values_and_answers_from_them() {
    let s = Stack::new(Engine::Memory, true).await;
    let start = s.head().await;
    s.create("ns", "a").await;
    let mut watch = s.watch("ns", &format!("resourceVersion={start}")).await;
    assert_eq!(drain(&mut watch).await.len(), 1);
    assert_eq!(s.names("ns", "").await, ["ns/a"]);
    assert!(
        s.raw_value("a").await.starts_with(b"mark!"),
        "through the transformer"
    );
}
