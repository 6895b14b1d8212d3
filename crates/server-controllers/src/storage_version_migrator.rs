//! The storage version migrator: for each `StorageVersionMigration` it writes every object of a
//! resource again, unchanged, so that the server stores it in its present version and encoding, as
//! upstream's controllers do.
//!
//! One migration of a resource runs at a time, the oldest first. Its conditions `Running`,
//! `Succeeded` and `Failed` say how far it is. The definition of a custom resource says
//! `StorageMigrating` meanwhile, and in the end has only its storage version in `storedVersions`,
//! unless it has changed since the migration began.
//!
//! Migrations are objects of `storagemigration.k8s.io/v1beta1`, which servers do not serve by
//! default. Where they are not served, the controller does nothing.

mod conditions;
mod definition;
mod rewrite;

use crate::outdated::ignore_outdated;
use conditions::{FAILED, RUNNING, SUCCEEDED, holds, is_over};
use kubist_api::meta::v1::GroupResource;
use kubist_api::storagemigration::v1beta1::StorageVersionMigration;
use kubist_apimachinery::{ApiResource, ListOptions, ObjectName, Str, Time};
use kubist_cache::{Lister, Metadata};
use kubist_client::{Api, ApiError, Client, DiscoveredResource};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use rewrite::Rewritten;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Migrations that run at the same time, of different resources; as upstream.
const WORKERS: usize = 5;
/// How long a resource may be unknown after a migration of it was created; as upstream.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause before it is looked for again, or before a failed discovery is repeated.
const RETRY: Duration = Duration::from_secs(5);
/// The pause before all objects are gone through again, after some were not listed or written.
const AGAIN: Duration = Duration::from_secs(15);
/// What a resource must support.
const VERBS: [&str; 3] = ["update", "patch", "list"];
/// The message of a migration that runs.
const IS_RUNNING: &str = "The migration is running";
/// A namespace that cannot exist: a list of it is empty, and has the version of the store.
const NO_NAMESPACE: &str = "@fake:svm_ns!";

