//! `Expect`: waits for what is expected, or checks that it does not come.
//!
//! What exists at first is always looked at, whatever the bound: it is no success to have seen
//! nothing.

use super::error::{AssertionError, Failure};
use super::follow::Follow;
use super::observer::Observer;
use crate::clock::after;
use kubist::apimachinery::wire::Encode;
use kubist::apimachinery::{ApiResource, Object, Selector, Str, validate_name};
use kubist::client::{Api, ApiError};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long `eventually` and `stable` wait unless told otherwise, in virtual time.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same in real time.
const REAL_PATIENCE: Duration = Duration::from_secs(10);
/// The kinds whose names may be any segment of a path: of this group, and these resources.
const FREE_NAMES_GROUP: &str = "rbac.authorization.k8s.io";
const FREE_NAMES: [&str; 3] = [
    "certificatesigningrequests",
    "clustertrustbundles",
    "ipaddresses",
];

/// What is expected of one object or of several.
pub(super) struct Expect<K> {
    observer: Arc<Observer>,
    api: Api<K>,
    resource: ApiResource,
    namespace: Str,
    name: Option<Str>,
    pub(super) labels: Str,
    pub(super) patience: Duration,
}

impl<K: Object + Encode> Expect<K> {
    pub(super) fn new(
        observer: Arc<Observer>,
        api: Api<K>,
        namespace: &str,
        name: Option<Str>,
    ) -> Self {
        let patience = patience(&observer);
        let api = if namespace.is_empty() {
            api
        } else {
            api.in_namespace(namespace)
        };
        Self {
            resource: api.resource().clone(),
            observer,
            api,
            namespace: namespace.into(),
            name,
            labels: Str::default(),
            patience,
        }
    }

    pub(super) async fn until(
        &self,
        location: &'static Location<'static>,
        what: &str,
        mut met: impl FnMut(&[K]) -> bool,
    ) -> Result<Vec<K>, AssertionError> {
        let until = after(self.patience);
        let mut follow = self.begin(location, what).await?;
        while !met(follow.objects()) {
            let Some(changed) = self.changed(&mut follow, until).await else {
                let why = format!("{what}: not within {:?}", self.patience);
                return Err(self.fail(location, &why, Some(&follow)));
            };
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
        }
        Ok(follow.into_objects())
    }

    pub(super) async fn not_for(
        &self,
        location: &'static Location<'static>,
        time: Duration,
        mut met: impl FnMut(&[K]) -> bool,
    ) -> Result<(), AssertionError> {
        let (begun, until) = (Instant::now(), after(time));
        let mut follow = self.begin(location, "never").await?;
        loop {
            if met(follow.objects()) {
                let why = format!("never for {time:?}: but after {:?}", begun.elapsed());
                return Err(self.fail(location, &why, Some(&follow)));
            }
            let Some(changed) = self.changed(&mut follow, until).await else {
                return Ok(());
            };
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
        }
    }

    pub(super) async fn quiet_for(
        &self,
        location: &'static Location<'static>,
        quiet: Duration,
    ) -> Result<Vec<K>, AssertionError> {
        if quiet.is_zero() {
            let why = "stable for no time: nothing is seen in it, so the time has to be longer";
            return Err(self.fail(location, why, None));
        }
        let until = after(self.patience);
        let mut follow = self.begin(location, "stable").await?;
        loop {
            let Some(changed) = self.changed(&mut follow, after(quiet)).await else {
                return Ok(follow.into_objects());
            };
            changed.map_err(|why| self.fail(location, &why, Some(&follow)))?;
            if Instant::now() >= until {
                let why = format!("stable for {quiet:?}: not within {:?}", self.patience);
                return Err(self.fail(location, &why, Some(&follow)));
            }
        }
    }

