//! Users and their groups.

use kubist::api::authentication::v1::SelfSubjectReview;
use kubist::api::core::v1::ConfigMap;
use kubist::client::{Api, Client};
use kubist_test::{Login, ServerController, TestServer};

async fn who(client: Client) -> kubist_test::Result<(String, Vec<String>)> {
    let reviews: Api<SelfSubjectReview> = Api::all(client);
    let review = reviews.create(&SelfSubjectReview::default()).await?;
    let user = review.status.user_info;
    let groups = user.groups.iter().map(ToString::to_string).collect();
    Ok((user.username.to_string(), groups))
}

#[tokio::test(start_paused = true)]
async fn requests_are_those_of_the_user_with_these_groups() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let (user, groups) = who(server.client()).await?;
    assert_eq!(user, "kubernetes-admin");
    assert!(groups.contains(&"system:masters".to_owned()), "{groups:?}");

    let alice = server.client_as("alice", ["devs", "on-call"])?;
    let (user, groups) = who(alice).await?;
    assert_eq!(user, "alice");
    assert_eq!(groups, ["devs", "on-call", "system:authenticated"]);

    let robot = Login::service_account("shop", "robot").with_user_agent("robot/1");
    let (user, groups) = who(server.client_of(&robot)?).await?;
    assert_eq!(user, "system:serviceaccount:shop:robot");
    let expected = [
        "system:serviceaccounts",
        "system:serviceaccounts:shop",
        "system:authenticated",
    ];
    assert_eq!(groups, expected);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_user_agent_that_is_no_header_is_refused() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let login = Login::admin().with_user_agent("a\nb");
    server.client_of(&login).expect_err("it has a line break");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_server_begins_with_what_its_builder_says() -> kubist_test::Result {
    let server = TestServer::builder()
        .seed(7) // of uids, generated names, pauses
        .controllers([ServerController::Namespace, ServerController::Workloads])
        .yaml("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        .yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}")
        .start()
        .await?;
    let alice = server.client_as("alice", ["devs"])?;
    let maps: Api<ConfigMap> = Api::namespaced(alice, "shop");
    maps.delete("settings").await?;
    let robot = Login::service_account("shop", "robot").with_user_agent("robot/1.0");
    let robot = server.client_of(&robot)?;
    robot.server_version().await?;
    assert_eq!(server.journal().count("robot", "GET"), 1);
    Ok(())
}

const ROLES: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{verbs: [get, list, watch], apiGroups: [''], resources: [configmaps]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: devs-read, namespace: default}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: devs}]
roleRef: {kind: Role, apiGroup: rbac.authorization.k8s.io, name: reader}
";

#[tokio::test(start_paused = true)]
async fn users_may_do_what_their_roles_allow() -> kubist_test::Result {
    let server = TestServer::builder()
        .obey_roles()
        .yaml(ROLES)
        .yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
        .start()
        .await?;
    let maps = |client| -> Api<ConfigMap> { Api::namespaced(client, "default") };
    let alice = maps(server.client_as("alice", ["devs"])?);
    alice.get("settings").await?;
    let refused = alice.delete("settings").await;
    assert!(refused.is_err_and(|it| it.is_forbidden()));
    let eve = maps(server.client_as("eve", ["others"])?);
    assert!(eve.get("settings").await.is_err_and(|it| it.is_forbidden()));

    // A fork obeys the same roles.
    let fork = server.fork().await?;
    let alice = maps(fork.client_as("alice", ["devs"])?);
    alice.get("settings").await?;
    assert!(
        alice
            .delete("settings")
            .await
            .is_err_and(|it| it.is_forbidden())
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_controller_with_a_login_has_the_user_agent_of_its_name() -> kubist_test::Result {
    let server = TestServer::start().await?;
    let robot = Login::service_account("shop", "robot");
    let running = server.run_as(&robot, "labeler", |client, stop| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        let mut map = ConfigMap::default();
        map.metadata.name = "made".into();
        maps.create(&map).await?;
        stop.cancelled().await;
        Ok::<(), kubist::client::ApiError>(())
    })?;
    let map = server.object::<ConfigMap>("default", "made");
    map.eventually(|_| true).await?;
    assert_eq!(server.journal().count("labeler", "POST"), 1);
    drop(running);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_failed_assertion_says_what_was_refused() -> kubist_test::Result {
    let server = TestServer::builder().obey_roles().start().await?;
    let robot = Login::service_account("shop", "robot");
    server.run_as(&robot, "labeler", |client, _stop| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client, "default");
        for _ in 0..3 {
            drop(maps.delete("settings").await);
        }
        Ok::<(), kubist::client::ApiError>(())
    })?;
    let map = server.object::<ConfigMap>("default", "settings");
    let failed = map.eventually(|_| true).await;
    let text = failed.expect_err("nobody makes it").to_string();
    let expected = "  refused: system:serviceaccount:shop:robot (labeler) DELETE \
                    /api/v1/namespaces/default/configmaps/settings 403, 3 times\n";
    assert!(text.contains(expected), "{text}");
    Ok(())
}
