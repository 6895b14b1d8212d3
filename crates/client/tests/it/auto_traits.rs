//! Handles and futures are `Send` and `Sync`.

use kubist_api::core::v1::Pod;
use kubist_apimachinery::{ListOptions, Unstructured};
use kubist_client::{Api, ApiError, Client, Config, Discovery, Patch, Subresource, WaitUntilError};

fn sendable<T: Send>(_: &T) {}
fn free<T: Send + Sync + Unpin + 'static>() {}

#[test]
fn handles_and_errors_are_free_to_move() {
    free::<Client>();
    free::<Config>();
    free::<Api<Pod>>();
    free::<Api<Unstructured>>();
    free::<Subresource<Pod>>();
    free::<ApiError>();
    free::<WaitUntilError>();
    free::<Discovery>();
    free::<Patch>();
}

#[tokio::test]
async fn futures_can_be_spawned() {
    let client = crate::server::Server::new([]).client();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "shop");
    let (pod, options) = (Pod::default(), ListOptions::default());
    sendable(&pods.create(&pod));
    sendable(&pods.list(&options));
    sendable(&pods.watch(&options));
    sendable(&pods.list_all(&options));
    sendable(&pods.delete("web"));
    sendable(&pods.wait_until("web", |_| true));
    sendable(&pods.wait_until_within("web", std::time::Duration::ZERO, |_| true));
    sendable(&client.discover());
}