/// Runs until `token` is cancelled.
///
/// # Errors
/// `StorageVersionMigration`s could not be listed for two minutes.
pub async fn run(client: Client, token: CancellationToken) -> Result<Stats, ManagerError> {
    let served = tokio::select! {
        biased;
        () = token.cancelled() => false,
        served = is_served(&client) => served,
    };
    if !served {
        token.cancelled().await;
        return Ok(Stats::default());
    }
    let factory = SharedInformerFactory::new(client.clone());
    let migrations = factory.informer::<StorageVersionMigration>();
    let controller = Controller::keyed("storage-version-migrator")
        .watches(&migrations, |migration: &StorageVersionMigration| {
            let of = &migration.spec.resource;
            vec![ObjectName::new(of.group.clone(), of.resource.clone())]
        })
        .workers(WORKERS);
    let reconciler = Migrator {
        api: Api::all(client.clone()),
        client,
        migrations: migrations.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

/// Reports whether the server has migrations; what it serves does not change while it runs.
async fn is_served(client: &Client) -> bool {
    let wanted = ApiResource::of::<StorageVersionMigration>().gvr();
    loop {
        match client.discover().await {
            Ok(found) => return found.of_resource(&wanted).is_some(),
            Err(error) => tracing::warn!(%error, "what the server serves cannot be read"),
        }
        tokio::time::sleep(RETRY).await;
    }
}

struct Migrator {
    client: Client,
    api: Api<StorageVersionMigration>,
    migrations: Lister<StorageVersionMigration>,
}

impl Reconciler for Migrator {
    /// A key is a group and a resource.
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let all = self.migrations.list();
        let mut own: Vec<_> = all
            .into_iter()
            .filter(|it| {
                let of = &it.spec.resource;
                of.group == key.namespace && of.resource == key.name
            })
            .collect();
        own.sort_by(|a, b| order(a).cmp(&order(b)));
        for over in own.iter().filter(|it| is_over(it) && holds(it, RUNNING)) {
            // Nothing to wait for: what follows comes with the event of the write.
            let _done = self.end(over).await?;
        }
        own.retain(|it| !is_over(it));
        let running = own.iter().find(|it| holds(it, RUNNING));
        match running.or_else(|| own.first()) {
            Some(next) if !holds(next, RUNNING) => self.begin(next).await,
            Some(next) if next.status.resource_version.is_empty() => self.set_version(next).await,
            Some(next) => self.migrate(next).await,
            None => {
                let of = GroupResource {
                    group: key.namespace,
                    resource: key.name,
                };
                definition::abandoned(&self.client, &of).await?;
                Ok(Action::done())
            }
        }
    }
}

/// The oldest migration is first.
fn order(migration: &StorageVersionMigration) -> (Option<i64>, &str) {
    let created = migration.metadata.creation_timestamp;
    (created.map(Time::unix), &migration.metadata.name)
}

impl Migrator {
    /// Says that a migration runs; what follows comes with the event of that.
    async fn begin(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        definition::migrating(&self.client, migration).await?;
        self.set(migration, RUNNING, "MigrationRunning", IS_RUNNING)
            .await
    }

    /// Remembers the version of the store: what is newer is stored as it should be.
    async fn set_version(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        let Some(found) = self.resource(migration).await? else {
            return self.unknown(migration).await;
        };
        let gvr = shown(&found.resource);
        if !VERBS.iter().all(|verb| found.has_verb(verb)) {
            let verbs = VERBS.join(" ");
            let why = format!("resource {gvr:?} does not support discovery operations: [{verbs}]");
            return self.fail(migration, &why).await;
        }
        let mut api = Api::<Metadata<()>>::dynamic(self.client.clone(), &found.resource);
        if found.resource.namespaced {
            api = api.in_namespace(NO_NAMESPACE);
        }
        let page = ListOptions {
            limit: 1,
            ..ListOptions::default()
        };
        let list = api.list(&page).await?;
        let mut migration = migration.clone();
        migration.status.resource_version = list.metadata.resource_version.to_string().into();
        self.write(&migration).await
    }

    /// Writes every object that is older than the migration.
    async fn migrate(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        let Some(found) = self.resource(migration).await? else {
            return self.unknown(migration).await;
        };
        let until = &migration.status.resource_version;
        let key = ObjectName::cluster(migration.metadata.name.clone());
        let uid = &migration.metadata.uid;
        let is_wanted = || {
            let found = self.migrations.get(&key);
            found.is_some_and(|it| it.metadata.uid == *uid)
        };
        let done = rewrite::all(&self.client, &found.resource, until, is_wanted).await;
        let done = match done {
            Ok(done) => done,
            Err(error) => return self.again(migration, &error).await,
        };
        match done {
            Rewritten::Unwanted => Ok(Action::done()),
            Rewritten::All => {
                let reason = "StorageVersionMigrationSucceeded";
                self.set(migration, SUCCEEDED, reason, "").await
            }
            Rewritten::Stopped(error) => {
                let mut why = format!("migration encountered unhandled error: {error}");
                // The objects that cannot be read are its causes; the first tells where to look.
                if let Some(cause) = error.status().and_then(|it| it.causes().first()) {
                    why = format!("{why}: {}: {}", cause.field, cause.message);
                }
                self.fail(migration, &why).await
            }
        }
    }

    /// Comes again, and says in the migration why.
    async fn again(
        &self,
        migration: &StorageVersionMigration,
        error: &ApiError,
    ) -> Result<Action, Error> {
        let name = &migration.metadata.name;
        tracing::warn!(migration = %name, %error, "not all objects could be written again");
        let mut told = migration.clone();
        if conditions::tell(
            &mut told,
            &format!("{IS_RUNNING}; the last attempt failed: {error}"),
        ) {
            let _done = self.write(&told).await?;
        }
        Ok(Action::requeue_after(AGAIN))
    }

    /// Says that a migration that is over no longer runs.
    async fn end(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        definition::migrated(&self.client, migration).await?;
        let mut migration = migration.clone();
        conditions::end(&mut migration, self.client.ambient().time());
        self.write(&migration).await
    }

    /// Returns the resource in the version that the server prefers.
    async fn resource(
        &self,
        migration: &StorageVersionMigration,
    ) -> Result<Option<DiscoveredResource>, Error> {
        let of = &migration.spec.resource;
        let found = self.client.discover().await?;
        let mut all = found.resources().iter();
        let wanted = |it: &ApiResource| (&*it.group, &*it.plural) == (&*of.group, &*of.resource);
        Ok(all.find(|it| wanted(&it.resource)).cloned())
    }

    /// The definition of a resource may come after its migration.
    async fn unknown(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        let now = self.client.ambient().time().unix();
        let created = migration.metadata.creation_timestamp;
        let age = now - created.map_or(0, Time::unix);
        if age < i64::try_from(PATIENCE.as_secs()).unwrap_or(i64::MAX) {
            return Ok(Action::requeue_after(RETRY));
        }
        self.fail(migration, "resource does not exist in discovery")
            .await
    }

    async fn fail(&self, migration: &StorageVersionMigration, why: &str) -> Result<Action, Error> {
        let reason = "StorageVersionMigrationFailed";
        self.set(migration, FAILED, reason, why).await
    }

    async fn set(
        &self,
        migration: &StorageVersionMigration,
        condition: &str,
        reason: &str,
        message: &str,
    ) -> Result<Action, Error> {
        let mut migration = migration.clone();
        let now = self.client.ambient().time();
        conditions::set(&mut migration, now, condition, reason, message);
        self.write(&migration).await
    }

    async fn write(&self, migration: &StorageVersionMigration) -> Result<Action, Error> {
        ignore_outdated(self.api.replace_status(migration).await)?;
        Ok(Action::done())
    }
}

/// Go's form of a resource.
fn shown(resource: &ApiResource) -> Str {
    let (group, version) = (&resource.group, &resource.version);
    format!("{group}/{version}, Resource={}", resource.plural).into()
}
