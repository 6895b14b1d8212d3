//! Own writes on top of a store.

use crate::{apply, list, object};
use kubist_apimachinery::{ObjectMeta, ObjectName};
use kubist_cache::{Deleted, Delta, Index, Indexer, OVERLAY_MAX, Overlay};
use std::sync::Arc;

fn version(object: Option<Arc<ObjectMeta>>) -> Option<String> {
    object.map(|it| it.resource_version.to_string())
}

/// Contract CACHE-16.
#[test]
fn own_writes_show_until_the_store_has_come_to_them() {
    let mut indexer = Indexer::new();
    let app = indexer.add_index(Index::label("app"));
    apply(&mut indexer, list("5", &["a/x@4 app=web", "a/y@5 app=web"]));
    let overlay = Overlay::new(indexer.lister());
    let name = ObjectName::new("a", "x");

    overlay.saved(object("a/x@7 app=db"));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("7"));
    assert_eq!(overlay.list().len(), 2);
    assert_eq!(overlay.by_index(&app, "web").len(), 1);
    assert_eq!(overlay.by_index(&app, "db").len(), 1);
    let selector = "app=db".parse().expect("valid");
    assert_eq!(overlay.select(Some("a"), &selector).len(), 1);
    assert_eq!(overlay.select(Some("b"), &selector).len(), 0);
    assert_eq!(overlay.unseen_len(), 1);

    apply(&mut indexer, Delta::Updated(object("a/x@8 app=cache")));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("8"));
    assert_eq!(overlay.unseen_len(), 0);
    overlay.saved(object("a/x@7 app=db"));
    assert_eq!(
        version(overlay.get(&name)).as_deref(),
        Some("8"),
        "what is older than the store never hides it"
    );
}

#[test]
fn own_deletions_hide_that_uid_only() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4"]));
    let overlay = Overlay::new(indexer.lister());
    let name = ObjectName::new("a", "x");
    overlay.deleted(name.clone(), "");
    assert_eq!(version(overlay.get(&name)), None);
    assert!(overlay.list().is_empty());
    let mut reborn = (*object("a/x@9")).clone();
    reborn.uid = "another".into();
    apply(&mut indexer, Delta::Updated(Arc::new(reborn)));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("9"));
    assert_eq!(overlay.unseen_len(), 0);
}

#[test]
fn what_the_selection_does_not_have_is_hidden_as_the_watch_will_do() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &["a/x@4 app=web"]));
    let overlay = Overlay::new(indexer.lister())
        .selecting(|it: &ObjectMeta| it.labels.get("app").is_some_and(|app| *app == *"web"));
    overlay.saved(object("a/y@6 app=db"));
    overlay.saved(object("a/x@7 app=db"));
    assert!(overlay.list().is_empty());
    apply(
        &mut indexer,
        Delta::Deleted(Deleted::Known(object("a/x@7 app=db"))),
    );
    assert_eq!(overlay.unseen_len(), 0);
}

#[test]
fn versions_that_are_no_numbers_never_hide_events_of_the_watch() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("v5", &["a/x@v4"]));
    let overlay = Overlay::new(indexer.lister());
    let name = ObjectName::new("a", "x");
    overlay.saved(object("a/x@v7"));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("v7"));
    apply(&mut indexer, Delta::Bookmark("v6".into()));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("v7"));
    apply(&mut indexer, Delta::Updated(object("a/x@v9")));
    assert_eq!(version(overlay.get(&name)).as_deref(), Some("v9"));
}

#[test]
fn an_overlay_is_bounded() {
    let mut indexer = Indexer::new();
    apply(&mut indexer, list("5", &[]));
    let overlay = Overlay::new(indexer.lister());
    for number in 0..OVERLAY_MAX + 5 {
        overlay.saved(object(&format!("a/{number}@{}", number + 10)));
    }
    assert_eq!(overlay.list().len(), OVERLAY_MAX);
    assert!(overlay.get(&ObjectName::new("a", "4")).is_none());
    assert!(overlay.get(&ObjectName::new("a", "5")).is_some());
}
