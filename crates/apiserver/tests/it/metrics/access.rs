//! Access to `/metrics`.

use crate::client::{Client, TOKEN, server_with};
use kubist_apiserver::{Config, StaticToken};
use kubist_registry::User;
use serde_json::json;

fn token(token: &str, name: &str, group: &str) -> StaticToken {
    StaticToken {
        token: token.to_owned(),
        user: User {
            name: name.into(),
            groups: vec![group.into()],
            ..User::default()
        },
    }
}

#[tokio::test]
async fn metrics_are_for_masters_for_monitoring_and_for_those_bound_to_them() {
    let config = Config {
        tokens: vec![
            token("alice", "alice", "people"),
            token("prometheus", "prometheus", "system:monitoring"),
        ],
        ..Config::default()
    };
    let server = server_with(config, |_| {}).await;
    let ask = async |token: &str, path: &str| {
        let client = Client::over_tls(&server, None, &["h2"]).await;
        let mut client = match token {
            "" => client,
            token => client.header("authorization", &format!("Bearer {token}")),
        };
        client.get(path).await
    };
    assert_eq!(ask("", "/metrics").await.code, 401);
    assert_eq!(ask(TOKEN, "/metrics").await.code, 200);
    assert_eq!(ask("prometheus", "/metrics").await.code, 200);
    let refused = ask("alice", "/metrics").await;
    assert_eq!(refused.code, 403);
    let message = "forbidden: User \"alice\" cannot get path \"/metrics\"";
    assert_eq!(refused.json()["message"], message);
    assert_eq!(ask("prometheus", "/storage/backup").await.code, 403);

    let admin = Client::over_tls(&server, None, &["h2"]).await;
    let mut admin = admin.header("authorization", &format!("Bearer {TOKEN}"));
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rule = json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]});
    let role = json!({"metadata": {"name": "reader"}, "rules": [rule]});
    assert_eq!(
        admin
            .post(&format!("{rbac}/clusterroles"), &role)
            .await
            .code,
        201
    );
    let binding = json!({
        "metadata": {"name": "people-read"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "people"}],
    });
    let bindings = format!("{rbac}/clusterrolebindings");
    assert_eq!(admin.post(&bindings, &binding).await.code, 201);
    assert_eq!(ask("alice", "/metrics").await.code, 200);
    assert_eq!(
        ask("alice", "/storage/backup").await.code,
        403,
        "that is for masters"
    );
    server.shutdown().await;
}
