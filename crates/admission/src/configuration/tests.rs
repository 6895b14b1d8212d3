//! Tests of the file: what it is, and what is refused by name.

use super::*;

fn parse(text: &str) -> Result<AdmissionConfiguration, String> {
    let read = |path: &str| match path {
        "quota.yaml" => Ok(b"apiVersion: resourcequota.admission.k8s.io/v1beta1\n\
            kind: Configuration\nlimitedResources: [{resource: pods, matchContains: [cpu]}]\n"
            .to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let parsed = AdmissionConfiguration::parse(text.as_bytes(), &read);
    parsed.map_err(|error| error.to_string())
}

fn plugins(entries: &str) -> Result<AdmissionConfiguration, String> {
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n";
    parse(&format!("{head}plugins: [{entries}]\n"))
}

#[test]
fn a_configuration_is_in_the_file_or_in_one_that_it_names() {
    let empty = plugins("{name: PodSecurity}").expect("it is valid");
    assert_eq!(empty, AdmissionConfiguration::default());
    let configured = plugins(
        "{name: ResourceQuota, path: quota.yaml}, {name: PodSecurity, configuration: {apiVersion: \
         pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, defaults: \
         {enforce: baseline}}}",
    );
    let configured = configured.expect("it is valid");
    assert_ne!(configured.pod_security, empty.pod_security);
    assert_ne!(configured.limited, empty.limited);
    let missing = plugins("{name: ResourceQuota, path: none.yaml}");
    let why = "couldn't open admission plugin configuration none.yaml of \"ResourceQuota\"";
    assert_eq!(missing, Err(why.to_owned()));
}

#[test]
fn what_cannot_be_obeyed_is_refused_by_name() {
    let refused = |entries: &str| plugins(entries).expect_err("it is refused");
    for (name, why) in [
        ("ImagePolicyWebhook", "is not available in this server"),
        ("LimitRanger", "has no configuration"),
        ("Nonsense", "is unknown"),
    ] {
        let entry = format!("{{name: {name}, configuration: {{}}}}");
        assert_eq!(refused(&entry), format!("admission plugin {name:?} {why}"));
    }
    let of_webhooks = |field: &str| {
        format!(
            "{{name: ValidatingAdmissionWebhook, configuration: {{apiVersion: \
             apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, {field}}}}}"
        )
    };
    assert_eq!(
        refused(&of_webhooks("kubeConfigFile: /a.yaml")),
        "couldn't init admission plugin \"ValidatingAdmissionWebhook\": kubeConfigFile is not \
         supported by this server"
    );
    assert!(plugins(&of_webhooks("kubeConfigFile: ''")).is_ok());
    let twice = refused("{name: PodSecurity}, {name: PodSecurity}");
    assert_eq!(
        twice,
        "admission plugin \"PodSecurity\" is configured twice"
    );
}

#[test]
fn another_kind_of_file_is_refused_except_the_oldest_one() {
    let why = parse("apiVersion: v1\nkind: Pod\n").expect_err("it is a Pod");
    assert!(
        why.starts_with("no kind \"Pod\" is registered for version \"v1\""),
        "{why}"
    );
    assert!(
        plugins("{name: PodSecurity, paht: x}")
            .expect_err("a slip")
            .contains("unknown field")
    );
    let old = parse("podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: a=b}\n");
    let old = old.expect("it is valid");
    assert_ne!(old.node_selectors, Arc::default());
}

#[test]
fn limits_of_events_are_checked_in_upstreams_words() {
    let limits = |limits: &str| {
        plugins(&format!(
            "{{name: EventRateLimit, configuration: {{apiVersion: \
             eventratelimit.admission.k8s.io/v1alpha1, kind: Configuration, limits: [{limits}]}}}}"
        ))
    };
    let refused = |these: &str| {
        let error = limits(these).expect_err("it is refused");
        let begin = "couldn't init admission plugin \"EventRateLimit\": ";
        error.strip_prefix(begin).expect("it names it").to_owned()
    };
    assert!(limits("{type: Server, qps: 1, burst: 1, cacheSize: -1, x: 1}").is_ok());
    assert_eq!(refused(""), "limits: Invalid value: []: must not be empty");
    let wrong = "{type: X, burst: -1}, {type: User, qps: 1, burst: 1, cacheSize: -1}";
    assert_eq!(
        refused(wrong),
        "[limits[0].type: Unsupported value: \"X\": supported values: \"Namespace\", \"User\", \
         \"SourceAndObject\", \"Server\", limits[0].burst: Invalid value: -1: must be positive, \
         limits[0].qps: Invalid value: 0: must be positive, limits[1].cacheSize: Invalid value: -1: \
         must not be negative]"
    );
}
