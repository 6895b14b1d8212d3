//! Reads: the server itself, discovery, documentation, tables, descriptions, selectors, watches.

use crate::interop::kubectl::Shell;
use crate::interop::tables;
use kubist_test_support::process::Outcome;

/// Kinds with an object in the namespace `platform`, and cluster-scoped ones.
const PLATFORM: [&str; 27] = [
    "clusterroles",
    "clusterrolebindings",
    "configmaps",
    "cronjobs",
    "daemonsets",
    "deployments",
    "endpoints",
    "endpointslices",
    "horizontalpodautoscalers",
    "ingressclasses",
    "ingresses",
    "jobs",
    "leases",
    "limitranges",
    "namespaces",
    "networkpolicies",
    "persistentvolumeclaims",
    "persistentvolumes",
    "priorityclasses",
    "replicasets",
    "resourcequotas",
    "rolebindings",
    "roles",
    "secrets",
    "serviceaccounts",
    "services",
    "storageclasses",
];

pub(super) fn server(shell: &Shell) -> Outcome {
    let version = shell.json("version")?;
    let git = version["serverVersion"]["gitVersion"]
        .as_str()
        .unwrap_or_default();
    if !git.starts_with("v1.36.") {
        return Err(format!("the server's version is {git:?}").into());
    }
    for path in ["/healthz", "/livez", "/readyz"] {
        shell.print_exactly(&format!("get --raw {path}"), "ok")?;
    }
    shell.print(
        "get namespaces",
        &["default", "kube-system", "kube-public", "kube-node-lease"],
    )?;
    shell.print("cluster-info", &["is running at"])
}

pub(super) fn explain(shell: &Shell) -> Outcome {
    shell.print(
        "explain deployments",
        &["GROUP:      apps", "KIND:       Deployment", "spec"],
    )?;
    shell.print(
        "explain deployments.spec.strategy.rollingUpdate",
        &[
            "FIELD: rollingUpdate",
            "maxSurge",
            "maxUnavailable",
            "IntOrString",
        ],
    )?;
    shell.print(
        "explain pods.spec.containers --recursive",
        &["livenessProbe", "httpGet", "ports"],
    )?;
    shell.print(
        "explain deployments --recursive",
        &[
            "    template\t<PodTemplateSpec> -required-\n      metadata\t<ObjectMeta>\n",
            "    strategy\t<DeploymentStrategy>\n      rollingUpdate\t<RollingUpdateDeployment>\n        \
             maxSurge\t<IntOrString>\n",
        ],
    )?;
    shell.print(
        "explain pods",
        &[
            "  spec\t<PodSpec>\n    ",
            "    The kind of the object, such as",
        ],
    )?;
    shell.print(
        "explain cronjobs.spec.schedule",
        &["FIELD: schedule", "string"],
    )?;
    shell.refuse(
        "explain pods.spec.nonsense",
        "field \"nonsense\" does not exist",
    )
}

pub(super) fn columns(shell: &Shell) -> Outcome {
    tables::columns(shell, "platform", &PLATFORM)?;
    tables::columns(
        shell,
        "shop",
        &["statefulsets", "poddisruptionbudgets", "pods"],
    )
}

pub(super) fn describe(shell: &Shell) -> Outcome {
    shell.print(
        "describe deployment frontend -n guestbook",
        &[
            "Name:                   frontend",
            "3 desired",
            "RollingUpdateStrategy:",
            "Image:",
        ],
    )?;
    shell.print(
        "describe service frontend -n guestbook",
        &["Type:", "NodePort", "Selector:"],
    )?;
    shell.print("describe secret session -n shop", &["key:  14 bytes"])?;
    shell.print(
        "describe configmap frontend -n shop",
        &["Welcome.", "CURRENCY"],
    )?;
    shell.print("describe namespace shop", &["Status:       Active"])?;
    for (object, says) in [
        ("daemonset agent", "Node-Selector:"),
        ("cronjob report", "Schedule:"),
        ("job migrate", "Parallelism:"),
        ("ingress dashboard", "dashboard.example.com"),
        ("pvc archive", "Access Modes:"),
    ] {
        let (_, name) = object.split_once(' ').unwrap_or_default();
        shell.print(
            &format!("describe {object} -n platform"),
            &["Name:", name, says],
        )?;
    }
    shell.print("describe pv archive", &["Reclaim Policy:", "Retain"])?;
    shell.print("describe clusterrole metrics-reader", &["nodes/metrics"])?;
    shell.refuse("describe deployment nothing -n guestbook", "(NotFound)")
}

pub(super) fn select(shell: &Shell) -> Outcome {
    let by_label = "get deployments -n guestbook -l tier=store,role!=reader -o name";
    shell.print_exactly(by_label, "deployment.apps/store-leader")?;
    let by_set = shell.run_arguments(&[
        "get",
        "deployments",
        "-n",
        "guestbook",
        "-l",
        "role in (leader, nobody),tier",
        "-o",
        "name",
    ])?;
    if by_set.trim() != "deployment.apps/store-leader" {
        return Err(format!("the set selector gives {by_set:?}").into());
    }
    let by_field = "get services -n shop --field-selector metadata.name=cart -o name";
    shell.print_exactly(by_field, "service/cart")?;
    shell.refuse(
        "get pods -A --field-selector spec.nonsense=1",
        "field label not supported",
    )?;
    let whole = shell.run("get serviceaccounts -A -o name --chunk-size=0")?;
    let chunked = shell.run("get serviceaccounts -A -o name --chunk-size=2")?;
    if whole != chunked || whole.lines().count() < 8 {
        return Err(format!("in chunks {chunked:?}, whole {whole:?}").into());
    }
    shell.print(
        "get all -n guestbook",
        &["deployment.apps/frontend", "service/frontend"],
    )?;
    shell.print(
        "get deploy,svc -n shop --show-labels",
        &["app.kubernetes.io/part-of=shop"],
    )?;
    shell.print(
        "get deployments -n shop --sort-by=.metadata.name -o custom-columns=N:.metadata.name",
        &["cart\ncatalog\ncheckout\nfrontend"],
    )?;
    let path = "get deployment catalog -n shop \
                -o jsonpath={.spec.template.spec.containers[0].image}";
    shell.print_exactly(path, "registry.example.com/shop/catalog:v1.9.2")
}

pub(super) fn watch(shell: &Shell) -> Outcome {
    let mut watch = shell.follow("get configmaps -n default -w --output-watch-events")?;
    shell.run("create configmap watched -n default --from-literal=a=1")?;
    watch.until(&["ADDED", "watched"])?;
    shell.run_arguments(&[
        "patch",
        "configmap",
        "watched",
        "-p",
        r#"{"data":{"b":"2"}}"#,
    ])?;
    watch.until(&["MODIFIED", "watched"])?;
    shell.run("delete configmap watched -n default")?;
    watch.until(&["DELETED", "watched"])?;
    let mut selected = shell.follow("get configmaps -l selected=yes -w --output-watch-events")?;
    shell.run("create configmap moving --from-literal=a=1")?;
    shell.run("label configmap moving selected=yes")?;
    selected.until(&["ADDED", "moving"])?;
    shell.run("label configmap moving selected=no --overwrite")?;
    selected.until(&["DELETED", "moving"])?;
    shell.run("delete configmap moving").map(drop)
}