    /// Follows the objects, as soon as those that exist are known.
    async fn begin(
        &self,
        location: &'static Location<'static>,
        what: &str,
    ) -> Result<Follow<K>, AssertionError> {
        if let Some(problem) = self.impossible() {
            let why = format!("{what}: no such object can exist: {problem}");
            return Err(self.fail(location, &why, None));
        }
        let labels: Selector = self.labels.parse().map_err(|error| {
            let why = format!("{:?} is not a label selector: {error}", &*self.labels);
            self.fail(location, &why, None)
        })?;
        let mut follow = Follow::new(self.api.clone(), self.name.as_deref(), labels);
        let wait = self.patience.max(patience(&self.observer));
        let Some(listed) = self.changed(&mut follow, after(wait)).await else {
            let why = format!("{what}: the objects were not listed within {wait:?}");
            return Err(self.fail(location, &why, None));
        };
        listed.map_err(|why| self.fail(location, &why, None))?;
        Ok(follow)
    }

    /// Returns why there can never be such an object, as the server would say; none if there can.
    fn impossible(&self) -> Option<String> {
        let say = |what: &str, value: &str, problems: Vec<String>| {
            let problem = problems.into_iter().next()?;
            Some(format!("the {what} {value:?} is invalid: {problem}"))
        };
        if !self.namespace.is_empty() {
            let problems = validate_name::dns1123_label(&self.namespace);
            if let Some(said) = say("namespace", &self.namespace, problems) {
                return Some(said);
            }
        }
        let name = self.name.as_deref()?;
        if name.is_empty() {
            return Some("the name is empty".to_owned());
        }
        let is_free = self.resource.group == FREE_NAMES_GROUP
            || FREE_NAMES.contains(&self.resource.plural.as_str());
        if is_free {
            let is_segment = !matches!(name, "." | "..") && !name.contains(['/', '%']);
            return (!is_segment).then(|| format!("the name {name:?} is no segment of a path"));
        }
        say("name", name, validate_name::dns1123_subdomain(name))
    }

    /// Waits for a change of the objects; none at the time. The error says why there will be none.
    async fn changed(&self, follow: &mut Follow<K>, until: Instant) -> Option<Result<(), String>> {
        tokio::select! {
            biased;
            reason = self.observer.pulse.stuck() => Some(Err(reason)),
            changed = follow.change() => Some(changed.map_err(|error| words(&error))),
            () = tokio::time::sleep_until(until) => None,
        }
    }

    pub(super) fn fail(
        &self,
        location: &'static Location<'static>,
        why: &str,
        follow: Option<&Follow<K>>,
    ) -> AssertionError {
        let (kind, namespace) = (&self.resource.kind, &self.namespace);
        let subject = match (&self.name, namespace.is_empty()) {
            (Some(name), true) => format!("{kind} {name}"),
            (Some(name), false) => format!("{kind} {namespace}/{name}"),
            (None, true) => format!("all {}", self.resource.plural),
            (None, false) => format!("the {} of {namespace}", self.resource.plural),
        };
        let subject = match self.labels.as_str() {
            "" => subject,
            labels => format!("{subject} with labels {labels}"),
        };
        let last = follow.map(Follow::last);
        let names = follow.filter(|_| self.name.is_none()).map(|follow| {
            let names = follow
                .objects()
                .iter()
                .map(|it| it.object_name().to_string());
            names.collect()
        });
        Failure {
            observer: &self.observer,
            resource: &self.resource,
            expected: format!("{subject}, {why}"),
            location,
            last: last.and_then(|it| it.object.as_ref()),
            before: last.and_then(|it| it.before.as_ref()),
            deleted: last.is_some_and(|it| it.deleted),
            names,
        }
        .into_error()
    }
}

/// Returns how long is waited unless told otherwise.
fn patience(observer: &Observer) -> Duration {
    if observer.clock.is_virtual() {
        PATIENCE
    } else {
        REAL_PATIENCE
    }
}

/// Returns an error with its causes.
fn words(error: &ApiError) -> String {
    crate::controllers::RunError::new(error.clone()).to_string()
}

impl<K> fmt::Debug for Expect<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expect")
            .field("kind", &self.resource.kind)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}
