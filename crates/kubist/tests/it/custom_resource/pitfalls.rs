//! The pitfalls that users of derived kinds know: each definition is applied, and an object with
//! each form of value is created, read and updated without a change by the server.

use super::{establish, serving};
use kubist::Server;
use kubist::client::Api;
use kubist_custom_resource::{CustomResource, ListType, MapType, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Writes and reads one object for each spec, and writes it again.
async fn keeps<K, const N: usize>(specs: [K::Spec; N])
where
    K: CustomResource<Spec: Clone + PartialEq> + HasSpec + kubist::client::AllNamespaces,
{
    let server: Server = serving::<K>().await;
    let api: Api<K> = K::api(server.client());
    for (index, spec) in specs.into_iter().enumerate() {
        let mut object = K::from_parts(Default::default(), spec.clone(), None);
        object.metadata_mut().name = format!("o{index}").as_str().into();
        let created = api.create(&object).await.unwrap();
        assert_eq!(*created.spec(), spec);
        let mut read = api.get(created.name()).await.unwrap();
        read.metadata_mut()
            .labels
            .insert("updated".into(), "yes".into());
        let replaced = api.replace(&read).await.unwrap();
        assert_eq!(*replaced.spec(), spec);
        assert_eq!(replaced.metadata().generation, 1, "the spec did not change");
    }
    server.shutdown().await;
}
