//! The meaning of the entries of a file.

use kubist_kubeconfig::{ClientConfig, Environment, Kubeconfig, KubeconfigError, Selection};
use kubist_transport::{
    Auth, ExecApiVersion, Identity, InteractiveMode, Pem, Proxy, Transport, Verify,
};
use std::path::Path;

const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const PEM_BASE64: &str =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

fn cloud() -> Kubeconfig {
    let text = include_str!("../../testdata/cloud.yaml");
    Kubeconfig::parse(text, Path::new("/etc/kube/config")).unwrap()
}

/// One context of a cluster and a user, given as flow mappings.
fn select(cluster: &str, user: &str) -> Result<ClientConfig, KubeconfigError> {
    let text = format!(
        "clusters: [{{name: c, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
    );
    let config = Kubeconfig::parse(&text, Path::new("f"))?;
    config.select(&Selection::default(), &Environment::default())
}

fn selection(context: &str) -> Selection {
    Selection {
        context: Some(context.to_owned()),
        ..Selection::default()
    }
}

#[test]
fn a_context_with_a_plugin_becomes_one() {
    let client = cloud()
        .select(&Selection::default(), &Environment::default())
        .unwrap();
    assert_eq!(client.namespace, "default");
    assert_eq!(client.context.as_deref(), Some("eks"));
    let Auth::Exec(plugin) = &client.transport.auth else {
        panic!("a plugin")
    };
    assert_eq!(plugin.command, "aws");
    assert_eq!(plugin.args.len(), 8);
    assert_eq!(plugin.env, [("AWS_PROFILE".to_owned(), "prod".to_owned())]);
    assert_eq!(plugin.api_version, ExecApiVersion::V1Beta1);
    assert_eq!(plugin.interactive_mode, InteractiveMode::IfAvailable);
    assert!(plugin.cluster.is_none());
}

#[test]
fn every_field_of_a_cluster_is_used() {
    let client = cloud()
        .select(&selection("gke"), &Environment::default())
        .unwrap();
    assert_eq!(client.namespace, "team-a");
    let transport = client.transport;
    assert_eq!(
        transport.tls.server_name.as_deref(),
        Some("kubernetes.default")
    );
    assert!(!transport.accept_gzip);
    let proxy = Proxy::Socks5 {
        host: "127.0.0.1".into(),
        port: 1080,
        credentials: None,
    };
    assert_eq!(transport.proxy, Some(proxy));
    let Verify::Authorities(Pem::Data(data)) = &transport.tls.verify else {
        panic!("data")
    };
    assert_eq!(data.reveal(), PEM);

    let Auth::Exec(plugin) = &transport.auth else {
        panic!("a plugin")
    };
    assert_eq!(plugin.command, "/etc/kube/./bin/gke-auth");
    assert_eq!(
        plugin.install_hint.as_deref(),
        Some("Install the plugin.\n")
    );
    let cluster = plugin.cluster.as_ref().unwrap();
    assert_eq!(cluster["server"], "https://203.0.113.7");
    assert_eq!(cluster["config"]["replicas"], 3);
    assert_eq!(cluster["config"]["audience"], "06e3fbd1");
    assert_eq!(cluster["disable-compression"], true);
}

#[test]
fn flags_override_the_parts_of_a_context() {
    let mut flags = selection("eks");
    flags.cluster = Some("gke".into());
    flags.namespace = Some("mine".into());
    let client = cloud().select(&flags, &Environment::default()).unwrap();
    assert_eq!(client.transport.server, "https://203.0.113.7/");
    assert_eq!(client.namespace, "mine");
    let Auth::Exec(plugin) = &client.transport.auth else {
        panic!("a plugin")
    };
    assert_eq!(plugin.command, "aws");
}

#[test]
fn unknown_names_are_reported_with_the_existing_ones() {
    let error = cloud()
        .select(&selection("typo"), &Environment::default())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "context \"typo\" does not exist; there are [\"eks\", \"gke\"]"
    );
    let error = Kubeconfig::default().select(&selection("typo"), &Environment::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "context \"typo\" does not exist; there is none"
    );
    for change in [
        |flags: &mut Selection| flags.cluster = Some("typo".into()),
        |flags: &mut Selection| flags.user = Some("typo".into()),
    ] {
        let mut flags = selection("eks");
        change(&mut flags);
        let error = cloud().select(&flags, &Environment::default()).unwrap_err();
        assert!(matches!(error, KubeconfigError::Unknown { .. }), "{error}");
    }
    let mut config = cloud();
    config.current_context.clear();
    let error = config
        .select(&Selection::default(), &Environment::default())
        .unwrap_err();
    assert!(matches!(error, KubeconfigError::NoContext { known } if known == ["eks", "gke"]));
}

#[test]
fn each_kind_of_credentials_is_read() {
    let auth = |user| {
        select("{server: 'https://h'}", user)
            .unwrap()
            .transport
            .auth
    };
    assert!(matches!(auth("{}"), Auth::None));
    assert!(matches!(auth("null"), Auth::None));
    assert!(matches!(auth("{token: abc}"), Auth::Bearer(token) if token.reveal() == "abc"));
    assert!(matches!(auth("{token: 123}"), Auth::Bearer(token) if token.reveal() == "123"));
    assert!(
        matches!(auth("{token: abc, tokenFile: t}"), Auth::TokenFile(path)
        if path == Path::new("t"))
    );
    assert!(
        matches!(auth("{username: u, password: p}"), Auth::Basic { username, .. }
        if username == "u")
    );

    let data = format!("{{client-certificate-data: {PEM_BASE64}, client-key-data: {PEM_BASE64}}}");
    let client = select("{server: 'https://h'}", &data).unwrap();
    let Some(Identity {
        key: Pem::Data(key),
        ..
    }) = client.transport.tls.identity
    else {
        panic!("data")
    };
    assert_eq!(key.reveal(), PEM);
}

