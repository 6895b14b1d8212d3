//! Faults of a webhook, and what they do not affect.

use super::script::{Answer, convert, text};
use super::*;
use kubist_registry::WebhookError;

type Respond = Box<dyn Fn(&Value) -> Answer + Send>;

/// What a webhook can do wrong, and the message that it causes.
struct Fault {
    name: &'static str,
    respond: Respond,
    why: &'static str,
}

/// Changes the answer.
fn answer(change: fn(&mut Value)) -> Respond {
    Box::new(move |review| {
        let mut answer = convert(review);
        change(&mut answer);
        Answer::Body(text(&answer))
    })
}

/// Changes the converted object.
fn object(change: fn(&mut Value)) -> Respond {
    Box::new(move |review| {
        let mut answer = convert(review);
        change(&mut answer["response"]["convertedObjects"][0]);
        Answer::Body(text(&answer))
    })
}

fn fails(error: WebhookError) -> Respond {
    Box::new(move |_| Answer::Failure(error.clone()))
}

fn fault(name: &'static str, respond: Respond, why: &'static str) -> Fault {
    Fault { name, respond, why }
}

fn faults_of_calls() -> Vec<Fault> {
    let url = || "https://example.com/convert?timeout=30s".to_owned();
    let closed = WebhookError::Transport {
        url: url(),
        reason: "EOF".to_owned(),
    };
    let huge = WebhookError::ResponseTooLarge {
        url: url(),
        limit: 9,
    };
    let broken = WebhookError::Refused {
        code: 500,
        body: "no".to_owned(),
    };
    vec![
        fault(
            "closes",
            fails(closed),
            "failed: Post \"https://example.com/convert?timeout=30s\": EOF",
        ),
        fault(
            "huge",
            fails(huge),
            "failed: Post \"https://example.com/convert?timeout=30s\": the response is longer than \
             9 bytes",
        ),
        fault(
            "500",
            fails(broken),
            "failed: an error on the server (\"no\") has prevented the request from succeeding",
        ),
        fault(
            "rubbish",
            Box::new(|_| Answer::Body(b"rubbish".to_vec())),
            "failed: couldn't get version/kind; json parse error: expected value at line 1 column 1",
        ),
    ]
}

fn faults_of_answers() -> Vec<Fault> {
    vec![
        fault(
            "no response",
            answer(|it| it["response"] = Value::Null),
            "failed: no response provided",
        ),
        fault(
            "refusal",
            answer(|it| it["response"]["result"] = json!({"status": "Failure", "message": "no"})),
            "failed: no",
        ),
        fault(
            "fewer objects",
            answer(|it| it["response"]["convertedObjects"] = json!([])),
            "returned 0 objects, expected 1",
        ),
        fault(
            "version",
            object(|it| it["apiVersion"] = "example.com/v2".into()),
            "returned invalid object at index 0: invalid groupVersion (expected \
             example.com/v1beta1, received example.com/v2)",
        ),
        fault(
            "kind",
            object(|it| it["kind"] = "Gadget".into()),
            "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)",
        ),
    ]
}

