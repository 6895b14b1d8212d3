//! `Scenario`: a prepared world, controllers, the steps of a user, and what must hold.

use crate::controllers::ServerController;
use crate::explore::invariant::Invariant;
use crate::explore::limits::Limits;
use crate::explore::normal::Excuse;
use crate::explore::state::State;
use crate::faults::Faults;
use crate::login::Login;
use crate::snapshot::Snapshot;
use futures_core::future::BoxFuture;
use kubist::client::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The most worlds side by side.
const THREADS_MAX: usize = 256;

/// What a controller's future returns, or a step: nothing, or an error that is shown.
pub type Ended = Result<(), String>;

type Factory = dyn Fn(Client, CancellationToken) -> BoxFuture<'static, Ended> + Send + Sync;
type Act = dyn Fn(Client) -> BoxFuture<'static, Ended> + Send + Sync;
type AddFaults = dyn Fn(&Faults) + Send + Sync;

/// A controller of a scenario.
#[derive(Clone)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) copies: usize,
    pub(crate) factory: Arc<Factory>,
}

impl Candidate {
    /// Returns the name of a copy.
    pub(crate) fn label(&self, number: usize) -> String {
        match self.copies {
            1 => self.name.clone(),
            _ => format!("{}-{number}", self.name),
        }
    }
}

/// A step of the user, or of the preparation.
#[derive(Clone)]
pub(crate) struct UserStep {
    pub(crate) name: String,
    pub(crate) act: Arc<Act>,
}

/// What is explored. Cheap to clone.
///
/// ```
/// use kubist::api::core::v1::ConfigMap;
/// use kubist::client::{Api, ApiError};
/// use kubist_test::explore::Scenario;
///
/// let scenario = Scenario::new("settings")
///     .controller("operator", |client, stop| async move {
///         // Manager::new(…).with(…).run(stop).await
///         stop.cancelled().await;
///         drop(client);
///         Ok::<_, ApiError>(())
///     })
///     .step("settings are written", |client| async move {
///         let mut settings = ConfigMap::default();
///         settings.metadata.name = "settings".into();
///         Api::namespaced(client, "default").create(&settings).await
///     })
///     .invariant("settings are small", |state| {
///         let all = state.all::<ConfigMap>();
///         let large = all.iter().find(|it| it.data.len() > 10);
///         large.map_or(Ok(()), |it| Err(format!("{} is large", it.metadata.name)))
///     });
/// let explored = kubist_test::explore::explore(0..10, &scenario);
/// explored.assert_good();
/// ```
#[derive(Clone)]
pub struct Scenario {
    pub(crate) name: String,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) preparation: Vec<UserStep>,
    pub(crate) controllers: Vec<Candidate>,
    pub(crate) servers_own: BTreeSet<ServerController>,
    pub(crate) obeys_roles: bool,
    pub(crate) logins: BTreeMap<String, Login>,
    pub(crate) steps: Vec<UserStep>,
    pub(crate) invariants: Vec<Invariant>,
    pub(crate) excuses: Vec<Excuse>,
    pub(crate) converges: bool,
    pub(crate) add_faults: Vec<Arc<AddFaults>>,
    pub(crate) limits: Limits,
    pub(crate) threads: Option<usize>,
    pub(crate) test: Option<String>,
}

