//! Paths and methods that may not exist.

use crate::plan::Plan;
use serde_json::json;

const PATHS: [&str; 66] = [
    "/",
    "//",
    "/api",
    "/api/",
    "/api//v1",
    "//api/v1",
    "/api/v1/",
    "/api/v1//pods",
    "/api/v1/namespaces/{{ns}}/pods/",
    "/api/v1/namespaces/{{ns}}//pods",
    // All namespaces include those of other sequences.
    "/api/v1/namespaces//pods?labelSelector=nobody-has-this",
    "/api/v1/namespaces/{{ns}}/",
    "/api/v1/namespaces/{{ns}}/unknown",
    "/api/v1/namespaces/{{ns}}/unknown/a",
    "/api/v1/namespaces/{{ns}}/nodes",
    "/api/v1/namespaces/{{ns}}/pods/a/b/c",
    "/api/v1/namespaces/{{ns}}/pods/a/status/b",
    "/api/v1/namespaces/{{ns}}/pods/%2E%2E",
    "/api/v1/namespaces/{{ns}}/pods/a%2Fb",
    "/api/v1/namespaces/{{ns}}/pods/a%00b",
    "/api/v1/namespaces/{{ns}}/pods/Bad_Name",
    "/api/v1/namespaces/{{ns}}/configmaps/../pods",
    "/api/v1/namespaces/{{ns}}/configmaps/.",
    "/api/v1/pods/a",
    "/api/v1/nodes/a/b",
    "/api/v1/unknown",
    "/api/v2",
    "/api/v2/pods",
    "/api/v-1/pods",
    "/api/v1beta1/pods",
    "/api/v1/watch",
    "/api/v1/watch/",
    "/api/v1/watch/unknown",
    "/api/v1/proxy/namespaces/{{ns}}/pods/a",
    "/api/v1/redirect/nodes/a",
    "/apis",
    "/apis/",
    "/apis//",
    "/apis/apps",
    "/apis/apps/",
    "/apis/apps/v1/",
    "/apis/apps//v1",
    "/apis/apps/v2",
    "/apis/apps/v1beta1/deployments",
    "/apis/apps/v-1/deployments",
    "/apis/apps/-1/deployments",
    "/apis/apps/v1/unknown",
    "/apis/apps/v1/deployments/a",
    "/apis/apps/v1/pods",
    "/apis/unknown",
    "/apis/unknown.example.com/v1",
    "/apis/unknown.example.com/v1/things",
    "/apis/apps/v1/namespaces/{{ns}}/deployments/a/unknown",
    "/apis/extensions/v1beta1/ingresses",
    "/unknown",
    "/healthz",
    "/healthz/ping",
    "/healthz/unknown",
    "/livez?verbose",
    "/readyz?exclude=ping&verbose",
    "/version",
    "/version/",
    "/api?x=1&x=2",
    "/api/v1/namespaces/{{ns}}/pods?limit=%zz",
    "/api/v1/namespaces/{{ns}}/pods?;a=b",
    "/api/v1/namespaces/%20/pods",
];
const METHODS: [&str; 12] = [
    "GET", "GET", "GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE",
    "UNKNOWN",
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    let path = *plan.random.pick(&PATHS);
    let method = *plan.random.pick(&METHODS);
    // An unrestricted deletion would reach the objects of other sequences.
    let is_all = !path.contains("{{ns}}") && !path.contains("unknown");
    let method = if is_all && method == "DELETE" {
        "GET"
    } else {
        method
    };
    let mut step = plan.step(method, path);
    match method {
        "POST" | "PUT" => step = step.json(json!({"metadata": {"name": "a"}})),
        "PATCH" => {
            step = step.json(json!({"metadata": {"labels": {"a": "b"}}}));
            if let Some((_, media)) = step.headers.last_mut() {
                "application/merge-patch+json".clone_into(media);
            }
        }
        _ => {}
    }
    if plan.random.percent(8) {
        let value = *plan
            .random
            .pick(&["Bearer wrong", "Basic YTpi", "", "Nonsense"]);
        step = step.header("authorization", value);
    }
    plan.push(step);
}
