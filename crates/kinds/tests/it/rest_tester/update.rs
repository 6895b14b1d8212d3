//! Tests of update.

use super::*;

#[tokio::test]
async fn update_changes_what_changed_and_keeps_the_rest() {
    over_all(async |tester| {
        let who = tester.who();
        let mut created = tester.create("a").await;
        if tester.rest.facts().plural == "persistentvolumeclaims" {
            // The phase of a claim is stored with the first change of any field.
            let first = tester.put(created).await;
            created = object_of(&first.unwrap_or_else(|status| panic!("{who}: {status:?}")));
        }
        let same = tester.put(created.boxed_clone()).await;
        let same = same.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        assert!(object_of(&same).equals(&*created), "{who}: nothing changed");
        let mut labelled = created.boxed_clone();
        let meta = labelled.meta_mut();
        meta.labels.insert("new".into(), "1".into());
        meta.generation = 99;
        meta.creation_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        meta.deletion_grace_period_seconds = None;
        let updated = tester.put(labelled).await;
        let updated = updated.unwrap_or_else(|status| panic!("{who}: {status:?}"));
        let object = object_of(&updated);
        let (now, before) = (object.meta(), created.meta());
        assert_eq!(now.labels["new"], "1", "{who}");
        assert_ne!(now.resource_version, before.resource_version, "{who}");
        assert_eq!(now.uid, before.uid, "{who}");
        // The labels of an EndpointSlice name its Service, so a change of them raises the
        // generation.
        let counted = i64::from(tester.rest.facts().plural == "endpointslices");
        assert_eq!(
            now.generation,
            before.generation + counted,
            "{who}: only labels changed"
        );
        assert_eq!(now.creation_timestamp, before.creation_timestamp, "{who}");
    })
    .await;
}

#[tokio::test]
async fn update_refuses_what_is_old_other_or_not_there() {
    over_all(async |tester| {
        let who = tester.who();
        let created = tester.create("a").await;
        let mut newer = created.boxed_clone();
        newer.meta_mut().labels.insert("new".into(), "1".into());
        tester.put(newer).await.expect("it is the newest");
        let mut old = created.boxed_clone();
        old.meta_mut().labels.insert("new".into(), "2".into());
        assert_eq!(code(tester.put(old).await), 409, "{who}: too old");
        let mut other = created.boxed_clone();
        other.meta_mut().uid = "other".into();
        other.meta_mut().resource_version = "".into();
        assert_eq!(code(tester.put(other).await), 409, "{who}: another uid");
        if tester.rest.facts().namespaced {
            let mut elsewhere = created.boxed_clone();
            elsewhere.meta_mut().namespace = "other".into();
            assert_eq!(code(tester.put(elsewhere).await), 400, "{who}: namespace");
        }
        if !tester.has_own_name() {
            let missing = tester.object("none");
            let put = tester.put(missing).await;
            let creates = tester.rest.strategy().facts().allow_create_on_update;
            assert_eq!(code(put), if creates { 200 } else { 404 }, "{who}: missing");
        }
    })
    .await;
}

#[tokio::test]
async fn an_update_without_version_goes_where_the_kind_allows_it() {
    over_all(async |tester| {
        let who = tester.who();
        let created = tester.create("a").await;
        let mut blind = created.boxed_clone();
        blind.meta_mut().resource_version = "".into();
        blind.meta_mut().labels.insert("new".into(), "1".into());
        let allowed = tester.rest.strategy().facts().allow_unconditional_update;
        let put = tester.put(blind).await;
        assert_eq!(code(put), if allowed { 200 } else { 422 }, "{who}");
    })
    .await;
}
