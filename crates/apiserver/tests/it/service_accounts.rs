//! Service account tokens: requested, used, reviewed, and invalid after their account is deleted.

use crate::client::{Client, silent_server};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Version;
use kubist_apiserver::RunningServer;
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const TOKEN: &str = "/api/v1/namespaces/default/serviceaccounts/robot/token";
const REVIEWS: &str = "/apis/authentication.k8s.io/v1/tokenreviews";
const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

async fn admin(server: &RunningServer) -> Client {
    let mut admin = Client::in_memory(server, Version::HTTP_2).await;
    let account = json!({"metadata": {"name": "robot"}});
    assert_eq!(admin.post(ACCOUNTS, &account).await.code, 201);
    admin
}

async fn review(client: &mut Client, token: &Value, audiences: Value) -> Value {
    let spec = json!({"token": token, "audiences": audiences});
    let review = json!({"kind": "TokenReview", "spec": spec});
    let answer = client.post(REVIEWS, &review).await;
    assert_eq!(answer.code, 201);
    answer.json()["status"].clone()
}

#[tokio::test]
async fn the_token_of_a_service_account_lets_it_in_until_the_account_is_gone() {
    let server = silent_server().await;
    let mut admin = admin(&server).await;
    let answer = admin.post(TOKEN, &json!({"kind": "TokenRequest"})).await;
    assert_eq!(answer.code, 201);
    let request = answer.json();
    assert_eq!(request["metadata"]["name"], "robot");
    assert_eq!(request["spec"]["expirationSeconds"], 3600);
    let token = request["status"]["token"].as_str().expect("there is one");
    assert_eq!(token.split('.').count(), 3);

    let robot = Client::in_memory(&server, Version::HTTP_2).await;
    let mut robot = robot.header("authorization", &format!("Bearer {token}"));
    let answer = robot
        .post(SELF, &json!({"kind": "SelfSubjectReview"}))
        .await;
    let user = answer.json()["status"]["userInfo"].clone();
    assert_eq!(user["username"], "system:serviceaccount:default:robot");
    assert_eq!(user["uid"], request["metadata"]["uid"]);
    assert_eq!(
        user["groups"],
        json!([
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated",
        ])
    );

    assert_eq!(admin.delete(&format!("{ACCOUNTS}/robot")).await.code, 200);
    assert_eq!(robot.get(ACCOUNTS).await.code, 401);
    let account = json!({"metadata": {"name": "robot"}});
    assert_eq!(admin.post(ACCOUNTS, &account).await.code, 201);
    assert_eq!(robot.get(ACCOUNTS).await.code, 401, "it is another account");
    server.shutdown().await;
}

