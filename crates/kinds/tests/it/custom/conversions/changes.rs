//! Changes of a definition with a webhook.

use super::script::Answer;
use super::*;
use kubist_registry::WebhookTarget;

#[tokio::test(start_paused = true)]
async fn a_definition_is_deleted_without_its_webhook() {
    let world = World::new().await;
    world.create(&world.v1, "a", &json!({"size": 1})).await;
    world
        .change(|it| {
            it.spec.versions[0].storage = false;
            it.spec.versions[1].storage = true;
        })
        .await;
    world.script.respond(|_| Answer::Hang);
    let gone = DeleteOptions::default();
    let deleted = world
        .fixture
        .delete::<CustomResourceDefinition>("widgets.example.com", gone);
    deleted.await.expect("it is there");
    let begun = tokio::time::Instant::now();
    until(async || {
        cluster_get(&world.fixture, "widgets.example.com")
            .await
            .err()
    })
    .await;
    assert!(
        begun.elapsed() < Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
    assert!(
        world.script.clients().is_empty(),
        "the client is given back"
    );
}

#[tokio::test]
async fn a_change_of_the_conversion_is_effective_at_once() {
    let world = World::new().await;
    world.create(&world.v1, "a", &json!({"size": 1})).await;
    world.list(&world.beta, "").await.expect("it is fine");
    let url = |it: &CustomResourceDefinition| {
        let conversion = it.spec.conversion.as_deref();
        conversion.map(|it| it.strategy.to_string())
    };
    let mut watch = world.watch(&world.beta, "resourceVersion=0").await;
    next(&mut watch).await;
    world.change(|it| it.spec.conversion = None).await;
    assert!(watch.next().await.is_none(), "its client lists again");
    world.script.take_sizes();
    let beta = served(&world.fixture, "v1beta1").await;
    let listed = world.list(&beta, "").await.expect("it is fine");
    assert_eq!(
        listed[0]["spec"],
        json!({"size": 1}),
        "only the name changes"
    );
    assert_eq!(listed[0]["apiVersion"], BETA);
    assert_eq!(world.script.take_sizes(), NONE);

    world
        .change(|it| {
            with_webhook(it);
            let webhook = it
                .spec
                .conversion
                .as_mut()
                .and_then(|it| it.webhook.as_mut());
            let client = webhook.and_then(|it| it.client_config.as_mut());
            client.expect("it is set").url = Some("https://example.org/other".into());
        })
        .await;
    let listed = until(async || {
        let beta = served(&world.fixture, "v1beta1").await;
        let listed = world.list(&beta, "").await.expect("it is fine");
        (listed[0]["spec"] == json!({"dimension": "1"})).then_some(listed)
    })
    .await;
    assert_eq!(listed.len(), 1);
    let targets: Vec<_> = world
        .script
        .clients()
        .into_iter()
        .map(|it| it.target)
        .collect();
    let current = WebhookTarget::Url("https://example.org/other".to_owned());
    assert!(targets.contains(&current), "{targets:?}");
    let definition = cluster_get(&world.fixture, "widgets.example.com").await;
    assert_eq!(url(&definition.expect("there")), Some("Webhook".to_owned()));
}

#[tokio::test]
async fn a_definition_with_an_invalid_ca_bundle_is_not_established() {
    let (fixture, task) = following().await;
    let mut widgets = definition("widgets", "Widget", &both());
    with_webhook(&mut widgets);
    let set = |it: &mut CustomResourceDefinition, bundle: &[u8]| {
        let conversion = it.spec.conversion.as_mut();
        let webhook = conversion.and_then(|it| it.webhook.as_mut());
        let client = webhook.and_then(|it| it.client_config.as_mut());
        client.expect("it is set").ca_bundle = bundle.to_vec().into();
    };
    set(&mut widgets, b"x");
    fixture.create(widgets).await;
    let found = condition(&fixture, "widgets.example.com", "Established").await;
    assert_eq!(found, ("False".into(), "InvalidCABundle".into()));
    let mend = async |bundle: &[u8]| loop {
        let found = cluster_get(&fixture, "widgets.example.com").await;
        let mut definition = found.expect("it is there");
        set(&mut definition, bundle);
        match fixture.put(definition).await {
            Err(status) if status.is_conflict() => {}
            other => return other.map(drop),
        }
    };
    mend(b"").await.expect("it is fine");
    served(&fixture, "v1").await;
    until(async || {
        let found = condition(&fixture, "widgets.example.com", "Established").await;
        (found.0 == "True").then_some(())
    })
    .await;
    let status = mend(b"x").await.expect_err("it is established");
    assert_eq!(
        status.message,
        "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: \
         spec.conversion.webhookClientConfig.caBundle: Invalid value: \"eA==\": unable to load root \
         certificates: unable to parse bytes as PEM block"
    );
    drop(task);
}
