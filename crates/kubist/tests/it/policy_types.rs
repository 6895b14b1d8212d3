//! The status of policies: types in their expressions.

use kubist::api::admissionregistration::v1::{TypeChecking, ValidatingAdmissionPolicy};
use kubist::api::apiextensions::v1::CustomResourceDefinition;
use kubist::client::Api;
use kubist::{Server, ServerConfig};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);

fn policy(name: &str, of: (&str, &str), validations: &Value) -> ValidatingAdmissionPolicy {
    let policy = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [{
            "operations": ["CREATE"], "apiGroups": [of.0], "apiVersions": ["v1"],
            "resources": [of.1],
        }]},
        "validations": validations,
    }});
    serde_json::from_value(policy).unwrap()
}

/// Creates a policy and returns what its status says once it was checked.
async fn checked(server: &Server, policy: &ValidatingAdmissionPolicy) -> TypeChecking {
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(server.client());
    let created = policies.create(policy).await.unwrap();
    let checked = async {
        loop {
            let found = policies.get(&created.metadata.name).await.unwrap();
            if let Some(checking) = found.status.type_checking {
                assert_eq!(found.status.observed_generation, 1);
                return *checking;
            }
            sleep(POLL).await;
        }
    };
    timeout(PATIENCE, checked).await.expect("it is checked")
}

fn warnings(of: &TypeChecking) -> Vec<(&str, &str)> {
    let warnings = of.expression_warnings.iter();
    warnings.map(|it| (&*it.field_ref, &*it.warning)).collect()
}

#[tokio::test]
async fn expressions_are_checked_against_built_in_kinds() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let deployments = ("apps", "deployments");
    let right = json!([
        {"expression": "object.spec.replicas > 1"},
        {"expression": "object.spec.template.spec.containers.all(c, c.image != '')"},
        {"expression": "object.spec.strategy.rollingUpdate.maxSurge == 1"},
        {"expression": "object.metadata.creationTimestamp < timestamp('2100-01-01T00:00:00Z')"},
    ]);
    let right = checked(&server, &policy("right", deployments, &right)).await;
    assert_eq!(warnings(&right), []);
    let wrong = json!([{
        "expression": "object.spec.replicas > '1'",
        "messageExpression": "'wants replicas > 1, got ' + object.spec.replicas",
    }]);
    let wrong = checked(&server, &policy("wrong", deployments, &wrong)).await;
    let [(first, why), (second, other)] = warnings(&wrong)[..] else {
        panic!("{wrong:?}");
    };
    assert_eq!(first, "spec.validations[0].expression");
    let begin = "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for \
                 '_>_' applied to '(int, string)'\n";
    assert!(why.starts_with(begin), "{why}");
    assert_eq!(second, "spec.validations[0].messageExpression");
    assert!(other.contains("found no matching overload for '_+_' applied to '(string, int)'"));
    // A wildcard names no kind.
    let any = json!([{"expression": "object.nope == 1"}]);
    let any = checked(&server, &policy("any", ("apps", "*"), &any)).await;
    assert_eq!(warnings(&any), []);
    server.shutdown().await;
}

#[tokio::test]
async fn expressions_are_checked_against_definitions() {
    let server = Server::start(ServerConfig::default()).await.unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(server.client());
    let definition = json!({
        "metadata": {"name": "crontabs.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "crontabs", "kind": "CronTab"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {
                    "type": "object", "properties": {"replicas": {"type": "integer"}},
                }}},
            }}],
        },
    });
    let definition: CustomResourceDefinition = serde_json::from_value(definition).unwrap();
    definitions.create(&definition).await.unwrap();
    let is_served = async || {
        let served = server.client().discover().await.unwrap();
        served
            .resources()
            .iter()
            .any(|it| &*it.resource.plural == "crontabs")
    };
    timeout(PATIENCE, async {
        while !is_served().await {
            sleep(POLL).await;
        }
    })
    .await
    .unwrap();
    let rules = json!([
        {"expression": "object.spec.replicas > 1 && object.metadata.name != ''"},
        {"expression": "object.spec.replicas > '1'"},
        {"expression": "object.spec.maxRetries < 10"},
    ]);
    let found = checked(&server, &policy("p", ("example.com", "crontabs"), &rules)).await;
    let [(first, overload), (second, undefined)] = warnings(&found)[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (first, second),
        (
            "spec.validations[1].expression",
            "spec.validations[2].expression"
        )
    );
    assert!(
        overload.starts_with("example.com/v1, Kind=CronTab: ERROR"),
        "{overload}"
    );
    assert!(
        undefined.contains("undefined field 'maxRetries'"),
        "{undefined}"
    );
    server.shutdown().await;
}
