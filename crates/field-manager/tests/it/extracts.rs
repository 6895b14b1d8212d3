//! Configurations of managers, from live objects.

use crate::growth::check;
use kubist_api::apply::core::v1::PodApply;
use kubist_api::core::v1::{Container, EnvVar, Pod};
use kubist_apimachinery::apply::ApplyConfiguration as _;
use kubist_apimachinery::{FieldsV1, ManagedFieldsEntry};
use kubist_field_manager::Extractor;
use serde_json::json;

/// A Pod with as many variables, of which a manager owns some fields.
fn pod(variables: usize, owned: &str) -> Pod {
    let mut pod = Pod::default();
    pod.metadata.name = "web".into();
    let env = (0..variables).map(|it| EnvVar {
        name: format!("{it:08}").into(),
        ..EnvVar::default()
    });
    pod.spec.containers.push(Container {
        name: "main".into(),
        env: env.collect(),
        ..Container::default()
    });
    pod.metadata.managed_fields.push(ManagedFieldsEntry {
        manager: "me".into(),
        operation: "Apply".into(),
        fields_v1: Some(FieldsV1 { raw: owned.into() }),
        ..ManagedFieldsEntry::default()
    });
    pod
}

#[test]
fn an_extract_takes_as_long_as_its_lists() {
    check("variables", |size| {
        let size = 3 * size; // Smaller ones take most of their time elsewhere.
        let items = (0..size).map(|it| {
            format!(r#""k:{{\"name\":\"{it:08}\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}}"#)
        });
        let items: Vec<String> = items.collect();
        let owned = format!(
            r#"{{"f:spec":{{"f:containers":{{"k:{{\"name\":\"main\"}}":{{".":{{}},"f:name":{{}},"f:env":{{{}}}}}}}}}}}"#,
            items.join(",")
        );
        let (pod, extractor) = (pod(size, &owned), Extractor::<PodApply>::new());
        Box::new(move || {
            let found = extractor.extract(&pod, "me").expect("it fits");
            let found = json!(found.expect("it has applied").fields());
            let last = &found["spec"]["containers"][0]["env"][size - 1];
            assert_eq!(
                last,
                &json!({"name": format!("{:08}", size - 1), "value": ""})
            );
        })
    });
}

#[test]
fn a_configuration_has_the_name_whatever_else_of_the_metadata_is_owned() {
    for owned in [r#"{"f:metadata":{}}"#, r#"{"f:metadata":{".":{}}}"#] {
        let found = Extractor::<PodApply>::new().extract(&pod(0, owned), "me");
        let found = json!(found.expect("it fits").expect("it has applied").fields());
        assert_eq!(found["metadata"], json!({"name": "web"}), "{owned}");
    }
}
