//! Objects for these tests.

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ObjectMeta;
use kubist::client::Api;
use kubist_test::TestServer;

pub(crate) fn map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap {
        metadata: ObjectMeta {
            name: name.into(),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    map.data.insert("value".into(), value.into());
    map
}

pub(crate) fn maps(server: &TestServer) -> Api<ConfigMap> {
    Api::namespaced(server.client(), "default")
}

pub(crate) fn value(map: &ConfigMap) -> &str {
    map.data.get("value").map_or("", |it| it)
}
