//! Media types in requests and responses.

use crate::plan::Plan;
use crate::step::Body;

const ACCEPTS: [&str; 34] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf, application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=apps",
    "application/json;as=Table",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=Unknown;v=v1;g=meta.k8s.io",
    "application/json;as=Unknown;v=v1;g=meta.k8s.io, application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io, application/json",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "application/json;stream=watch",
    "application/json;pretty=1",
    "application/json;pretty=0",
    "application/json; charset=utf-8",
    "application/json;q=0.5, application/yaml;q=0.9",
    "application/json;q=x",
    "application/*",
    "*/*",
    "text/html",
    "text/html, */*;q=0.8",
    "image/png",
    "application/cbor",
    "nonsense",
    "",
];
const CONTENT_TYPES: [&str; 12] = [
    "application/json; charset=utf-8",
    "application/yaml",
    "text/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/cbor",
    "application/JSON",
    "nonsense",
    "application/json; charset",
    "",
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    if plan.made.is_empty() {
        let kind = plan.catalogue.any(&mut plan.random);
        plan.create(kind);
    }
    let accept = *plan.random.pick(&ACCEPTS);
    let made = plan.some();
    match plan.random.below(10) {
        0..3 => {
            let path = if made.kind.is_namespaced {
                made.kind.collection()
            } else {
                made.path
            };
            let step = plan.step("GET", path);
            plan.push(step.header("accept", accept));
        }
        3..6 => read(plan, made.path, accept),
        6..8 => create(plan, accept),
        8 => {
            let step = plan.step("DELETE", made.path);
            plan.push(step.header("accept", accept));
        }
        _ => {
            let content = *plan.random.pick(&CONTENT_TYPES);
            let kind = plan.catalogue.any_namespaced(&mut plan.random);
            let object = plan.object(kind);
            let text = match plan.random.below(4) {
                0 => "k8s\u{0}nonsense".to_owned(),
                1 => "a: [b\n".to_owned(),
                2 => "a: b\na: c\n".to_owned(),
                // JSON is YAML too.
                _ => object.to_string(),
            };
            let step = plan.step("POST", kind.collection());
            plan.push(step.body(content, Body::Text(text)));
        }
    }
}

fn read(plan: &mut Plan<'_>, path: String, accept: &str) {
    let mut step = plan.step("GET", path).header("accept", accept);
    let options = [
        ("includeObject", "None"),
        ("includeObject", "Object"),
        ("includeObject", "Metadata"),
        ("includeObject", "x"),
        ("pretty", "true"),
    ];
    if plan.random.percent(30) {
        let (name, value) = *plan.random.pick(&options);
        step = step.query(name, value);
    }
    plan.push(step);
}

fn create(plan: &mut Plan<'_>, accept: &str) {
    let kind = plan.catalogue.any(&mut plan.random);
    let mut object = plan.object(kind);
    if plan.random.percent(40) {
        for edit in plan.edits(&object) {
            edit.apply(&mut object);
        }
    }
    plan.create_object(kind, object, false);
    if let Some(step) = plan.steps.last_mut() {
        step.headers.push(("accept", accept.to_owned()));
    }
}
