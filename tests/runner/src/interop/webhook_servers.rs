//! The webhook servers of two well-known projects, as processes of this machine:
//! prometheus-operator's admission webhook, which also converts, and that of KEDA, which looks at
//! the cluster to decide. `tests/interop/prometheus-operator`
//! and `tests/interop/keda` have the versions.

use super::cases::Case;
use super::cluster::{go_build, go_module};
use super::kubectl::Shell;
use super::subject::{Subject, Surroundings};
use crate::running::{Running, free_port, repeat};
use crate::upstream::self_signed;
use kubist_test_support::process::{self, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The part's name, for `--only`.
pub(super) const PART: &str = "webhook-servers";
const PROMETHEUS: &str = "prometheus-operator-admission-webhook";
const KEDA: &str = "keda-admission-webhooks";
const PROMETHEUS_MODULE: &str = "github.com/prometheus-operator/prometheus-operator";
const KEDA_MODULE: &str = "github.com/kedacore/keda/v2";
/// Folders below `tests/interop`, packages, and the names of their programs.
const PACKAGES: [(&str, &str, &str); 2] = [
    (
        "prometheus-operator",
        "github.com/prometheus-operator/prometheus-operator/cmd/admission-webhook",
        PROMETHEUS,
    ),
    ("keda", "github.com/kedacore/keda/v2/cmd/webhooks", KEDA),
];
/// Definitions: the folder, the module, and the file in it.
const DEFINITIONS: [(&str, &str, &str); 3] = [
    (
        "prometheus-operator",
        PROMETHEUS_MODULE,
        "example/prometheus-operator-crd-full/monitoring.coreos.com_prometheusrules.yaml",
    ),
    (
        "prometheus-operator",
        PROMETHEUS_MODULE,
        "example/prometheus-operator-crd-full/monitoring.coreos.com_alertmanagerconfigs.yaml",
    ),
    (
        "keda",
        KEDA_MODULE,
        "config/crd/bases/keda.sh_scaledobjects.yaml",
    ),
];
/// What kubectl shows of the refusal of a rule: the causes.
const UNPARSED: &str = "rule 1, \"A\": could not parse expression";
/// The time limit for a configuration to count.
const LIMIT: Duration = Duration::from_secs(30);

/// Builds both servers.
pub(super) fn build(programs: &Path) -> Outcome {
    for (folder, package, name) in PACKAGES {
        go_build(folder, package, &programs.join(name))?;
    }
    Ok(())
}

/// Runs the steps on a server without controllers.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let server = subject.start(Surroundings::Alone, folder)?;
    let kubectl = Shell::on_path(&server.kubeconfig, folder);
    for (of, module, file) in DEFINITIONS {
        let file = go_module(of, module)?.join(file);
        kubectl.run(&format!("apply --server-side -f {}", file.display()))?;
    }
    // kubectl fails on a definition without conditions.
    let wait = "wait --for=condition=Established crd --all --timeout=30s";
    repeat(LIMIT, || kubectl.run(wait).map(drop))?;
    let certificates = Certificates::new(folder)?;
    let prometheus = start_prometheus(programs, folder, &certificates)?;
    let keda = start_keda(programs, folder, &certificates, &server.kubeconfig)?;
    configure(&kubectl, &certificates, (prometheus.port, keda.port))?;
    let mut world = World { kubectl, keda };
    let case = |&(name, step): &(&str, Step)| Case::of(PART, name, step(&mut world));
    Ok(STEPS.iter().map(case).collect())
}

/// The certificate of both servers, which is its own authority.
struct Certificates {
    folder: PathBuf,
    /// In base64.
    authority: String,
}

