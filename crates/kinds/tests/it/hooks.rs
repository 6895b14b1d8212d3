//! Hooks around writes, and collection deletes with several workers.

use crate::fixture::{Fixture, config_map, options, typed};
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{AnyObject, DeleteOptions, PostOptions, Status};
use kubist_registry::{Begin, Begun, BoxFuture, Hooks, Replacement, Stored};
use parking_lot::Mutex;
use std::future::ready;
use std::sync::Arc;

/// Records events, and refuses objects labelled `k=no`.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, what: &str, name: &str) {
        self.0.lock().push(format!("{what} {name}"));
    }

    #[expect(clippy::result_large_err, reason = "as the trait has it")]
    fn begin(&self, what: &str, new: &mut dyn AnyObject) -> Result<Option<Box<dyn Begun>>, Status> {
        let meta = new.meta_mut();
        self.say(what, &meta.name);
        if meta.labels.get("k").is_some_and(|it| it == "no") {
            return Err(Status::bad_request("no"));
        }
        meta.annotations.insert("begun".into(), "yes".into());
        Ok(Some(Box::new(Open {
            log: self.clone(),
            name: meta.name.to_string(),
        })))
    }
}

struct Open {
    log: Log,
    name: String,
}

impl Begun for Open {
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.log.say("commit", &self.name);
        Box::pin(ready(()))
    }
    fn rollback(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.log.say("rollback", &self.name);
        Box::pin(ready(()))
    }
}

fn name(stored: &Stored) -> String {
    stored.object().expect("readable").meta().name.to_string()
}

impl Hooks for Log {
    fn begin_create<'a>(
        &'a self,
        _: Begin<'a>,
        new: &'a mut dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        Box::pin(ready(self.begin("create", new)))
    }
    fn begin_update<'a>(
        &'a self,
        _: Begin<'a>,
        new: &'a mut dyn AnyObject,
        _: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        Box::pin(ready(self.begin("update", new)))
    }
    fn after_create(&self, stored: &Stored) {
        self.say("created", &name(stored));
    }
    fn after_update(&self, stored: &Stored) {
        self.say("updated", &name(stored));
    }
    fn after_delete<'a>(&'a self, stored: &'a Stored) -> BoxFuture<'a, ()> {
        self.say("deleted", &name(stored));
        Box::pin(ready(()))
    }
}

async fn logged() -> (Fixture, Log) {
    let log = Log::default();
    let hooks: Arc<dyn Hooks> = Arc::new(log.clone());
    let fixture = Fixture::with(|config| {
        config
            .hooks
            .push((String::new(), "configmaps".to_owned(), hooks));
    })
    .await;
    (fixture, log)
}

fn take(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.0.lock())
}

#[tokio::test]
async fn what_a_hook_begins_is_committed_with_the_write() {
    let (fixture, log) = logged().await;
    let created: ConfigMap = fixture.create(config_map("a", "")).await;
    assert_eq!(created.metadata.annotations["begun"], "yes");
    assert_eq!(take(&log), ["create a", "commit a", "created a"]);
    fixture.put(config_map("a", "x")).await.expect("fine");
    assert_eq!(take(&log), ["update a", "commit a", "updated a"]);
    fixture
        .delete::<ConfigMap>("a", DeleteOptions::default())
        .await
        .expect("fine");
    assert_eq!(take(&log), ["deleted a"]);
}

#[tokio::test]
async fn what_a_hook_began_is_rolled_back_if_nothing_is_written() {
    let (fixture, log) = logged().await;
    fixture.create(config_map("a", "")).await;
    take(&log);
    let taken = fixture.try_create(config_map("a", "")).await;
    assert!(taken.is_err_and(|it| it.is_already_exists()));
    assert_eq!(take(&log), ["create a", "rollback a"]);
    let invalid = fixture.try_create(config_map("B", "")).await;
    assert!(invalid.is_err_and(|it| it.is_invalid()));
    assert_eq!(take(&log), ["create B", "rollback B"]);
    let dry = fixture.create_in("default", config_map("c", ""), true);
    dry.await.expect("it would be fine");
    assert_eq!(take(&log), ["create c", "rollback c"]);
    let refused = fixture.try_create(config_map("d", "no")).await;
    assert!(refused.is_err_and(|it| it.is_bad_request()));
    assert_eq!(take(&log), ["create d"]);
    let mut stale = config_map("a", "x");
    stale.metadata.resource_version = "1".into();
    let conflict = fixture.put(stale).await;
    assert!(conflict.is_err_and(|it| it.is_conflict()));
    assert_eq!(take(&log), ["update a", "rollback a"]);
}