impl Scenario {
    /// A scenario on an empty cluster, with the objects that every cluster has.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            snapshot: None,
            preparation: Vec::new(),
            controllers: Vec::new(),
            servers_own: BTreeSet::new(),
            obeys_roles: false,
            logins: BTreeMap::new(),
            steps: Vec::new(),
            invariants: Vec::new(),
            excuses: Vec::new(),
            converges: true,
            add_faults: Vec::new(),
            limits: Limits::default(),
            threads: None,
            test: None,
        }
    }

    /// Begins with the state of a snapshot instead of an empty cluster. Of its options, only the
    /// state and the date count: it is the scenario that says what runs.
    #[must_use]
    pub fn on(mut self, snapshot: &Snapshot) -> Self {
        self.snapshot = Some(snapshot.clone());
        self
    }

    /// Adds what is done once, before any world begins: definitions, and objects that are there.
    /// Every world is a fork of the result. Without faults, and without the controllers.
    #[must_use]
    pub fn prepare<F, T, E>(
        mut self,
        name: impl Into<String>,
        act: impl Fn(Client) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        self.preparation.push(UserStep::new(name, act));
        self
    }

    /// Adds a controller: a function that starts it with a client, until the token is cancelled. It
    /// is called again after each crash, so it should create all that the controller holds. Its
    /// name is its own: another controller's, or `user`, fails the exploration with a
    /// [`Mistake`](crate::explore::Mistake).
    ///
    /// All time, requests and tasks of the future have to be tokio's and the client's, and its
    /// random numbers [`Client::ambient`]'s; otherwise a seed does not replay.
    #[must_use]
    pub fn controller<F, T, E>(
        self,
        name: impl Into<String>,
        factory: impl Fn(Client, CancellationToken) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        self.copies(name, 1, factory)
    }

    /// Adds a controller that runs in several copies, at most 100, of which leader election lets
    /// one work. A copy may be frozen beyond its lease.
    #[must_use]
    pub fn copies<F, T, E>(
        mut self,
        name: impl Into<String>,
        copies: usize,
        factory: impl Fn(Client, CancellationToken) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        let factory = move |client, token| -> BoxFuture<'static, Ended> {
            let future = factory(client, token);
            Box::pin(async move { future.await.map(|_| ()).map_err(|it| it.to_string()) })
        };
        self.controllers.push(Candidate {
            name: name.into(),
            copies: copies.max(1),
            factory: Arc::new(factory),
        });
        self
    }

    /// Runs the server's own controllers in each world: the garbage collector, namespaces. Default:
    /// none, because they watch everything; objects whose owners are gone then count as collected
    /// in the end.
    #[must_use]
    pub fn server_controllers(mut self, these: impl IntoIterator<Item = ServerController>) -> Self {
        self.servers_own = these.into_iter().collect();
        self
    }

    /// Obeys roles and bindings, with upstream's default ones: the controllers may do what these
    /// allow, as the users that [`acts_as`](Self::acts_as) says. What they need is stored by
    /// [`prepare`](Self::prepare), whose user may do everything, as the one of the steps.
    /// Default: everybody may do everything.
    #[must_use]
    pub fn obey_roles(mut self) -> Self {
        self.obeys_roles = true;
        self
    }

    /// Sets the user of a controller, by its name, such as its service account. Default: a user
    /// with the controller's name, which is in `system:masters` unless roles are obeyed.
    #[must_use]
    pub fn acts_as(mut self, controller: impl Into<String>, login: &Login) -> Self {
        self.logins.insert(controller.into(), login.clone());
        self
    }

    /// Adds a step of the user. Steps are taken in order, with pauses from none to long ones. Its
    /// requests have no faults, but may meet the writes of controllers: patches do not conflict.
    #[must_use]
    pub fn step<F, T, E>(
        mut self,
        name: impl Into<String>,
        act: impl Fn(Client) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        self.steps.push(UserStep::new(name, act));
        self
    }

    /// Adds what must hold after every write. An error says what does not.
    #[must_use]
    pub fn invariant(
        mut self,
        name: impl Into<String>,
        check: impl Fn(&State) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.invariants.push(Invariant::new(name, check));
        self
    }

    /// Excuses a kind, or a field of it as a JSON pointer, from the comparison with the run without
    /// faults. `*` in the pointer stands for every item of a list; an empty pointer for the kind.
    ///
    /// A pointer that does not begin with `/` fails the exploration, and
    /// [`unused_excuses`](crate::explore::Exploration::unused_excuses) has those that excused no
    /// difference.
    #[must_use]
    pub fn excuse(mut self, kind: impl Into<String>, pointer: impl Into<String>) -> Self {
        self.excuses.push(Excuse::new(kind.into(), pointer.into()));
        self
    }

    /// Returns the user of a controller.
    pub(crate) fn login_of(&self, controller: &Candidate) -> Login {
        let named = || Login {
            user: controller.name.as_str().into(),
            groups: if self.obeys_roles {
                Vec::new()
            } else {
                vec!["system:masters".into()]
            },
            user_agent: None,
        };
        self.logins
            .get(&controller.name)
            .cloned()
            .unwrap_or_else(named)
    }

    /// Does not compare the end with that of a run without faults. Default: it is compared.
    #[must_use]
    pub fn may_end_differently(mut self) -> Self {
        self.converges = false;
        self
    }

    /// Adds rules to each world, besides the faults of its plan. They are cleared with these.
    /// Whether they [act](crate::faults::RuleBuilder::must_act) is not checked: no rule need act in
    /// each world.
    #[must_use]
    pub fn with_faults(mut self, add: impl Fn(&Faults) + Send + Sync + 'static) -> Self {
        self.add_faults.push(Arc::new(add));
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many worlds run side by side, from 1 to 256. Default: as many as there are
    /// processors. No result depends on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.clamp(1, THREADS_MAX));
        self
    }

    /// Sets the name of the test that a story tells to run. Default: that of the thread, which the
    /// test harness names after the test.
    #[must_use]
    pub fn test_name(mut self, name: impl Into<String>) -> Self {
        self.test = Some(name.into());
        self
    }
}

impl UserStep {
    fn new<F, T, E>(
        name: impl Into<String>,
        act: impl Fn(Client) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
        E: fmt::Display,
    {
        let act = move |client| -> BoxFuture<'static, Ended> {
            let future = act(client);
            Box::pin(async move { future.await.map(|_| ()).map_err(|it| it.to_string()) })
        };
        Self {
            name: name.into(),
            act: Arc::new(act),
        }
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let controllers: Vec<&str> = self.controllers.iter().map(|it| it.name.as_str()).collect();
        let steps: Vec<&str> = self.steps.iter().map(|it| it.name.as_str()).collect();
        f.debug_struct("Scenario")
            .field("name", &self.name)
            .field("controllers", &controllers)
            .field("steps", &steps)
            .field("invariants", &self.invariants)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
