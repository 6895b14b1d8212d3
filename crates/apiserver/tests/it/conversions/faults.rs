//! Faults of a webhook and of its connections.

use super::*;

/// Returns the message of a read that needs the webhook.
async fn message(world: &mut World) -> String {
    let answer = world.client.get(&format!("{BETA}/a")).await;
    let status = answer.json();
    assert_eq!(answer.code, 500, "{status}");
    let message = status["message"].as_str().expect("it is text");
    let start = "conversion webhook for example.com/v1, Kind=Widget failed: ";
    message
        .strip_prefix(start)
        .expect("it names the webhook")
        .to_owned()
}

#[tokio::test]
async fn a_broken_webhook_is_an_error_and_a_mended_one_is_used_at_once() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let url = format!("https://localhost:{}/convert?timeout=30s", webhook.port);
    for (mode, expected) in [
        (Mode::Close, format!("Post \"{url}\": EOF")),
        (
            Mode::Fail,
            "an error on the server (\"it is broken\") has prevented the request from succeeding"
                .to_owned(),
        ),
        (
            Mode::FailAndQuote,
            "an error on the server (\"unknown\") has prevented the request from succeeding"
                .to_owned(),
        ),
        (
            Mode::Rubbish,
            "couldn't get version/kind; json parse error: expected value at line 1 column 1"
                .to_owned(),
        ),
        (
            Mode::Huge,
            format!("Post \"{url}\": the response is longer than 33554432 bytes"),
        ),
    ] {
        webhook.set(mode);
        assert_eq!(message(&mut world).await, expected, "{mode:?}");
        assert_eq!(
            world.get(&format!("{V1}/a")).await["spec"],
            json!({"size": 1})
        );
    }
    webhook.set(Mode::Convert);
    assert_eq!(
        world.get(&format!("{BETA}/a")).await["spec"],
        json!({"dimension": 1})
    );
    world.end(webhook).await;
}

#[tokio::test]
async fn a_connection_that_the_webhook_closes_is_replaced() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    webhook.set(Mode::ConvertAndClose);
    for _ in 0..3 {
        assert_eq!(
            world.get(&format!("{BETA}/a")).await["spec"],
            json!({"dimension": 1})
        );
    }
    assert_eq!(webhook.connections(), 3);
    world.end(webhook).await;
}

#[tokio::test]
async fn an_unknown_certificate_is_refused() {
    let (webhook, other) = (
        Webhook::start("localhost").await,
        Webhook::start("localhost").await,
    );
    let mut world = World::new().await;
    let mut config = by_url(&webhook);
    config["caBundle"] = by_url(&other)["caBundle"].clone();
    world.define(&config).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let message = message(&mut world).await;
    let end = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert!(message.ends_with(end), "{message}");
    assert_eq!(webhook.requests(), 0, "nothing is sent");
    world.end(webhook).await;
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let webhook = Webhook::start("webhook.example.com").await;
    let mut world = World::new().await;
    let mut config = by_url(&webhook);
    config["url"] = format!("https://127.0.0.2:{}/", webhook.port).into();
    world.define(&config).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let message = message(&mut world).await;
    assert!(message.contains("127.0.0.2"), "{message}");
    assert_eq!(webhook.requests(), 0, "nothing is sent");
    world.end(webhook).await;
}

#[tokio::test]
async fn a_webhook_that_is_not_there_is_refused_at_once() {
    let webhook = Webhook::start("localhost").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let port = webhook.port;
    drop(webhook);
    let expected = format!(
        "Post \"https://localhost:{port}/convert?timeout=30s\": dial tcp localhost:{port}: connect: \
         connection refused"
    );
    assert_eq!(message(&mut world).await, expected);
    world.server.shutdown().await;
}

#[tokio::test]
async fn a_certificate_in_the_bundle_itself_is_trusted_for_its_names() {
    for webhook in [
        Webhook::self_signed("localhost").await,
        Webhook::known_itself("localhost").await,
    ] {
        let mut world = World::new().await;
        world.define(&by_url(&webhook)).await;
        world.create(V1, "a", &json!({"size": 1})).await;
        assert_eq!(
            world.get(&format!("{BETA}/a")).await["spec"],
            json!({"dimension": 1})
        );
        world.end(webhook).await;
    }
    let webhook = Webhook::self_signed("other.example.com").await;
    let mut world = World::new().await;
    world.define(&by_url(&webhook)).await;
    world.create(V1, "a", &json!({"size": 1})).await;
    let message = message(&mut world).await;
    assert!(
        message.contains("failed to verify certificate"),
        "{message}"
    );
    assert_eq!(webhook.requests(), 0, "nothing is sent");
    world.end(webhook).await;
}
