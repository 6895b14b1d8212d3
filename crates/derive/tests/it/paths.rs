//! Paths of every form: through messages, lists, maps, and to fields of every type.

use super::{BOTH, PodNode, from_json, pod, read};
use kubist_api::core::v1::{
    Container, ContainerPort, Node, Pod, PodCondition, Probe, TCPSocketAction,
};
use kubist_apimachinery::wire::{FieldType, Projection as _, ProjectionPlan, Wire};
use kubist_apimachinery::{IntOrString, LeanMeta, ObjectMeta, Quantity, Str, Time};
use kubist_derive::Projection;
use std::collections::BTreeMap;

/// Contract CACHE-20.
#[test]
fn fields_are_the_same_from_both_encodings() {
    for encoding in BOTH {
        let found: PodNode = read(&pod(), encoding).unwrap();
        assert_eq!(
            (&*found.node, found.phase.as_deref()),
            ("node-7", Some("Running"))
        );
        let images = ["registry.example.com/web:1", "registry.example.com/proxy:1"];
        assert_eq!(found.images, images);
        assert_eq!(found.meta.labels["app"], "web");
        assert_eq!(found.meta.owner_references[0].kind, "ReplicaSet");
    }
}

#[test]
fn absent_fields_keep_their_defaults_and_options_stay_none() {
    let mut pod = Pod::default();
    pod.metadata.name = "a".into();
    pod.spec.containers = vec![Container::default()];
    for encoding in BOTH {
        let found: PodNode = read(&pod, encoding).unwrap();
        let mut expected = PodNode::default();
        expected.meta.name = "a".into();
        assert_eq!(found, expected, "Go's zero values in protobuf are absent");
    }
    let found: PodNode = from_json(
        r#"{"metadata":{"name":"a"},"spec":null,
            "status":{"phase":""}}"#,
    )
    .unwrap();
    assert_eq!(found.phase, None);
    let found: PodNode =
        from_json(r#"{"spec":{"containers":[{"image":null},null,{},{"image":"x"}]}}"#).unwrap();
    assert_eq!(found.images, ["x"]);
}

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(of = Pod)]
struct Everything {
    #[projection(metadata)]
    meta: ObjectMeta,
    #[projection("spec.containers[].args")]
    args: Vec<Str>,
    #[projection("spec.containers[].ports")]
    ports: Vec<ContainerPort>,
    #[projection("spec.initContainers[].ports[].containerPort")]
    numbers: Vec<i32>,
    #[projection("spec.containers[].resources.requests.cpu")]
    cpu: Vec<Quantity>,
    #[projection("spec.containers[].livenessProbe.tcpSocket.port")]
    probed: Vec<IntOrString>,
    #[projection("spec.hostNetwork")]
    host_network: bool,
    #[projection("spec.priority")]
    priority: Option<i32>,
    #[projection("spec.terminationGracePeriodSeconds")]
    grace: Option<i64>,
    #[projection("spec.nodeSelector.zone")]
    zone: Option<Str>,
    #[projection("spec.nodeSelector.disk.type")]
    disk: Str,
    #[projection("spec.overhead")]
    overhead: BTreeMap<Str, Quantity>,
    #[projection("status.conditions")]
    conditions: Vec<PodCondition>,
    #[projection("status.startTime")]
    started: Option<Time>,
    #[projection("status.hostIPs[].ip")]
    ips: Vec<Str>,
}

fn rich() -> Pod {
    let mut pod = pod();
    let container = &mut pod.spec.containers[1];
    container.ports = vec![ContainerPort {
        container_port: 80,
        ..ContainerPort::default()
    }];
    container.resources.requests = [("cpu".into(), "250m".parse().unwrap())].into();
    container.liveness_probe = Some(Box::new(Probe {
        tcp_socket: Some(Box::new(TCPSocketAction {
            port: IntOrString::Int(8080),
            ..Default::default()
        })),
        ..Probe::default()
    }));
    pod.spec.init_containers = vec![pod.spec.containers[1].clone(), Container::default()];
    pod.spec.priority = Some(0);
    pod.spec.termination_grace_period_seconds = Some(30);
    pod.spec.overhead = [("cpu".into(), "1".parse().unwrap())].into();
    pod.status.conditions = vec![PodCondition {
        type_: "Ready".into(),
        ..PodCondition::default()
    }];
    pod.status.start_time = Some(Time::from_unix(1_700_000_000));
    pod
}

#[test]
fn lists_in_lists_keys_of_maps_scalars_and_groups_are_reached() {
    for encoding in BOTH {
        let found: Everything = read(&rich(), encoding).unwrap();
        assert_eq!(
            found.args,
            ["--verbose", "--name=web", "--verbose", "--name=proxy"]
        );
        assert_eq!(found.ports[0].container_port, 80);
        assert_eq!(found.numbers, [80]);
        assert_eq!(found.cpu, ["250m".parse().unwrap()]);
        assert_eq!(
            found.probed,
            [IntOrString::Int(8080)],
            "a group in protobuf, inline in JSON"
        );
        assert_eq!(
            (found.priority, found.grace),
            (Some(0), Some(30)),
            "pointers keep a zero"
        );
        assert_eq!((found.zone.as_deref(), &*found.disk), (Some("a"), "ssd"));
        assert_eq!(found.overhead["cpu"], "1".parse().unwrap());
        assert_eq!(found.conditions[0].type_, "Ready");
        assert_eq!(found.started, Some(Time::from_unix(1_700_000_000)));
        assert_eq!(
            found.meta,
            rich().metadata,
            "whole metadata, where it is asked for"
        );
        assert!(!found.host_network && found.ips.is_empty());
    }
}

