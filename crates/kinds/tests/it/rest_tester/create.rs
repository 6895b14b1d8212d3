//! Tests of create.

use super::*;
use kubist_registry::Generation;

#[tokio::test]
async fn create_stores_what_was_sent_with_metadata_of_the_server() {
    over_all(async |tester| {
        let who = tester.who();
        let mut sent = tester.object("a");
        let meta = sent.meta_mut();
        meta.uid = "mine".into();
        meta.creation_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        meta.deletion_timestamp = meta.creation_timestamp;
        meta.generation = 77;
        let created = tester.create_in(tester.namespace(), sent, false).await;
        let created = created.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let object = object_of(&created);
        let meta = object.meta();
        assert_ne!(meta.uid, "mine", "{who}");
        assert_eq!(
            meta.creation_timestamp,
            Some(tester.fixture.cx().now()),
            "{who}"
        );
        assert!(meta.deletion_timestamp.is_none(), "{who}");
        let counts = !matches!(tester.rest.strategy().facts().generation, Generation::None);
        assert_eq!(meta.generation, if counts { 1 } else { 77 }, "{who}");
        assert_eq!(meta.namespace, tester.namespace(), "{who}");
        let got = tester.get(&meta.name).await.expect("it is there");
        assert!(object_of(&got).equals(&*object), "{who}");
        let again = tester
            .create_in(tester.namespace(), tester.object("a"), false)
            .await;
        let again = again.expect_err("it is there already");
        assert!(again.is_already_exists(), "{who}: {again}");
    })
    .await;
}

#[tokio::test]
async fn create_refuses_versions_and_wrong_names_and_namespaces() {
    over_all(async |tester| {
        let who = tester.who();
        let mut object = tester.object("a");
        object.meta_mut().resource_version = "5".into();
        let status = tester.create_in(tester.namespace(), object, false).await;
        assert_eq!(code(status), 500, "{who}: a version");
        for name in ["", "a/b", "..", "%"] {
            if name.is_empty() && tester.rest.facts().plural == "limitranges" {
                // Upstream generates a name for these.
                continue;
            }
            let mut object = tester.object("a");
            object.meta_mut().name = name.into();
            let status = tester.create_in(tester.namespace(), object, false).await;
            assert!([400, 422].contains(&code(status)), "{who}: name {name:?}");
        }
        if tester.rest.facts().namespaced {
            let mut object = tester.object("a");
            object.meta_mut().namespace = "other".into();
            let status = tester.create_in("default", object, false).await;
            assert_eq!(code(status), 400, "{who}: a namespace");
            let status = tester
                .create_in("nowhere", tester.object_for("nowhere", "a"), false)
                .await;
            assert_eq!(code(status), 404, "{who}: no namespace");
        }
        let version = tester.rest.facts().plural;
        assert!(
            !tester.list("").await.contains(&"a".to_owned()),
            "{version}"
        );
    })
    .await;
}

#[tokio::test]
async fn create_generates_names_and_dry_runs_store_nothing() {
    over_all(async |tester| {
        let who = tester.who();
        let dry = tester
            .create_in(tester.namespace(), tester.object("a"), true)
            .await;
        let dry = dry.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let object = object_of(&dry);
        assert!(!object.meta().uid.is_empty(), "{who}");
        assert_eq!(object.meta().resource_version, "", "{who}");
        let got = tester.get(&object.meta().name).await;
        assert_eq!(code(got), 404, "{who}");
        if tester.has_own_name() {
            return;
        }
        let mut object = tester.object("a");
        object.meta_mut().name = "".into();
        object.meta_mut().generate_name = "made-".into();
        let made = tester.create_in(tester.namespace(), object, false).await;
        let made = made.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let name = object_of(&made).meta().name.clone();
        assert!(
            name.starts_with("made-") && name.len() == 10,
            "{who}: {name}"
        );
    })
    .await;
}