#[tokio::test]
async fn others_verify_tokens_with_the_published_key() {
    let server = silent_server().await;
    let mut admin = admin(&server).await;
    let answer = admin.get("/.well-known/openid-configuration").await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "public, max-age=3600");
    let issuer = "https://kubernetes.default.svc.cluster.local";
    let expected = json!({
        "issuer": issuer,
        "jwks_uri": format!("{issuer}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    assert_eq!(answer.json(), expected);

    let answer = admin.get("/openid/v1/jwks").await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.header("content-type"), "application/jwk-set+json");
    let key = answer.json()["keys"][0].clone();
    for (field, value) in [
        ("use", "sig"),
        ("kty", "EC"),
        ("crv", "P-256"),
        ("alg", "ES256"),
    ] {
        assert_eq!(key[field], value, "{field}");
    }

    let request = admin.post(TOKEN, &json!({"kind": "TokenRequest"})).await;
    let token = request.json()["status"]["token"].clone();
    let (signed, signature) = token
        .as_str()
        .and_then(|it| it.rsplit_once('.'))
        .expect("a token");
    let part = |text: &str| URL_SAFE_NO_PAD.decode(text).expect("base64");
    let (header, claims) = signed.split_once('.').expect("two parts");
    let json = |text: &str| serde_json::from_slice::<Value>(&part(text)).expect("JSON");
    assert_eq!(json(header)["kid"], key["kid"]);
    assert_eq!(json(claims)["iss"], issuer);
    let number = |field: &str| part(key[field].as_str().expect("text"));
    let point = [vec![4], number("x"), number("y")].concat();
    // Upstream's key id: the digest of the DER form.
    let info = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA";
    let der = [part(&format!("{info}E"))[..26].to_vec(), point.clone()].concat();
    let id = URL_SAFE_NO_PAD.encode(digest(&SHA256, &der));
    assert_eq!(key["kid"], id);
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    let signature = part(signature);
    public
        .verify(signed.as_bytes(), &signature)
        .expect("it is its");
    assert!(public.verify(b"something else", &signature).is_err());
    server.shutdown().await;
}

#[tokio::test]
async fn a_token_for_somebody_else_does_not_let_in_here() {
    let server = silent_server().await;
    let mut admin = admin(&server).await;
    let request = json!({"kind": "TokenRequest", "spec": {"audiences": ["vault"]}});
    let answer = admin.post(TOKEN, &request).await.json();
    let token = &answer["status"]["token"];
    let text = token.as_str().expect("there is one");
    let robot = Client::in_memory(&server, Version::HTTP_2).await;
    let mut robot = robot.header("authorization", &format!("Bearer {text}"));
    assert_eq!(robot.get(ACCOUNTS).await.code, 401);

    let status = review(&mut admin, token, json!(["vault", "bank"])).await;
    assert_eq!(status["authenticated"], true);
    assert_eq!(status["audiences"], json!(["vault"]));
    for audiences in [json!([]), json!(["bank"])] {
        let status = review(&mut admin, token, audiences).await;
        assert_eq!(status.get("authenticated"), None);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_token_ends_with_the_pod_that_it_is_bound_to() {
    let server = silent_server().await;
    let mut admin = admin(&server).await;
    let pods = "/api/v1/namespaces/default/pods";
    let spec = json!({"serviceAccountName": "robot", "containers": [{"name": "c", "image": "i"}]});
    let pod = json!({"metadata": {"name": "p"}, "spec": spec});
    assert_eq!(admin.post(pods, &pod).await.code, 201);
    let bound = |kind: &str, name: &str| {
        let object = json!({"apiVersion": "v1", "kind": kind, "name": name});
        json!({"kind": "TokenRequest", "spec": {"boundObjectRef": object}})
    };
    let answer = admin.post(TOKEN, &bound("Pod", "p")).await.json();
    let token = &answer["status"]["token"];
    let status = review(&mut admin, token, json!([])).await;
    let extra = &status["user"]["extra"];
    assert_eq!(extra["authentication.kubernetes.io/pod-name"], json!(["p"]));

    let path = format!("{pods}/p?gracePeriodSeconds=0");
    assert_eq!(admin.delete(&path).await.code, 200);
    let status = review(&mut admin, token, json!([])).await;
    assert_eq!(
        status["error"],
        "[invalid bearer token, service account token has been invalidated]"
    );
    assert_eq!(admin.post(TOKEN, &bound("Pod", "p")).await.code, 404);
    let answer = admin.post(TOKEN, &bound("ConfigMap", "p")).await;
    assert_eq!(
        answer.json()["message"],
        "cannot bind token to object of type /v1, Kind=ConfigMap"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn requests_for_tokens_that_make_no_sense_are_refused() {
    let server = silent_server().await;
    let mut admin = admin(&server).await;
    for (spec, message) in [
        (5_i64, "may not specify a duration less than 10 minutes"),
        (
            1 << 33,
            "may not specify a duration larger than 2^32 seconds",
        ),
    ] {
        let request = json!({"kind": "TokenRequest", "spec": {"expirationSeconds": spec}});
        let answer = admin.post(TOKEN, &request).await;
        assert_eq!(answer.code, 422);
        let text = answer.json()["message"].to_string();
        assert!(text.contains(message), "{text}");
    }
    let other = json!({"kind": "TokenRequest", "metadata": {"name": "other"}});
    assert_eq!(admin.post(TOKEN, &other).await.code, 422);
    let missing = format!("{ACCOUNTS}/none/token");
    let request = json!({"kind": "TokenRequest"});
    assert_eq!(admin.post(&missing, &request).await.code, 404);
    // A mismatch with the path is reported before the account is looked up.
    assert_eq!(admin.post(&missing, &other).await.code, 422);
    let elsewhere = json!({"kind": "TokenRequest", "metadata": {"namespace": "other"}});
    assert_eq!(admin.post(&missing, &elsewhere).await.code, 400);
    let of_another = json!({"kind": "TokenRequest", "metadata": {"uid": "other"},
        "spec": {"expirationSeconds": 1}});
    let answer = admin.post(TOKEN, &of_another).await;
    let message = answer.json()["message"].to_string();
    let expected = "the UID in the token request (other) does not match the UID of the service";
    assert!(
        answer.code == 409 && message.contains(expected),
        "{message}"
    );
    assert_eq!(admin.get(TOKEN).await.code, 405);
    server.shutdown().await;
}

#[tokio::test]
async fn there_are_no_tokens_for_a_namespace_that_is_ending() {
    let server = silent_server().await;
    let mut client = Client::in_memory(&server, Version::HTTP_2).await;
    let body = json!({"metadata": {"name": "ending"}});
    assert_eq!(client.post("/api/v1/namespaces", &body).await.code, 201);
    let ends = client.delete("/api/v1/namespaces/ending").await;
    assert_eq!(ends.code, 200, "{ends:?}");
    let token = "/api/v1/namespaces/ending/serviceaccounts/none/token";
    let refused = client.post(token, &json!({"spec": {}})).await;
    assert_eq!(refused.code, 403, "{refused:?}");
    let status = refused.json();
    let why = "serviceaccounts \"none\" is forbidden: unable to create new content in namespace \
               ending because it is being terminated";
    assert_eq!(status["message"], why);
    let cause = &status["details"]["causes"][0];
    assert_eq!(cause["reason"], "NamespaceTerminating");
    server.shutdown().await;
}
