//! `apply-set NAME FILE…` applies manifests as the set NAME, and deletes what an earlier call
//! applied and this one does not.
//!
//! The set is a `ConfigMap` of its name in the default namespace of the kubeconfig, with the
//! labels of KEP-3659: `kubectl apply --prune --applyset` understands it.

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{PatchOptions, Unstructured};
use kubist::client::{Api, Client, RestMapper};
use kubist::codec::yaml::parse_all;
use kubist::controller::{ApplySet, ApplySetOutcome, ApplySetParent, Member};
use std::error::Error;
use std::io::Write as _;

/// The name of this program, by which it knows its own sets, and its version.
const TOOLING: &str = "apply-set/v0.1.0";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: apply-set NAME FILE…")?;
    let mut texts = Vec::new();
    for file in arguments {
        let text = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
        texts.push(text);
    }
    let outcome = apply(&kubist::infer()?, &name, &texts).await?;
    let mut out = std::io::stdout().lock();
    for (what, members) in [("applied", outcome.applied), ("pruned", outcome.pruned)] {
        for Member { kind, name } in members {
            writeln!(out, "{kind} {name} {what}")?;
        }
    }
    Ok(())
}

/// Applies YAML documents as a set.
async fn apply(
    client: &Client,
    name: &str,
    texts: &[Vec<u8>],
) -> Result<ApplySetOutcome, Box<dyn Error>> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut parent = ConfigMap::default();
    parent.metadata.name = name.into();
    parent = maps
        .apply(&parent, &PatchOptions::managed_by("apply-set"))
        .await?;
    let mapper = RestMapper::new(client.clone());
    let parent = ApplySetParent::of(&parent);
    let mut set = ApplySet::new(client.clone(), mapper, parent, TOOLING);
    for text in texts {
        for document in parse_all(text)? {
            let object: Unstructured = serde_json::from_value(document.value)?;
            set.add(&object)?;
        }
    }
    Ok(set.apply().await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::{Server, ServerConfig};

    const BOTH: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: colours}
data: {first: red}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
";
    const ONE: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: colours}
data: {first: blue}
";

    fn names(members: &[Member]) -> Vec<String> {
        let name = |it: &Member| format!("{} {}", it.kind, it.name);
        members.iter().map(name).collect()
    }

    #[tokio::test]
    async fn what_is_no_longer_in_the_set_is_deleted() -> Result<(), Box<dyn Error>> {
        let server = Server::start(ServerConfig::default()).await?;
        let client = server.client();
        let outcome = apply(&client, "shop", &[BOTH.into()]).await?;
        assert_eq!(
            names(&outcome.applied),
            ["ConfigMap default/colours", "Secret default/key"]
        );
        assert_eq!(outcome.pruned, []);

        let outcome = apply(&client, "shop", &[ONE.into()]).await?;
        assert_eq!(names(&outcome.applied), ["ConfigMap default/colours"]);
        assert_eq!(names(&outcome.pruned), ["Secret default/key"]);
        let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
        assert_eq!(maps.get("colours").await?.data["first"], "blue");

        // A set of another name has members of its own.
        let outcome = apply(&client, "other", &[]).await?;
        assert_eq!(outcome, ApplySetOutcome::default());
        maps.get("colours").await?;
        server.shutdown().await;
        Ok(())
    }
}
