//! JSON and the errors that a real server was recorded to return for it.

use super::*;
use kubist_api::find_kind;
use kubist_apimachinery::wire::{Field, FieldFlags, Wire};
use kubist_apimachinery::{ObjectMeta, schema};

schema!(
    THING = "Thing",
    "t.Thing",
    JsonForm::Object,
    None,
    [
        Field::new(
            "metadata",
            1,
            FieldType::Message(ObjectMeta::SCHEMA),
            FieldFlags::NONE
        ),
        Field::new("others", 2, FieldType::Bytes, FieldFlags::PROTOBUF_ONLY),
    ]
);

#[track_caller]
fn words(kind: (&str, &str, &str), json: &str, expected: &str) {
    let (group, version, name) = kind;
    let kind = find_kind(group, version, name).expect("it is built in");
    let found = first_error(json.as_bytes(), kind.schema());
    assert_eq!(found.as_deref(), Some(expected), "{json}");
}

const POD: (&str, &str, &str) = ("", "v1", "Pod");
const QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

#[test]
fn a_field_is_named_with_the_struct_that_contains_it() {
    words(
        POD,
        r#"{"metadata":{"name":"p"},"spec":"text"}"#,
        "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec",
    );
    words(
        ("", "v1", "ConfigMap"),
        r#"{"metadata":[]}"#,
        "json: cannot unmarshal array into Go struct field ConfigMap.metadata of type \
         v1.ObjectMeta",
    );
    words(
        ("storage.k8s.io", "v1", "CSIDriver"),
        r#"{"spec":{"tokenRequests":[[]]}}"#,
        "json: cannot unmarshal array into Go struct field CSIDriverSpec.spec.tokenRequests of \
         type v1.TokenRequest",
    );
    words(
        POD,
        r#"{"spec":{"containers":{}}}"#,
        "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type \
         []v1.Container",
    );
}

#[test]
fn types_have_their_go_names() {
    words(
        ("", "v1", "Secret"),
        r#"{"type":7}"#,
        "json: cannot unmarshal number into Go struct field Secret.type of type v1.SecretType",
    );
    words(
        ("", "v1", "ResourceQuota"),
        r#"{"spec":{"hard":"text"}}"#,
        "json: cannot unmarshal string into Go struct field ResourceQuotaSpec.spec.hard of type \
         v1.ResourceList",
    );
    let claim = ("", "v1", "PersistentVolumeClaim");
    words(
        claim,
        r#"{"spec":{"accessModes":"text"}}"#,
        "json: cannot unmarshal string into Go struct field \
         PersistentVolumeClaimSpec.spec.accessModes of type []v1.PersistentVolumeAccessMode",
    );
    words(
        claim,
        r#"{"spec":{"accessModes":[true]}}"#,
        "json: cannot unmarshal bool into Go struct field \
         PersistentVolumeClaimSpec.spec.accessModes of type v1.PersistentVolumeAccessMode",
    );
}

#[test]
fn embedded_structs_are_steps_of_the_path() {
    words(
        POD,
        r#"{"spec":{"containers":[{"name":"a","readinessProbe":{"httpGet":7}}]}}"#,
        "json: cannot unmarshal number into Go struct field \
         Probe.spec.containers.readinessProbe.ProbeHandler.httpGet of type v1.HTTPGetAction",
    );
    words(
        POD,
        r#"{"spec":{"volumes":[{"name":"a"},{"emptyDir":"text"}]}}"#,
        "json: cannot unmarshal string into Go struct field \
         Volume.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
    );
    let hook = (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
    );
    words(
        hook,
        r#"{"webhooks":[{"rules":[{"apiGroups":"text"}]}]}"#,
        "json: cannot unmarshal string into Go struct field \
         RuleWithOperations.webhooks.rules.Rule.apiGroups of type []string",
    );
}

#[test]
fn numbers_are_quoted_where_a_number_was_wanted() {
    words(
        ("apps", "v1", "Deployment"),
        r#"{"spec":{"replicas":1.5}}"#,
        "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of \
         type int32",
    );
    words(
        ("apps", "v1", "Deployment"),
        r#"{"spec":{"replicas":1e0}}"#,
        "json: cannot unmarshal number 1e0 into Go struct field DeploymentSpec.spec.replicas of \
         type int32",
    );
    let map = ("", "v1", "ConfigMap");
    words(
        map,
        r#"{"metadata":{"labels":1.5}}"#,
        "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type \
         map[string]string",
    );
    words(
        map,
        r#"{"data":{"a":1.5}}"#,
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    );
    words(
        map,
        r#"{"binaryData":{"a":["b"]}}"#,
        "json: cannot unmarshal string into Go struct field ConfigMap.binaryData of type uint8",
    );
}

#[test]
fn scalars_that_decode_themselves_have_their_own_errors() {
    for wrong in ["[]", "{\"a\":\"b\"}", "true", "\"\"", "\"text\""] {
        let json = format!(r#"{{"spec":{{"hard":{{"cpu":{wrong}}}}}}}"#);
        words(("", "v1", "ResourceQuota"), &json, QUANTITY);
    }
    words(
        ("", "v1", "Service"),
        r#"{"spec":{"ports":[{"targetPort":1.5}]}}"#,
        "json: cannot unmarshal number 1.5 into Go struct field \
         ServicePort.spec.ports.targetPort of type int32",
    );
    words(
        ("", "v1", "Service"),
        r#"{"spec":{"ports":[{"targetPort":[]}]}}"#,
        "json: cannot unmarshal array into Go struct field ServicePort.spec.ports.targetPort of \
         type int32",
    );
    words(
        POD,
        r#"{"metadata":{"creationTimestamp":7}}"#,
        "json: cannot unmarshal number into Go struct field \
         ObjectMeta.metadata.creationTimestamp of type string",
    );
}

#[test]
fn the_first_error_counts_unless_a_type_decodes_itself() {
    words(
        POD,
        r#"{"spec":{"hostNetwork":1,"hostname":2}}"#,
        "json: cannot unmarshal number into Go struct field PodSpec.spec.hostNetwork of type bool",
    );
    words(
        ("", "v1", "ResourceQuota"),
        r#"{"metadata":7,"spec":{"hard":{"cpu":[]}}}"#,
        QUANTITY,
    );
    words(
        ("", "v1", "Secret"),
        r#"{"data":{"a":"!"},"type":7}"#,
        "illegal base64 data at input byte 0",
    );
}

#[test]
fn metadata_of_a_custom_resource_is_decoded_separately() {
    let found = first_error(br#"{"spec":7,"metadata":{"labels":7}}"#, &THING);
    assert_eq!(
        found.as_deref(),
        Some(
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type \
             map[string]string"
        )
    );
}

#[test]
fn valid_json_has_no_error() {
    let pod = find_kind("", "v1", "Pod").expect("it is built in").schema();
    for json in [
        r#"{"kind":"Pod","metadata":{"labels":{"a":null},"name":"\"{"},"spec":null,"x":[{}]}"#,
        "{}",
        r#"{"spec":{"containers":[{"ports":[{"containerPort":80}]},null]}}"#,
        // Malformed JSON: the caller has the error text.
        "{",
        "",
    ] {
        assert_eq!(first_error(json.as_bytes(), pod), None, "{json}");
    }
    let deep = "[".repeat(100_000);
    let deep = format!(r#"{{"spec":{deep}"#);
    assert_eq!(first_error(deep.as_bytes(), pod), None);
}
