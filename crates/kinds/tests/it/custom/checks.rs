//! Validation errors of definitions, in upstream's order and words.

use super::*;

/// Returns the errors of a definition with one version, after an edit of its JSON.
async fn problem(edit: impl Fn(&mut Value)) -> String {
    let fixture = Fixture::new().await;
    let mut tree = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
                "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas"}},
                "additionalPrinterColumns": [{"name": "A", "type": "integer", "jsonPath": ".a"}],
            }],
        },
    });
    edit(&mut tree);
    let mut definition = CustomResourceDefinition::default();
    let text = tree.to_string();
    merge_json(&mut definition, text.as_bytes(), &mut DecodeContext::new()).expect("it is JSON");
    let status = fixture.try_create(definition).await.err();
    let message = status.map_or_else(String::new, |it| it.message.to_string());
    match message.split_once(" is invalid: ") {
        Some((_, problem)) => problem.to_owned(),
        None => message,
    }
}

fn push(tree: &mut Value, version: Value) {
    let versions = tree["spec"]["versions"].as_array_mut();
    versions.expect("there are some").push(version);
}

#[tokio::test]
async fn name_errors_precede_those_of_the_other_metadata_and_the_spec() {
    assert_eq!(problem(|_| ()).await, "");
    let other = problem(|it| {
        it["metadata"] = json!({"name": "other", "annotations": {"-x": "a"}});
        it["spec"]["scope"] = json!("");
    });
    assert_eq!(
        other.await,
        "[metadata.name: Invalid value: \"other\": must be spec.names.plural+\".\"+spec.group, \
         metadata.annotations: Invalid value: \"-x\": name part must consist of alphanumeric \
         characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
         'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
         '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.scope: Required value]"
    );
    let generated = problem(|it| it["metadata"]["generateName"] = json!("from-"));
    assert_eq!(
        generated.await,
        "metadata.generateName: Invalid value: \"from-\": must be \
         spec.names.plural+\".\"+spec.group"
    );
}

#[tokio::test]
async fn errors_in_fields_that_all_versions_share_have_the_path_of_the_spec() {
    let scale = problem(|it| {
        it["spec"]["versions"][0]["subresources"]["scale"] = json!({"specReplicasPath": "a",
            "statusReplicasPath": ".spec.x", "labelSelectorPath": ".x"});
    });
    let at = "spec.subresources.scale";
    assert_eq!(
        scale.await,
        format!(
            "[{at}.specReplicasPath: Invalid value: \"a\": must be a simple json path starting with \
             ., {at}.statusReplicasPath: Invalid value: \".spec.x\": should be a json path under \
             .status, {at}.labelSelectorPath: Invalid value: \".x\": should be a json path under \
             either .spec or .status]"
        )
    );
    let column = problem(|it| {
        let mut other = it["spec"]["versions"][0].clone();
        other["name"] = json!("v2");
        other["storage"] = json!(false);
        other["additionalPrinterColumns"] = json!([{"name": "b", "type": "x", "jsonPath": "a"}]);
        push(it, other);
    });
    let at = "spec.versions[1].additionalPrinterColumns[0]";
    assert_eq!(
        column.await,
        format!(
            "[{at}.type: Invalid value: \"x\": must be one of boolean,date,integer,number,string, \
             {at}.JSONPath: Invalid value: \"a\": must be a simple json path starting with .]"
        )
    );
}

#[tokio::test]
async fn versions_are_shown_as_upstream_holds_them() {
    let twice = problem(|it| {
        let other = json!({"name": "v1", "served": true, "storage": false,
            "schema": {"openAPIV3Schema": {"type": "object"}}});
        push(it, other);
    });
    assert_eq!(
        twice.await,
        "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":true,\
         \"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":{\
         \"Status\":{},\"Scale\":{\"SpecReplicasPath\":\".spec.replicas\",\"StatusReplicasPath\":\
         \".status.replicas\",\"LabelSelectorPath\":null}},\"AdditionalPrinterColumns\":[{\"Name\":\
         \"A\",\"Type\":\"integer\",\"Format\":\"\",\"Description\":\"\",\"Priority\":0,\"JSONPath\":\
         \".a\"}],\"SelectableFields\":null},{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,\
         \"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,\
         \"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must contain unique version \
         names"
    );
    let none = problem(|it| it["spec"]["versions"] = json!([])).await;
    assert_eq!(
        none,
        "[spec.versions: Invalid value: null: must have exactly one version marked as storage \
         version, status.storedVersions: Invalid value: null: must have at least one stored version]"
    );
}

#[tokio::test]
async fn a_conversion_is_of_a_strategy_and_has_what_that_needs() {
    let webhook = problem(|it| {
        let service = json!({"name": "", "namespace": "a", "path": "a/b//", "port": 0});
        it["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v3", "v3"], "clientConfig": {"service": service}}});
    });
    let service = "spec.conversion.webhookClientConfig.service";
    let reviews = "spec.conversion.conversionReviewVersions";
    assert_eq!(
        webhook.await,
        format!(
            "[{service}.name: Required value, {service}.port: Invalid value: 0: port is not valid: \
             must be between 1 and 65535, inclusive, {service}.path: Invalid value: \"a/b//\": must \
             start with a '/', {service}.path: Invalid value: \"a/b//\": segment[0] may not be \
             empty, {service}.path: Invalid value: \"a/b//\": segment[2] may not be empty, \
             {reviews}[1]: Invalid value: \"v3\": duplicate version, {reviews}: Invalid value: \
             [\"v3\",\"v3\"]: must include at least one of v1, v1beta1]"
        )
    );
    let none = problem(|it| {
        it["spec"]["conversion"] = json!({"strategy": "None", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://a"}}});
    });
    let detail = "Forbidden: should not be set when strategy is not set to Webhook";
    assert_eq!(
        none.await,
        format!("[spec.conversion.webhookClientConfig: {detail}, {reviews}: {detail}]")
    );
}

#[tokio::test]
async fn fields_to_select_by_are_in_the_schema_that_is_at_the_same_place() {
    let fields = json!([{"jsonPath": ".spec.color"}]);
    let set = |it: &mut Value| it["spec"]["versions"][0]["selectableFields"] = fields.clone();
    assert_eq!(
        problem(set).await,
        "spec.selectableFields[0].jsonPath: Invalid value: \".spec.color\": is an invalid path: \
         does not refer to a valid field"
    );
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let other = json!({"name": "v2", "served": true, "storage": false, "schema": schema});
    let only_one = problem(|it| {
        set(it);
        push(it, other.clone());
    });
    assert_eq!(
        only_one.await,
        "spec.versions[0].selectableFields: Invalid value: \"\": may only be set when \
         `version.schema.openAPIV3Schema` is not included"
    );
    let other_schema = problem(|it| {
        set(it);
        let mut other = other.clone();
        other["schema"]["openAPIV3Schema"]["description"] = json!("another");
        other["selectableFields"] = fields.clone();
        push(it, other);
    });
    assert_eq!(
        other_schema.await,
        "spec.selectableFields: Invalid value: \"\": may only be set when validations.schema is \
         included"
    );
}
