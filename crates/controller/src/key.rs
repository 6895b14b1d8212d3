//! `Key`: what a controller queues and reconciles; `ClusterKey`: the name of an object of one of
//! several clusters.

use kubist_apimachinery::{ObjectName, Str};
use std::fmt;
use std::hash::Hash;

/// What a controller queues, and a reconciler is called with. Usually an [`ObjectName`]; a
/// [`ClusterKey`] for objects of several clusters, or a type of one's own. Logs name it by its
/// `Display`.
pub trait Key: Clone + Eq + Hash + fmt::Debug + fmt::Display + Send + Sync + 'static {}

impl<Q: Clone + Eq + Hash + fmt::Debug + fmt::Display + Send + Sync + 'static> Key for Q {}

/// The name of an object, and its cluster. `Display` is `cluster/namespace/name`.
///
/// One controller for the objects of several clusters, whose informers are from a factory each:
///
/// ```
/// # use kubist_api::core::v1::ConfigMap;
/// # use kubist_client::Client;
/// # use kubist_controller::{Action, ClusterKey, Controller, Error, EventSource, Manager};
/// # use kubist_informers::SharedInformerFactory;
/// # fn example(home: Client, clusters: Vec<(&'static str, Client)>) -> Manager<Client> {
/// let mut manager = Manager::new(SharedInformerFactory::new(home));
/// let mut controller = Controller::keyed("maps");
/// for (cluster, client) in clusters {
///     let factory = SharedInformerFactory::new(client);
///     let maps = EventSource::for_object(&factory.informer::<ConfigMap>());
///     controller = controller.source(maps.keyed(move |name| ClusterKey::new(cluster, name)));
///     manager = manager.with_factory(factory);
/// }
/// let reconcile = |key: ClusterKey| async move {
///     println!("{} in {}", key.object, key.cluster);
///     Ok::<_, Error>(Action::done())
/// };
/// manager.with(controller, reconcile)
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "callers build it")]
pub struct ClusterKey {
    /// The cluster.
    pub cluster: Str,
    /// The object.
    pub object: ObjectName,
}

impl ClusterKey {
    /// Names an object of a cluster.
    pub fn new(cluster: impl Into<Str>, object: ObjectName) -> Self {
        Self {
            cluster: cluster.into(),
            object,
        }
    }
}

impl fmt::Display for ClusterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.object)
    }
}