#[test]
fn a_user_may_act_as_another() {
    let user = "{token: abc, as: jane, as-uid: '7', as-groups: [a, b], as-user-extra: {k: [v]}}";
    let client = select("{server: 'https://h'}", user).unwrap();
    let impersonate = client.transport.impersonate.unwrap();
    assert_eq!(impersonate.user, "jane");
    assert_eq!(impersonate.uid, "7");
    assert_eq!(impersonate.groups, ["a", "b"]);
    assert_eq!(impersonate.extra, [("k".to_owned(), vec!["v".to_owned()])]);
}

#[test]
fn credentials_do_not_go_to_a_server_without_tls() {
    let client = select("{server: 'http://localhost:8001'}", "{token: abc}").unwrap();
    assert!(matches!(client.transport.auth, Auth::None));
}

#[test]
fn an_address_without_a_scheme_gets_one() {
    for (cluster, server) in [
        ("{server: 'localhost:8080'}", "http://localhost:8080/"),
        (
            "{server: 'h:6443', insecure-skip-tls-verify: true}",
            "https://h:6443/",
        ),
        ("{server: '10.0.0.1'}", "http://10.0.0.1/"),
    ] {
        assert_eq!(select(cluster, "{}").unwrap().transport.server, server);
    }
}

#[test]
fn the_proxy_of_the_environment_is_used_unless_the_cluster_has_its_own() {
    let environment = Environment::default().with("HTTPS_PROXY", "http://proxy:3128");
    let proxied = |context| {
        let client = cloud().select(&selection(context), &environment).unwrap();
        client.transport.proxy.unwrap()
    };
    assert!(matches!(proxied("eks"), Proxy::Http { port: 3128, .. }));
    assert!(matches!(proxied("gke"), Proxy::Socks5 { .. }));
}

fn check(cases: &[(&str, &str, &str)]) {
    for (cluster, user, expected) in cases {
        let error = select(cluster, user).unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not contain {expected:?}"
        );
    }
}

#[test]
fn errors_in_a_cluster_are_reported_with_their_position() {
    check(&[
        (
            "{}",
            "{}",
            "clusters[c].server in kubeconfig \"f\" is missing",
        ),
        (
            "{server: 'ftp://h'}",
            "{}",
            "clusters[c].server in kubeconfig \"f\" is \"ftp://h\", not a URL",
        ),
        ("{server: 'https://'}", "{}", "is \"https://\", not a URL"),
        (
            "{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: a}",
            "{}",
            "clusters[c].insecure-skip-tls-verify in kubeconfig \"f\" cannot be true beside",
        ),
        (
            "{server: 'https://h', certificate-authority-data: '%%'}",
            "{}",
            "clusters[c].certificate-authority-data in kubeconfig \"f\" is not base64",
        ),
        (
            "{server: 'https://h', proxy-url: 'ftp://p'}",
            "{}",
            "scheme \"ftp\" is not http",
        ),
    ]);
}

#[test]
fn errors_in_a_user_are_reported_with_their_position() {
    let https = "{server: 'https://h'}";
    let place = |field, problem| format!("users[u].{field} in kubeconfig \"f\" {problem}");
    for (user, expected) in [
        ("{client-certificate: a}", place("client-key", "is missing")),
        ("{client-key: a}", place("client-certificate", "is missing")),
        ("{token: a, username: b}", place("token", "cannot stand")),
        (
            "{auth-provider: {name: gcp}}",
            place("auth-provider", "\"gcp\" is not"),
        ),
        ("{as-uid: a}", place("as", "is missing")),
    ] {
        check(&[(https, user, &expected)]);
    }
    let v1 = "apiVersion: client.authentication.k8s.io/v1";
    for (exec, expected) in [
        (
            "command: x".to_owned(),
            place("exec.apiVersion", "is \"\";"),
        ),
        (v1.to_owned(), place("exec.command", "is missing")),
        (
            format!("{v1}, command: x"),
            place("exec.interactiveMode", "is \"\", not Never"),
        ),
        (
            format!("{v1}, command: x, interactiveMode: Never, env: [{{value: x}}]"),
            place("exec.env", "has a variable without a name"),
        ),
    ] {
        check(&[(https, &format!("{{exec: {{{exec}}}}}"), &expected)]);
    }
}

#[test]
fn a_file_that_the_transport_cannot_read_is_named() {
    let client = select(
        "{server: 'https://h', certificate-authority: no/ca.crt}",
        "{}",
    )
    .unwrap();
    let error = Transport::new(client.transport).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "cannot read \"no/ca.crt\"");
}

#[test]
fn secrets_do_not_show_in_debug_output() {
    let user = "{token: hunter2, password: hunter2}";
    let text = format!("users: [{{name: u, user: {user}}}]");
    let config = Kubeconfig::parse(&text, Path::new("f")).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
}
