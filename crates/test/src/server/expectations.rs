//! What a test gives to a server and expects of it.

use super::TestServer;
use crate::assertion::{ExpectObject, ExpectObjects};
use crate::error::TestError;
use crate::fixtures::Fixtures;
use crate::login::Login;
use kubist::apimachinery::wire::{Encode, Ingest};
use kubist::apimachinery::{ApiResource, Unstructured};
use kubist::client::Api;
use std::sync::Arc;

impl TestServer {
    /// Expects something of an object. A cluster-scoped one has the namespace `""`.
    pub fn object<K: Ingest + Encode>(&self, namespace: &str, name: &str) -> ExpectObject<K> {
        let api = Api::all(self.observer.client.clone());
        ExpectObject::new(Arc::clone(&self.observer), api, namespace, name)
    }

    /// Expects something of an object of a kind known at run time.
    pub fn dynamic_object(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> ExpectObject<Unstructured> {
        let api = Api::dynamic(self.observer.client.clone(), resource);
        ExpectObject::new(Arc::clone(&self.observer), api, namespace, name)
    }

    /// Expects something of the objects of a namespace, or of all namespaces for `""`.
    pub fn objects<K: Ingest + Encode>(&self, namespace: &str) -> ExpectObjects<K> {
        let api = Api::all(self.observer.client.clone());
        ExpectObjects::new(Arc::clone(&self.observer), api, namespace)
    }

    /// Expects something of the objects of a kind known at run time.
    pub fn dynamic_objects(
        &self,
        resource: &ApiResource,
        namespace: &str,
    ) -> ExpectObjects<Unstructured> {
        let api = Api::dynamic(self.observer.client.clone(), resource);
        ExpectObjects::new(Arc::clone(&self.observer), api, namespace)
    }

    /// Creates the objects of a YAML text: definitions first, then the rest in its order.
    ///
    /// # Errors
    /// The text is not YAML, or an object is refused; the error names the document and its line.
    pub async fn apply_yaml(&self, text: &str) -> Result<(), TestError> {
        self.apply(&Fixtures::new().yaml(text)).await
    }

    /// Creates fixtures.
    ///
    /// # Errors
    /// A file cannot be read, or an object is refused; the error names the file, the document and
    /// its line.
    pub async fn apply(&self, fixtures: &Fixtures) -> Result<(), TestError> {
        let login = Login::admin().with_user_agent("kubist-test-fixtures");
        let client = self.client_of(&login)?;
        Ok(fixtures.create(&client, &self.observer.client).await?)
    }
}
