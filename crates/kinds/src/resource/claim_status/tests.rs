//! Tests of the status of claims.

use super::*;
use serde_json::{Value, json};

fn claim(status: &Value) -> ResourceClaim {
    let claim = json!({
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "gpu"}]}},
        "status": status,
    });
    serde_json::from_value(claim).expect("it is a claim")
}

fn said(new: &Value, old: &Value) -> Vec<String> {
    let errors = ResourceClaimsStatus.validate_update(&claim(new), &claim(old));
    errors.iter().map(ToString::to_string).collect()
}

fn result(request: &str) -> Value {
    json!({"request": request, "driver": "d.example.com", "pool": "p", "device": "x"})
}

fn allocation(results: &[Value]) -> Value {
    json!({"allocation": {"devices": {"results": results}}})
}

#[test]
fn a_device_is_allocated_for_a_request_of_the_claim() {
    let right = allocation(&[result("gpu")]);
    assert_eq!(said(&right, &json!({})), [""; 0]);
    assert_eq!(
        said(&allocation(&[result("other")]), &json!({})),
        [
            "status.allocation.devices.results[0].request: Invalid value: \"other\": must be the \
          name of a request in the claim or the name of a request and a subrequest separated by \
          '/'"
        ]
    );
    let changed = said(&allocation(&[result("gpu"), result("gpu")]), &right);
    assert_eq!(changed.len(), 1);
    assert!(
        changed[0].starts_with("status.allocation: Invalid value: {"),
        "{changed:?}"
    );
    assert!(changed[0].ends_with(": field is immutable"), "{changed:?}");
}

#[test]
fn a_claim_is_reserved_once_it_is_allocated() {
    let user = |uid: &str| json!({"resource": "pods", "name": "p", "uid": uid});
    let reserved = json!({"reservedFor": [user("1"), user("1"), {"resource": "pods"}]});
    assert_eq!(
        said(&reserved, &json!({})),
        [
            "status.reservedFor[2].name: Required value",
            "status.reservedFor[2].uid: Required value",
            "status.reservedFor[1]: Duplicate value: \"1\"",
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
        ]
    );
}

#[test]
fn drivers_speak_of_allocated_devices_only() {
    let mut status = allocation(&[result("gpu")]);
    let device = |name: &str, ips: &[&str]| {
        json!({
            "driver": "d.example.com", "pool": "p", "device": name,
            "data": {"a": 1}, "networkData": {"ips": ips},
        })
    };
    let old = status.clone();
    status["devices"] = json!([device("x", &["10.9.8.7/24", "2001:db8::1/64"])]);
    assert_eq!(said(&status, &old), [""; 0]);
    status["devices"] = json!([device("y", &["10.9.8.7", "2001:DB8::1/64"])]);
    assert_eq!(
        said(&status, &old),
        [
            "status.devices[0]: Invalid value: {\"Driver\":\"d.example.com\",\"Pool\":\"p\",\
             \"Device\":\"y\",\"ShareID\":\"\"}: must be an allocated device in the claim",
            "status.devices[0].networkData.ips[0]: Invalid value: \"10.9.8.7\": must be a valid \
             address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
            "status.devices[0].networkData.ips[1]: Invalid value: \"2001:DB8::1/64\": must be in \
             canonical form (\"2001:db8::1/64\")",
        ]
    );
}

#[test]
fn conditions_of_binding_come_with_those_of_failure() {
    let mut bound = result("gpu");
    bound["bindingConditions"] = json!(["a", "a"]);
    let path = "status.allocation.devices.results[0]";
    assert_eq!(
        said(&allocation(&[bound.clone()]), &json!({})),
        [
            format!("{path}.bindingConditions[1]: Duplicate value: \"a\""),
            format!(
                "{path}.bindingFailureConditions: Invalid value: null: bindingFailureConditions \
                 are required to use bindingConditions"
            ),
        ]
    );
    bound["bindingConditions"] = json!(["a"]);
    bound["bindingFailureConditions"] = json!(["a"]);
    let overlap = said(&allocation(&[bound]), &json!({}));
    assert!(overlap.len() == 1 && overlap[0].ends_with("must not overlap with bindingConditions"));
}

#[test]
fn what_was_said_of_a_device_ends_with_its_allocation() {
    let mut old = allocation(&[result("gpu")]);
    let device = json!({"driver": "d.example.com", "pool": "p", "device": "x"});
    old["devices"] = json!([device]);
    let (old, mut new) = (claim(&old), claim(&json!({"devices": [device]})));
    let mut kept = old.clone();
    let context = RequestContext::default();
    ResourceClaimsStatus.prepare_for_update(&context, &mut new, &old);
    assert_eq!(new.status.devices, []);
    ResourceClaimsStatus.prepare_for_update(&context, &mut kept, &old);
    assert_eq!(kept.status.devices.len(), 1);
}
