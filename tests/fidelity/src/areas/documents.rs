//! Discovery and `OpenAPI`.

use crate::plan::Plan;

const PATHS: [&str; 22] = [
    "/api",
    "/apis",
    "/api/v1",
    "/apis/apps",
    "/apis/apps/v1",
    "/apis/batch/v1",
    "/apis/policy/v1",
    "/apis/autoscaling/v2",
    "/apis/networking.k8s.io/v1",
    "/apis/storage.k8s.io/v1",
    "/apis/apiextensions.k8s.io/v1",
    "/apis/authorization.k8s.io/v1",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
    "/openapi/v3/apis/apps/v1",
    "/openapi/v3/apis/policy/v1",
    "/openapi/v3/apis/unknown/v1",
    "/openapi/v3/version",
    "/version",
    "/.well-known/openid-configuration",
    "/openid/v1/jwks",
];
const ACCEPTS: [&str; 10] = [
    "application/json",
    "application/json",
    "application/yaml",
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
    "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList",
    "application/vnd.kubernetes.protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "text/html",
    "*/*",
];

pub(super) fn advance(plan: &mut Plan<'_>) {
    let path = *plan.random.pick(&PATHS);
    let mut step = plan.step("GET", path);
    if plan.random.percent(60) {
        let accept = *plan.random.pick(&ACCEPTS);
        step = step.header("accept", accept);
    }
    if plan.random.percent(10) {
        step = step.header("if-none-match", "\"nonsense\"");
    }
    plan.push(step);
}