#[tokio::test]
async fn an_update_that_ends_an_object_is_a_delete_to_hooks() {
    let (fixture, log) = logged().await;
    let mut kept = config_map("a", "");
    kept.metadata.finalizers.push("x.io/y".into());
    let mut kept: ConfigMap = fixture.create(kept).await;
    fixture
        .delete::<ConfigMap>("a", DeleteOptions::default())
        .await
        .expect("it waits");
    take(&log);
    kept.metadata.finalizers.clear();
    kept.metadata.resource_version = "".into();
    fixture.put(kept).await.expect("fine");
    assert_eq!(take(&log), ["update a", "commit a", "deleted a"]);
}

#[tokio::test]
async fn an_update_that_creates_is_a_create_to_hooks() {
    let log = Log::default();
    let hooks: Arc<dyn Hooks> = Arc::new(log.clone());
    let fixture = Fixture::with(|config| {
        let group = "coordination.k8s.io".to_owned();
        config.hooks.push((group, "leases".to_owned(), hooks));
    })
    .await;
    let mut lease = kubist_api::coordination::v1::Lease::default();
    lease.metadata.name = "l".into();
    let updated = fixture.put(lease.clone()).await.expect("leases do that");
    assert!(updated.created);
    assert_eq!(take(&log), ["create l", "commit l", "created l"]);
    // The given resource version does not matter.
    lease.metadata.name = "m".into();
    lease.metadata.resource_version = "3".into();
    assert!(fixture.put(lease).await.expect("leases do that").created);
    assert_eq!(take(&log), ["create m", "commit m", "created m"]);
}

/// Replaces every generated name by one that is taken.
#[derive(Debug, Default)]
struct Unlucky(Mutex<u32>);

impl Hooks for Unlucky {
    fn begin_create<'a>(
        &'a self,
        _: Begin<'a>,
        new: &'a mut dyn AnyObject,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Begun>>, Status>> {
        *self.0.lock() += 1;
        new.meta_mut().name = "taken".into();
        Box::pin(ready(Ok(None)))
    }
}

#[tokio::test]
async fn a_generated_name_is_tried_eight_times() {
    let unlucky = Arc::new(Unlucky::default());
    let hooks: Arc<dyn Hooks> = Arc::clone(&unlucky) as Arc<dyn Hooks>;
    let fixture = Fixture::with(|config| {
        config
            .hooks
            .push((String::new(), "configmaps".to_owned(), hooks));
    })
    .await;
    fixture.create(config_map("first", "")).await;
    *unlucky.0.lock() = 0;
    let mut object = config_map("", "");
    object.metadata.generate_name = "x-".into();
    let status = fixture.try_create(object).await.expect_err("all are taken");
    assert!(status.is_already_exists(), "{status}");
    assert!(
        status
            .message
            .contains("the server was not able to generate a unique name"),
        "{status}"
    );
    assert_eq!(*unlucky.0.lock(), 8);
}

#[tokio::test]
async fn several_workers_delete_all_and_tolerate_what_is_gone() {
    let fixture = Fixture::with(|config| config.delete_collection_workers = 4).await;
    for index in 0..20 {
        fixture.create(config_map(&format!("c{index}"), "x")).await;
    }
    fixture.create(config_map("other", "y")).await;
    let rest = fixture.of::<ConfigMap>();
    let (cx, list) = (fixture.cx(), options("labelSelector=k=x"));
    let delete = DeleteOptions::default();
    let [one, two] = [(), ()].map(|()| rest.delete_collection(&cx, "default", &list, &delete));
    let (one, two) = tokio::join!(one, two);
    assert_eq!(one.expect("fine").items.len(), 20);
    two.expect("what the other deleted first is no error");
    assert_eq!(fixture.names::<ConfigMap>("").await, ["other"]);
}

#[tokio::test]
async fn a_dry_update_shows_what_would_be() {
    let (fixture, log) = logged().await;
    fixture.create(config_map("a", "")).await;
    take(&log);
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    let rest = fixture.of::<ConfigMap>();
    let new = Replacement(Box::new(config_map("a", "x")));
    let shown = rest
        .update(&fixture.cx(), "default", "a", &new, &options)
        .await
        .expect("it would be fine");
    assert_eq!(typed::<ConfigMap>(&shown.object).metadata.labels["k"], "x");
    assert_eq!(take(&log), ["update a", "rollback a"]);
    let stored: ConfigMap = fixture.get("a").await.expect("it is there");
    assert!(stored.metadata.labels.is_empty());
}