impl Certificates {
    fn new(folder: &Path) -> Outcome<Self> {
        let folder = folder.join("certificates");
        std::fs::create_dir_all(&folder)?;
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        let address = ["-addext", "subjectAltName=IP:127.0.0.1"];
        self_signed((&certificate, &key), "/CN=webhooks", &address)?;
        let certificate = certificate.display().to_string();
        let encoded = process::output("base64", &["-w0", &certificate])?;
        let authority = encoded.trim().to_owned();
        Ok(Self { folder, authority })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A webhook server. Dropping it ends it.
struct WebhookServer {
    running: Running,
    port: u16,
}

fn start_prometheus(
    programs: &Path,
    folder: &Path,
    certificates: &Certificates,
) -> Outcome<WebhookServer> {
    let port = free_port()?;
    let mut command = Command::new(programs.join(PROMETHEUS));
    command.arg(format!("-web.listen-address=127.0.0.1:{port}"));
    command.arg("-web.enable-tls=true");
    for (flag, file) in [("cert", "tls.crt"), ("key", "tls.key")] {
        let file = certificates.path(file);
        command.arg(format!("-web.{flag}-file={}", file.display()));
    }
    awaited(command, &folder.join("prometheus.log"), port)
}

fn start_keda(
    programs: &Path,
    folder: &Path,
    certificates: &Certificates,
    kubeconfig: &Path,
) -> Outcome<WebhookServer> {
    let (port, probes) = (free_port()?, free_port()?);
    let mut command = Command::new(programs.join(KEDA));
    command
        .env("KUBECONFIG", kubeconfig)
        .arg(format!("--cert-dir={}", certificates.folder.display()))
        .arg(format!("--port={port}"))
        .arg(format!("--health-probe-bind-address=127.0.0.1:{probes}"))
        .arg("--metrics-bind-address=0");
    awaited(command, &folder.join("keda.log"), port)
}

fn awaited(command: Command, log: &Path, port: u16) -> Outcome<WebhookServer> {
    let mut running = Running::start(command, log)?;
    running.await_port(port)?;
    Ok(WebhookServer { running, port })
}

/// Stores both configurations, lets the definition convert, and waits until all of it counts.
fn configure(
    kubectl: &Shell,
    certificates: &Certificates,
    (prometheus, keda): (u16, u16),
) -> Outcome {
    let hook = |name: &str, port: u16, path: &str, group: &str, resource: &str| {
        let authority = &certificates.authority;
        format!(
            "- name: {name}.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  \
             failurePolicy: Fail\n  timeoutSeconds: 5\n  clientConfig:\n    \
             url: https://127.0.0.1:{port}{path}\n    caBundle: {authority}\n  rules:\n  \
             - apiGroups: [{group}]\n    apiVersions: ['*']\n    operations: [CREATE, UPDATE]\n    \
             resources: [{resource}]\n"
        )
    };
    let monitoring = "monitoring.coreos.com";
    let rules = |name, path| hook(name, prometheus, path, monitoring, "prometheusrules");
    let configuration = |kind: &str, hooks: &[String]| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}WebhookConfiguration\n\
             metadata: {{name: webhook-servers}}\nwebhooks:\n{}---\n",
            hooks.concat()
        )
    };
    let mutating = [rules("mark-rules", "/admission-prometheusrules/mutate")];
    let validating = [
        rules("rules", "/admission-prometheusrules/validate"),
        hook(
            "configurations",
            prometheus,
            "/admission-alertmanagerconfigs/validate",
            monitoring,
            "alertmanagerconfigs",
        ),
        hook(
            "scaled-objects",
            keda,
            "/validate-keda-sh-v1alpha1-scaledobject",
            "keda.sh",
            "scaledobjects",
        ),
    ];
    let text = configuration("Mutating", &mutating) + &configuration("Validating", &validating);
    kubectl.run(&format!("apply -f {}", kubectl.file("hooks.yaml", &text)?))?;
    let conversion = format!(
        r#"{{"spec":{{"conversion":{{"strategy":"Webhook","webhook":{{"conversionReviewVersions":["v1"],"clientConfig":{{"url":"https://127.0.0.1:{prometheus}/convert","caBundle":"{}"}}}}}}}}}}"#,
        certificates.authority
    );
    let definition = "crd/alertmanagerconfigs.monitoring.coreos.com";
    kubectl.run_arguments(&["patch", definition, "--type=merge", "-p", &conversion])?;
    // The configuration counts once a bad rule is refused.
    let file = kubectl.file("bad.yaml", &rule("probe", "sum("))?;
    repeat(LIMIT, || {
        kubectl.refuse(&format!("create --dry-run=server -f {file}"), UNPARSED)
    })
}

struct World {
    kubectl: Shell,
    keda: WebhookServer,
}

impl World {
    /// Creates what a text describes.
    fn create(&self, text: &str) -> Outcome {
        let file = self.kubectl.file("object.yaml", text)?;
        self.kubectl.run(&format!("create -f {file}")).map(drop)
    }

    /// Expects that it is refused with these words.
    fn refuse(&self, text: &str, words: &[&str]) -> Outcome {
        let file = self.kubectl.file("object.yaml", text)?;
        for words in words {
            self.kubectl.refuse(&format!("create -f {file}"), words)?;
        }
        Ok(())
    }
}

type Step = fn(&mut World) -> Outcome;

const STEPS: &[(&str, Step)] = &[
    ("a good rule is marked", marks),
    ("a rule with a bad expression is refused", refuses_a_rule),
    ("a change for the worse is refused", refuses_a_change),
    (
        "a configuration that nobody receives is refused",
        refuses_a_configuration,
    ),
    ("a configuration is converted", converts),
    ("a scaled object of a Deployment is admitted", scales),
    (
        "a second one of the same Deployment is refused",
        refuses_a_second,
    ),
    (
        "a trigger by CPU needs a request of it",
        refuses_without_requests,
    ),
    ("without its server, a request is refused", refuses_alone),
    ("kinds of others are not concerned", leaves_others_alone),
];

