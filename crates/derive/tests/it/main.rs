//! Projections of Pods and Nodes, from both encodings.

#![expect(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod allocations;
mod object;
mod paths;

use kubist_api::core::v1::{Container, EnvVar, Pod};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest, WireError, encode};
use kubist_apimachinery::{KubeObject, LeanMeta, ObjectMeta, OwnerReference, Str};
use kubist_derive::Projection;

const BOTH: [Encoding; 2] = [Encoding::Json, Encoding::Protobuf];

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(of = Pod)]
struct PodNode {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.nodeName")]
    node: Str,
    #[projection("status.phase")]
    phase: Option<Str>,
    #[projection("spec.containers[].image")]
    images: Vec<Str>,
}

/// A Pod with something in every corner.
fn pod() -> Pod {
    let container = |name: &str| Container {
        name: name.into(),
        image: format!("registry.example.com/{name}:1").into(),
        args: vec!["--verbose".into(), format!("--name={name}").into()],
        env: vec![EnvVar {
            name: "A".into(),
            value: "quoted \"text\"".into(),
            ..EnvVar::default()
        }],
        ..Container::default()
    };
    let mut pod = Pod {
        metadata: ObjectMeta {
            name: "web-0".into(),
            namespace: "shop".into(),
            uid: "u-1".into(),
            resource_version: "7".into(),
            labels: [("app".into(), "web".into())].into(),
            annotations: [("note".into(), "n".into())].into(),
            owner_references: vec![OwnerReference {
                kind: "ReplicaSet".into(),
                uid: "u-9".into(),
                controller: Some(true),
                ..OwnerReference::default()
            }],
            ..ObjectMeta::default()
        },
        ..Pod::default()
    };
    pod.spec.node_name = "node-7".into();
    pod.spec.containers = vec![container("web"), container("proxy")];
    pod.spec.node_selector = [
        ("zone".into(), "a".into()),
        ("disk.type".into(), "ssd".into()),
    ]
    .into();
    pod.status.phase = "Running".into();
    pod
}

fn read<P: Ingest>(object: &impl KubeObject, encoding: Encoding) -> Result<P, WireError> {
    let cx = &mut DecodeContext::new();
    P::ingest(encode(object, encoding).into(), encoding, cx)
}

fn from_json<P: Ingest>(text: &str) -> Result<P, String> {
    let cx = &mut DecodeContext::new();
    P::ingest(text.as_bytes().to_vec().into(), Encoding::Json, cx).map_err(|it| it.to_string())
}