fn faults_of_metadata() -> Vec<Fault> {
    vec![
        fault(
            "name",
            object(|it| it["metadata"]["name"] = "other".into()),
            "returned invalid object: must have the same name: a != other",
        ),
        fault(
            "namespace",
            object(|it| it["metadata"]["namespace"] = "other".into()),
            "returned invalid object: must have the same namespace: default != other",
        ),
        fault(
            "uid",
            object(|it| it["metadata"]["uid"] = "x".into()),
            "returned invalid object: must have the same UID: UID != x",
        ),
        fault(
            "labels",
            object(|it| it["metadata"]["labels"] = json!({"a b": "c"})),
            "returned invalid metadata: metadata.labels: Invalid value: \"a b\": name part must \
             consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
             validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        fault(
            "annotation",
            object(|it| it["metadata"]["annotations"] = json!({"a": 1})),
            "returned invalid metadata: metadata.annotations[a] must be a string, but is int64 in \
             converted object",
        ),
    ]
}

#[tokio::test]
async fn a_wrong_answer_is_an_error_of_the_request_that_needs_it() {
    let world = World::new().await;
    let created = world.create(&world.v1, "a", &json!({"size": 1})).await;
    let uid = created["metadata"]["uid"].as_str().expect("it has one");
    let faults = [faults_of_calls(), faults_of_answers(), faults_of_metadata()];
    for Fault { name, respond, why } in faults.into_iter().flatten() {
        let start = "conversion webhook for example.com/v1, Kind=Widget ";
        let expected = format!("{start}{}", why.replace("UID !=", &format!("{uid} !=")));
        let respond = Arc::new(parking_lot::Mutex::new(respond));
        let used = Arc::clone(&respond);
        world.script.respond(move |review| used.lock()(review));
        let status = world.get(&world.beta, "a").await.expect_err(name);
        assert_eq!(
            (status.code, status.message.as_str()),
            (500, expected.as_str()),
            "{name}"
        );
        assert_eq!(status.reason, "", "{name}");
        let status = world.list(&world.beta, "").await.expect_err(name);
        assert_eq!(
            (status.code, status.message.as_str()),
            (500, expected.as_str()),
            "{name}"
        );
        let mut watch = world.watch(&world.beta, "resourceVersion=0").await;
        let events = next(&mut watch).await;
        let message = format!("Internal error occurred: {expected}");
        assert_eq!(events, [("ERROR", json!(message))], "{name}");
        assert!(watch.next().await.is_none(), "{name}");
        let mut change = created.clone();
        change["apiVersion"] = BETA.into();
        let status = put(&world.fixture, &world.beta, &change)
            .await
            .expect_err(name);
        assert_eq!(
            (status.code, status.message.as_str()),
            (500, expected.as_str()),
            "{name}"
        );
        let gone = DeleteOptions::default();
        let deleted = world
            .beta
            .delete(&world.fixture.cx(), "default", "a", &gone)
            .await;
        assert_eq!(
            deleted.expect_err(name).message.as_str(),
            expected,
            "{name}"
        );
        // The version of storage is not affected.
        assert_eq!(world.get(&world.v1, "a").await.expect(name), created);
    }
    world
        .script
        .respond(|review| Answer::Body(text(&convert(review))));
    assert_eq!(
        world.list(&world.beta, "").await.expect("fine").len(),
        1,
        "nothing is left of it"
    );
}

#[tokio::test]
async fn an_answer_to_another_review_is_refused() {
    let world = World::new().await;
    world.create(&world.v1, "a", &json!({"size": 1})).await;
    world
        .script
        .change(|answer| answer["response"]["uid"] = "x".into());
    let status = world
        .get(&world.beta, "a")
        .await
        .expect_err("it is for another");
    let reviews = world.script.take_reviews();
    let uid = reviews[0]["request"]["uid"].as_str().expect("it is set");
    assert_eq!(
        status.message,
        format!(
            "conversion webhook for example.com/v1, Kind=Widget failed: expected \
             response.uid=\"{uid}\", got \"x\""
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_hanging_webhook_delays_only_what_needs_it_and_not_for_long() {
    for cached in [false, true] {
        let world = World::cached(cached).await;
        world.create(&world.v1, "a", &json!({"size": 1})).await;
        world.script.respond(|_| Answer::Hang);
        let mut stuck = world.watch(&world.beta, "resourceVersion=0").await;
        let mut live = world.watch(&world.v1, "resourceVersion=0").await;
        let begun = tokio::time::Instant::now();
        let hanging = async {
            let (got, listed, event) = tokio::join!(
                world.get(&world.beta, "a"),
                world.list(&world.beta, ""),
                next(&mut stuck),
            );
            (got, listed, event, begun.elapsed())
        };
        let others = async {
            assert_eq!(next(&mut live).await[0].0, "ADDED");
            world.create(&world.v1, "b", &json!({"size": 2})).await;
            assert_eq!(next(&mut live).await[0].0, "ADDED");
            assert_eq!(world.list(&world.v1, "").await.expect("fine").len(), 2);
            begun.elapsed()
        };
        let ((got, listed, event, slow), quick) = tokio::join!(hanging, others);
        assert!(quick < Duration::from_secs(1), "{quick:?}");
        assert!((30..32).contains(&slow.as_secs()), "{slow:?}");
        let expected = "conversion webhook for example.com/v1, Kind=Widget failed: Post \
                        \"https://example.com/convert?timeout=30s\": context deadline exceeded \
                        (Client.Timeout exceeded while awaiting headers)";
        assert_eq!(got.expect_err("it hangs").message, expected);
        assert_eq!(listed.expect_err("it hangs").message, expected);
        assert_eq!(
            event[0].1,
            json!(format!("Internal error occurred: {expected}"))
        );
    }
}

#[tokio::test]
async fn a_server_without_a_caller_says_so() {
    let (fixture, task) = following().await;
    let mut widgets = definition("widgets", "Widget", &both());
    with_webhook(&mut widgets);
    fixture.create(widgets).await;
    let (v1, beta) = (
        served(&fixture, "v1").await,
        served(&fixture, "v1beta1").await,
    );
    let object = json!({"metadata": {"name": "a"}, "spec": {"size": 1}});
    create(&fixture, &v1, &object)
        .await
        .expect("it needs no conversion");
    let any = ResourceVersion::default();
    let status = beta.get(&fixture.cx(), "default", "a", &any).await;
    assert_eq!(
        status.expect_err("nothing can convert it").message,
        "conversion webhook for example.com/v1, Kind=Widget failed: this server does not call \
         webhooks: no webhook caller is configured"
    );
    drop(task);
}

#[tokio::test]
async fn no_known_review_version_is_an_error() {
    let world = World::new().await;
    world.create(&world.v1, "a", &json!({"size": 1})).await;
    // Stored by another server: validation requires a known version.
    let key = "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com";
    let kv = &world.fixture.kv;
    let stored = kubist_storage::KvRead::get(kv, key.as_bytes(), None).await;
    let stored = stored.expect("it answers").kv.expect("it is there");
    let mut tree: Value = serde_json::from_slice(&stored.value).expect("it is JSON");
    tree["spec"]["conversion"]["conversionReviewVersions"] = json!(["v9"]);
    tree["metadata"]["generation"] = 9.into();
    let put = kubist_storage::PutRequest::new(key, tree.to_string(), kubist_storage::Expected::Any);
    drop(
        kubist_storage::KvWrite::put(kv, put)
            .await
            .expect("it is open"),
    );
    until(async || {
        let beta = served(&world.fixture, "v1beta1").await;
        let status = world.get(&beta, "a").await.err()?;
        (status.message == "no supported conversion review versions").then_some(())
    })
    .await;
}
