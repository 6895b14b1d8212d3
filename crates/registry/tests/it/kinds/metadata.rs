//! The rules of metadata on update, in upstream's words.

use serde_json::json;

use super::{Kinds, causes, pod};

#[tokio::test]
async fn some_kinds_check_metadata_twice_on_update() {
    let kinds = Kinds::new().await;
    for (resource, object) in [
        ("/configmaps", json!({"metadata": {"name": "c"}})),
        ("/secrets", json!({"metadata": {"name": "s"}})),
        ("/pods", pod(json!({}))),
    ] {
        let stored = kinds.create(resource, object).await;
        let mut named = stored.clone();
        named["metadata"]["generateName"] = json!("X_");
        let refused = kinds.try_update(resource, &named).await;
        let found = causes(&refused.expect_err("it is no prefix of a name"));
        let expected = "metadata.generateName: Invalid value: \"X_\": a lowercase RFC 1123";
        assert!(found[0].starts_with(expected), "{found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
        let mut kept = stored;
        kept["metadata"]["finalizers"] = json!(["x"]);
        let refused = kinds.try_update(resource, &kept).await;
        let expected = "metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard \
                        finalizer name nor is it fully qualified";
        assert_eq!(
            causes(&refused.expect_err("it needs a domain")),
            [expected, expected],
            "{resource}"
        );
    }
}
