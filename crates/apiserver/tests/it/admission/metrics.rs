//! What `/metrics` says of plugins, webhooks and policies.

use super::policies::bind;
use super::{VALIDATING, World, allow, configuration, hook};
use serde_json::json;

async fn lines(world: &mut World) -> Vec<String> {
    let scraped = world.client.get("/metrics").await;
    assert_eq!(scraped.code, 200);
    let text = String::from_utf8_lossy(&scraped.bytes).into_owned();
    text.lines().map(str::to_owned).collect()
}

async fn check(world: &mut World, expected: &[&str]) {
    let lines = lines(world).await;
    for line in expected {
        assert!(
            lines.iter().any(|it| it == line),
            "{line} is not in {lines:#?}"
        );
    }
}

#[tokio::test]
async fn calls_of_webhooks_are_counted_by_what_came_of_them() {
    let mut world = World::new().await;
    let mut ignored = hook("down");
    ignored["failurePolicy"] = "Ignore".into();
    let hooks = [hook("a"), ignored];
    let configured = configuration("ValidatingWebhookConfiguration", &hooks);
    world.configure(VALIDATING, &configured).await;
    world.script("/a", |request| {
        if request["name"] == "bad" {
            return Ok(json!({"allowed": false, "status": {"code": 403}}));
        }
        allow(request)
    });
    assert_eq!(world.create_map("good").await.code, 201);
    assert_eq!(world.create_map("bad").await.code, 403);
    let of = |labels: &str| format!("apiserver_admission_webhook_{labels}");
    let by = "name=\"a.example.com\",operation=\"CREATE\"";
    let down = "name=\"down.example.com\",operation=\"CREATE\"";
    let expected = [
        of(&format!(
            "request_total{{code=\"200\",{by},rejected=\"false\",type=\"validating\"}} 1"
        )),
        of(&format!(
            "request_total{{code=\"403\",{by},rejected=\"true\",type=\"validating\"}} 1"
        )),
        of(&format!(
            "request_total{{code=\"503\",{down},rejected=\"false\",type=\"validating\"}} 2"
        )),
        of(&format!(
            "rejection_count{{error_type=\"no_error\",{by},rejection_code=\"403\",\
             type=\"validating\"}} 1"
        )),
        of("fail_open_count{name=\"down.example.com\",type=\"validating\"} 2"),
        of(&format!(
            "admission_duration_seconds_count{{{by},rejected=\"true\",type=\"validating\"}} 1"
        )),
        "apiserver_admission_controller_admission_duration_seconds_count{name=\
         \"ValidatingAdmissionWebhook\",operation=\"CREATE\",rejected=\"true\",type=\"validate\"} 1"
            .to_owned(),
    ];
    let expected: Vec<&str> = expected.iter().map(|it| &**it).collect();
    check(&mut world, &expected).await;
    let lines = lines(&mut world).await;
    let steps = "apiserver_admission_step_admission_duration_seconds_count";
    let of_step = |it: &&String| it.starts_with(steps) && it.contains("type=\"validate\"");
    assert!(
        lines
            .iter()
            .filter(of_step)
            .any(|it| it.contains("rejected=\"true\""))
    );
    // A plugin that only judges has no other step.
    let mut own = lines
        .iter()
        .filter(|it| it.contains("\"ValidatingAdmissionWebhook\""));
    assert!(own.all(|it| !it.contains("type=\"admit\"")));
    world.server.shutdown().await;
}

#[tokio::test]
async fn violations_of_policies_are_counted_by_what_follows_from_them() {
    let mut world = World::new().await;
    let rules = json!({"validations": [{"expression": "object.metadata.name != 'bad'"}]});
    let actions = json!({"validationActions": ["Audit", "Warn"]});
    bind(&mut world, &rules, &actions).await;
    assert_eq!(world.create_map("good").await.code, 201);
    assert_eq!(world.create_map("bad").await.code, 201);
    let of = |action: &str| {
        format!(
            "apiserver_validating_admission_policy_check_total{{enforcement_action=\"{action}\",\
             error_type=\"invalid_error\",policy=\"p\",policy_binding=\"b\"}} 1"
        )
    };
    check(&mut world, &[&of("audit"), &of("warn")]).await;
    world.server.shutdown().await;
}

#[tokio::test]
async fn match_conditions_are_counted_where_they_keep_requests_from_webhooks() {
    let mut world = World::new().await;
    let mut conditional = hook("a");
    conditional["failurePolicy"] = "Ignore".into();
    conditional["matchConditions"] = json!([
        {"name": "named", "expression": "object.metadata.name != 'no'"},
        {"name": "labelled", "expression": "object.metadata.labels.x == 'y'"},
    ]);
    let configured = configuration("ValidatingWebhookConfiguration", &[conditional]);
    world.configure(VALIDATING, &configured).await;
    world.script("/a", allow);
    let mut labelled = super::map("yes");
    labelled["metadata"]["labels"] = json!({"x": "y"});
    assert_eq!(world.client.post(super::MAPS, &labelled).await.code, 201);
    labelled["metadata"]["name"] = "no".into();
    assert_eq!(world.client.post(super::MAPS, &labelled).await.code, 201);
    assert_eq!(world.create_map("unlabelled").await.code, 201);
    assert_eq!(world.reviews().len(), 1);
    let of = |name: &str, kind: &str, count: u32| {
        format!(
            "apiserver_admission_match_condition_{name}{{kind=\"webhook\",\
             name=\"a.example.com\",operation=\"CREATE\",type=\"{kind}\"}} {count}"
        )
    };
    let expected = [
        of("exclusions_total", "validate", 2),
        of("evaluation_errors_total", "validating", 1),
        of("evaluation_seconds_count", "validating", 2),
    ];
    check(&mut world, &expected.each_ref().map(|it| &**it)).await;
    world.server.shutdown().await;
}