fn rule(name: &str, expression: &str) -> String {
    format!(
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {{name: {name}}}\n\
         spec:\n  groups:\n  - name: g\n    rules:\n    - alert: A\n      expr: '{expression}'\n"
    )
}

fn marks(world: &mut World) -> Outcome {
    world.create(&rule("good", "up == 0"))?;
    let marked = world.kubectl.json("get prometheusrule/good")?;
    let mark = &marked["metadata"]["annotations"]["prometheus-operator-validated"];
    if mark == "true" {
        return Ok(());
    }
    Err(format!("it is not marked: {}", marked["metadata"]).into())
}

fn refuses_a_rule(world: &mut World) -> Outcome {
    world.refuse(&rule("bad", "sum("), &[UNPARSED])
}

fn refuses_a_change(world: &mut World) -> Outcome {
    let file = world.kubectl.file("change.yaml", &rule("good", "sum("))?;
    let apply = format!("apply -f {file}");
    world.kubectl.refuse(&apply, UNPARSED)?;
    let found = world.kubectl.json("get prometheusrule/good")?;
    match found.pointer("/spec/groups/0/rules/0/expr") {
        Some(it) if it == "up == 0" => Ok(()),
        it => Err(format!("it is now {it:?}").into()),
    }
}

/// A configuration whose route names a receiver.
fn configuration(name: &str, receiver: &str) -> String {
    format!(
        "apiVersion: monitoring.coreos.com/v1alpha1\nkind: AlertmanagerConfig\n\
         metadata: {{name: {name}}}\nspec:\n  route:\n    receiver: {receiver}\n    \
         matchers: [{{name: job, value: a.*, regex: true}}]\n  receivers:\n  - name: here\n"
    )
}

fn refuses_a_configuration(world: &mut World) -> Outcome {
    let words = "receiver \"nowhere\" not found";
    world.refuse(&configuration("lost", "nowhere"), &[words])
}

fn converts(world: &mut World) -> Outcome {
    world.create(&configuration("found", "here"))?;
    let kubectl = &world.kubectl;
    let newer = kubectl.json("get alertmanagerconfigs.v1beta1.monitoring.coreos.com/found")?;
    let matcher = &newer["spec"]["route"]["matchers"][0];
    if newer["apiVersion"] != "monitoring.coreos.com/v1beta1" || matcher["matchType"] != "=~" {
        return Err(format!("{} has the matcher {matcher}", newer["apiVersion"]).into());
    }
    let same = kubectl.json("get alertmanagerconfigs.v1alpha1.monitoring.coreos.com/found")?;
    if same["spec"]["route"]["matchers"][0]["regex"] == true {
        return Ok(());
    }
    Err(format!("it came back as {}", same["spec"]["route"]).into())
}

fn scaled(name: &str, of: &str, trigger: &str) -> String {
    format!(
        "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: {name}}}\n\
         spec:\n  scaleTargetRef: {{name: {of}}}\n  triggers:\n  - {trigger}\n"
    )
}

const CRON: &str = "{type: cron, metadata: {timezone: UTC, start: 0 6 * * *, end: 0 20 * * *, desiredReplicas: \"3\"}}";
const CPU: &str = "{type: cpu, metricType: Utilization, metadata: {value: \"50\"}}";

fn scales(world: &mut World) -> Outcome {
    for name in ["web", "idle"] {
        let create = format!("create deployment {name} --image=registry.example/web:1");
        world.kubectl.run(&create)?;
    }
    // Its cache has to have seen the Deployment.
    repeat(LIMIT, || world.create(&scaled("web", "web", CRON)))
}

fn refuses_a_second(world: &mut World) -> Outcome {
    repeat(LIMIT, || {
        world.refuse(
            &scaled("again", "web", CRON),
            &[
                "denied the request",
                "already managed by the ScaledObject 'web'",
            ],
        )
    })
}

fn refuses_without_requests(world: &mut World) -> Outcome {
    world.refuse(
        &scaled("idle", "idle", CPU),
        &["the scaledobject has a cpu trigger but"],
    )
}

fn refuses_alone(world: &mut World) -> Outcome {
    world.keda.running.kill();
    world.refuse(
        &scaled("late", "idle", CRON),
        &["failed calling webhook \"scaled-objects.example.com\""],
    )
}

fn leaves_others_alone(world: &mut World) -> Outcome {
    world.kubectl.run("create configmap a").map(drop)
}
