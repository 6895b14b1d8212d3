//! Dynamic resources: v1 moves request fields of v1beta1 into `exactly`, and the fields of `basic`
//! into the device.

use serde_json::{Map, Value};

const EXACTLY: &str = "exactly";
const BASIC: &str = "basic";
const NAME: &str = "name";
/// A request with alternatives has the same form in both versions.
const ALTERNATIVES: &str = "firstAvailable";

pub(super) fn to_v1(kind: &str, json: &mut Value) {
    for request in objects(json, requests(kind)) {
        if request.contains_key(ALTERNATIVES) {
            continue;
        }
        let name = request.remove(NAME);
        let exactly = std::mem::take(request);
        request.extend(name.map(|name| (NAME.to_owned(), name)));
        request.insert(EXACTLY.to_owned(), Value::Object(exactly));
    }
    for device in objects(json, devices(kind)) {
        if let Some(Value::Object(basic)) = device.remove(BASIC) {
            device.extend(basic);
        }
    }
}

pub(super) fn to_v1beta1(kind: &str, json: &mut Value) {
    for request in objects(json, requests(kind)) {
        if let Some(Value::Object(exactly)) = request.remove(EXACTLY) {
            request.extend(exactly);
        }
    }
    for device in objects(json, devices(kind)) {
        let name = device.remove(NAME);
        let basic = std::mem::take(device);
        device.extend(name.map(|name| (NAME.to_owned(), name)));
        device.insert(BASIC.to_owned(), Value::Object(basic));
    }
}

fn requests(kind: &str) -> Option<&'static str> {
    match kind {
        "ResourceClaim" => Some("/spec/devices/requests"),
        "ResourceClaimTemplate" => Some("/spec/spec/devices/requests"),
        _ => None,
    }
}

fn devices(kind: &str) -> Option<&'static str> {
    (kind == "ResourceSlice").then_some("/spec/devices")
}

fn objects<'a>(
    json: &'a mut Value,
    path: Option<&str>,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = path.and_then(|path| json.pointer_mut(path)?.as_array_mut());
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_and_devices_survive_a_round_trip() {
        let claim = json!({"spec": {"devices": {"requests": [
            {"name": "r", "deviceClassName": "c", "count": 2},
            {"name": "s", "firstAvailable": [{"name": "x"}]},
        ]}}});
        let mut json = claim.clone();
        to_v1("ResourceClaim", &mut json);
        let requests = &json["spec"]["devices"]["requests"];
        let exactly = json!({"name": "r", "exactly": {"deviceClassName": "c", "count": 2}});
        assert_eq!(requests[0], exactly);
        assert_eq!(requests[1], claim["spec"]["devices"]["requests"][1]);
        to_v1beta1("ResourceClaim", &mut json);
        assert_eq!(json, claim);

        let slice = json!({"spec": {"devices": [{"name": "d", "basic": {"capacity": {}}}]}});
        let mut json = slice.clone();
        to_v1("ResourceSlice", &mut json);
        let device = json!({"name": "d", "capacity": {}});
        assert_eq!(json["spec"]["devices"][0], device);
        to_v1beta1("ResourceSlice", &mut json);
        assert_eq!(json, slice);
    }
}
