//! `ParamKinds`: the parameters of policies, as objects of a registry.

use kubist_admission::{ParamResource, ParamSource};
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{ListOptions, ResourceVersion, Selector, Status};
use kubist_registry::{BoxFuture, Registry, RequestContext, Rest, Stored, User};
use serde_json::Value;
use std::sync::Arc;

/// The kinds of a registry: built in, and defined.
#[derive(Debug)]
pub(super) struct ParamKinds(Registry);

/// One kind of them.
#[derive(Debug)]
struct Params {
    rest: Arc<Rest>,
    cx: RequestContext,
}

impl ParamKinds {
    pub(super) fn new(registry: Registry) -> Self {
        Self(registry)
    }
}

impl ParamSource for ParamKinds {
    fn resource(&self, group: &str, version: &str, kind: &str) -> Option<Arc<dyn ParamResource>> {
        let groups = self.0.groups();
        let found = groups.iter().find(|it| it.name == *group)?;
        let mut resources = found.version(version)?.resources.iter();
        let facts = resources.find(|it| it.facts.kind == kind)?.facts;
        let rest = self.0.resource(group, version, facts.plural)?;
        let cx = self.0.request(User {
            name: "system:apiserver".into(),
            ..User::default()
        });
        Some(Arc::new(Params { rest, cx }))
    }
}

impl ParamResource for Params {
    fn is_namespaced(&self) -> bool {
        self.rest.facts().namespaced
    }

    fn get<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, Status>> {
        Box::pin(async move {
            let version = ResourceVersion::default();
            match self.rest.get(&self.cx, namespace, name, &version).await {
                Ok(stored) => Ok(Some(json(&stored)?)),
                Err(status) if status.is_not_found() => Ok(None),
                Err(status) => Err(status),
            }
        })
    }

    fn list<'a>(
        &'a self,
        namespace: &'a str,
        selector: &'a Selector,
    ) -> BoxFuture<'a, Result<Vec<Value>, Status>> {
        Box::pin(async move {
            let options = ListOptions {
                label_selector: selector.clone(),
                ..ListOptions::default()
            };
            let page = self.rest.list(&self.cx, namespace, &options).await?;
            page.items.iter().map(json).collect()
        })
    }
}

fn json(stored: &Stored) -> Result<Value, Status> {
    Ok(to_json_value(&**stored.object()?))
}
