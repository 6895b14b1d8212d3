//! A registry with plugins, and its objects as JSON.

use kubist_admission::PluginSelection;
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, DeleteOptions, PostOptions, ResourceVersion, Status};
use kubist_registry::admission::{AdmissionChain, AdmissionPlugin};
use kubist_registry::{
    Created, Registry, RegistryConfig, Replacement, RequestContext, Rest, RuntimeConfig, User,
};
use kubist_storage::memory::MemoryKv;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) struct Fixture {
    pub(crate) registry: Registry,
}

/// A kind, by group, version and plural.
pub(crate) type Of = (&'static str, &'static str, &'static str);

pub(crate) const PODS: Of = ("", "v1", "pods");
pub(crate) const MAPS: Of = ("", "v1", "configmaps");
pub(crate) const NAMESPACES: Of = ("", "v1", "namespaces");
pub(crate) const QUOTAS: Of = ("", "v1", "resourcequotas");
pub(crate) const CLAIMS: Of = ("", "v1", "persistentvolumeclaims");
pub(crate) const DEPLOYMENTS: Of = ("apps", "v1", "deployments");

impl Fixture {
    /// Returns a registry with upstream's default plugins.
    pub(crate) async fn new() -> Self {
        Self::with(PluginSelection::default().chain(Vec::new())).await
    }

    /// Returns a registry with default plugins and more of them.
    pub(crate) async fn enabled(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let selection = PluginSelection::new(&names, &[]).expect("they exist");
        Self::with(selection.chain(Vec::new())).await
    }

    /// Returns a registry with a plugin alone.
    pub(crate) async fn only(plugin: Arc<dyn AdmissionPlugin>) -> Self {
        Self::with(AdmissionChain::new(vec![plugin])).await
    }

    pub(crate) async fn with(chain: AdmissionChain) -> Self {
        let kv = Arc::new(MemoryKv::default());
        let mut config = RegistryConfig::new(kv, kubist_kinds::BuiltIn::shared());
        config.seed = Some(7);
        config.runtime_config = RuntimeConfig::everything();
        config.admission = chain;
        let registry = Registry::new(config);
        registry.start().await.expect("nothing is in the way");
        Self { registry }
    }

    pub(crate) fn cx(&self) -> RequestContext {
        self.registry.request(User::default())
    }

    pub(crate) fn rest(&self, (group, version, plural): Of, subresource: &str) -> Rest {
        let found = self.registry.resource(group, version, plural);
        let found = found.unwrap_or_else(|| panic!("{plural} are served"));
        if subresource.is_empty() {
            return (*found).clone();
        }
        let found = found.subresource(subresource);
        found.unwrap_or_else(|| panic!("{plural} have {subresource}"))
    }

    /// Creates an object in its namespace, or in `default`.
    pub(crate) async fn create(&self, of: Of, object: Value) -> Result<Value, Status> {
        self.create_by(&self.cx(), of, object).await
    }

    /// The same, and returns the warnings.
    pub(crate) async fn create_warned(&self, of: Of, object: Value) -> (Value, Vec<String>) {
        let cx = self.cx();
        let created = self.create_by(&cx, of, object).await;
        (created.expect("it is accepted"), cx.take_warnings())
    }

    pub(crate) async fn create_by(
        &self,
        cx: &RequestContext,
        of: Of,
        object: Value,
    ) -> Result<Value, Status> {
        let options = PostOptions::default();
        self.create_with(cx, of, object, &options).await
    }

    pub(crate) async fn create_with(
        &self,
        cx: &RequestContext,
        of: Of,
        object: Value,
        options: &PostOptions,
    ) -> Result<Value, Status> {
        let rest = self.rest(of, "");
        let namespace = namespace_of(&rest, &object);
        let object = decoded(&rest, &object);
        let created = rest.create(cx, &namespace, "", object, options).await?;
        Ok(shown(&created))
    }

    /// Creates through a subresource of an object in `default`.
    pub(crate) async fn act(
        &self,
        of: Of,
        (name, subresource): (&str, &str),
        object: Value,
    ) -> Result<Value, Status> {
        let rest = self.rest(of, subresource);
        let (cx, options) = (self.cx(), PostOptions::default());
        let object = decoded(&rest, &object);
        let created = rest.create(&cx, "default", name, object, &options).await?;
        Ok(shown(&created))
    }

    /// Replaces an object, or the part of it that is a subresource.
    pub(crate) async fn put(
        &self,
        of: Of,
        subresource: &str,
        object: Value,
    ) -> Result<Value, Status> {
        self.put_by(&self.cx(), of, subresource, object).await
    }

    pub(crate) async fn put_by(
        &self,
        cx: &RequestContext,
        of: Of,
        subresource: &str,
        object: Value,
    ) -> Result<Value, Status> {
        let rest = self.rest(of, subresource);
        let namespace = namespace_of(&rest, &object);
        let name = object["metadata"]["name"].as_str().expect("it has a name");
        let new = Replacement(decoded(&rest, &object));
        let options = PostOptions::default();
        let updated = rest.update(cx, &namespace, name, &new, &options).await?;
        Ok(to_json_value(&**updated.object.object()?))
    }

    pub(crate) async fn get(&self, of: Of, name: &str) -> Result<Value, Status> {
        let rest = self.rest(of, "");
        let namespace = namespace_of(&rest, &Value::Null);
        let any = ResourceVersion::default();
        let got = rest.get(&self.cx(), &namespace, name, &any).await?;
        Ok(to_json_value(&**got.object()?))
    }

    pub(crate) async fn delete(&self, of: Of, name: &str) -> Result<(), Status> {
        let rest = self.rest(of, "");
        let namespace = namespace_of(&rest, &Value::Null);
        let options = DeleteOptions::now();
        rest.delete(&self.cx(), &namespace, name, &options)
            .await
            .map(drop)
    }
}

fn namespace_of(rest: &Rest, object: &Value) -> String {
    if !rest.facts().namespaced {
        return String::new();
    }
    let given = object["metadata"]["namespace"].as_str();
    given.unwrap_or("default").to_owned()
}

fn decoded(rest: &Rest, object: &Value) -> Box<dyn AnyObject> {
    let mut made = rest.new_object().expect("it is an object");
    let json = serde_json::to_vec(object).expect("it is JSON");
    merge_json(&mut *made, &json, &mut DecodeContext::new()).expect("it is of its kind");
    made
}

fn shown(created: &Created) -> Value {
    match created {
        Created::Object(stored) => to_json_value(&**stored.object().expect("readable")),
        Created::Status(status) => to_json_value(&**status),
    }
}

/// Returns a Pod of one container.
pub(crate) fn pod(name: &str, container: Value) -> Value {
    let mut container = container;
    container["name"] = "c".into();
    container["image"] = "i".into();
    json!({"metadata": {"name": name}, "spec": {"containers": [container]}})
}

/// Returns a config map.
pub(crate) fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}
