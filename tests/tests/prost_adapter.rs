//! API types as `prost::Message`: the same bytes as `Wire`.

use kubist_api::core::v1::{Container, Pod};
use kubist_apimachinery::wire::{Wire, prost::Message};

fn pod() -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    pod.metadata.labels.insert("app".into(), "web".into());
    let container = Container {
        name: "main".into(),
        image: "nginx".into(),
        ..Container::default()
    };
    pod.spec.containers = vec![container; 3];
    pod
}

#[test]
fn prost_writes_and_reads_the_bytes_of_wire() {
    let pod = pod();
    let bytes = pod.encode_to_vec();
    assert_eq!(bytes, pod.to_protobuf());
    assert_eq!(<Pod as Message>::decode(&*bytes).unwrap(), pod);
}

#[test]
fn truncated_bytes_are_a_prost_error() {
    let bytes = pod().encode_to_vec();
    assert!(<Pod as Message>::decode(&bytes[..bytes.len() - 1]).is_err());
}