#[test]
fn wrong_types_are_errors_with_the_path_where_they_stand() {
    for (text, error) in [
        (
            r#"{"spec":{"nodeName":7}}"#,
            "spec.nodeName: expected string, found number",
        ),
        (r#"{"spec":[]}"#, "spec: expected PodSpec, found array"),
        (
            r#"{"spec":{"containers":{}}}"#,
            "spec.containers: expected []Container, found object",
        ),
        (
            r#"{"spec":{"containers":[{},{"image":{}}]}}"#,
            "spec.containers[1].image: expected string, found object",
        ),
        (
            r#"{"spec":{"containers":["a"]}}"#,
            "spec.containers[0]: expected Container, found string",
        ),
        ("[]", "expected Pod, found array"),
    ] {
        assert_eq!(from_json::<PodNode>(text), Err(error.to_owned()), "{text}");
    }
    let error = from_json::<Everything>(r#"{"spec":{"nodeSelector":[]}}"#).unwrap_err();
    assert_eq!(error, "spec.nodeSelector: expected map, found array");
    let error = from_json::<PodNode>(r#"{"spec":{}"#).unwrap_err();
    assert!(error.contains("EOF"), "{error}");
}

#[test]
fn broken_protobuf_is_an_error_at_every_length_and_wrong_wire_types_are_too() {
    use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest};
    let bytes = rich().to_protobuf();
    let cx = &mut DecodeContext::new();
    for length in 0..bytes.len() {
        // A cut between two fields is no error; none may panic.
        drop(Everything::ingest(
            bytes[..length].to_vec().into(),
            Encoding::Protobuf,
            cx,
        ));
    }
    let cut = bytes[..bytes.len() - 1].to_vec().into();
    assert!(Everything::ingest(cut, Encoding::Protobuf, cx).is_err());
    // spec (2) with nodeName (10) as a varint.
    let wrong = [0x12, 0x02, 0x50, 0x01];
    let error = PodNode::ingest(wrong.to_vec().into(), Encoding::Protobuf, cx).unwrap_err();
    assert_eq!(error.path, "spec.nodeName");
    // spec as a varint.
    let error = PodNode::ingest(vec![0x10, 1].into(), Encoding::Protobuf, cx).unwrap_err();
    assert_eq!(error.path, "spec");
}

#[test]
fn protobuf_fields_in_any_order_and_twice_merge() {
    use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest};
    let mut later = Pod::default();
    later.metadata.resource_version = "8".into();
    later.spec.containers = vec![Container {
        image: "third".into(),
        ..Container::default()
    }];
    let bytes = [rich().to_protobuf(), later.to_protobuf()].concat();
    let cx = &mut DecodeContext::new();
    let found = PodNode::ingest(bytes.into(), Encoding::Protobuf, cx).unwrap();
    assert_eq!(found.meta.resource_version, "8");
    assert_eq!(found.images.len(), 3);
}

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(part_of = Container)]
struct Image {
    #[projection("image")]
    image: Str,
    #[projection("name")]
    container: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Projection)]
#[projection(of = Pod)]
struct PodImages {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.containers")]
    images: Vec<Image>,
}

#[test]
fn parts_keep_fields_of_one_item_together() {
    for encoding in BOTH {
        let found: PodImages = read(&pod(), encoding).unwrap();
        let names: Vec<_> = found
            .images
            .iter()
            .map(|it| it.container.as_str())
            .collect();
        assert_eq!(names, ["web", "proxy"]);
        assert_eq!(found.images[0].image, "registry.example.com/web:1");
    }
}

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Node)]
struct NodeCpu {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("status.capacity.cpu")]
    cpu: Option<Quantity>,
}

#[test]
fn a_value_of_a_map_of_messages_is_reached_by_its_key() {
    let mut node = Node::default();
    node.metadata.name = "n".into();
    node.status.capacity = [("cpu", "4"), ("memory", "8Gi")]
        .map(|(key, value)| (key.into(), value.parse().unwrap()))
        .into();
    for encoding in BOTH {
        let found: NodeCpu = read(&node, encoding).unwrap();
        assert_eq!(found.cpu, Some("4".parse().unwrap()));
        assert_eq!(found.meta.name, "n");
    }
}

#[test]
fn plans_by_hand_refuse_what_the_derive_refuses_at_compile_time() {
    assert!(PodNode::plan().is_ok());
    for path in [
        "spec.nodeNmae",
        "spec.containers.image",
        "spec",
        "spec..a",
        "spec.nodeName.x",
        "",
    ] {
        let takes = FieldType::Str;
        let paths = vec![("spec.hostname", takes), (path, takes)];
        let error = ProjectionPlan::new(Pod::SCHEMA, &paths)
            .map(drop)
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("{path:?} is no field of Pod")),
            "{error}"
        );
    }
}
