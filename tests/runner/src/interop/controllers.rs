//! Workloads that a kube-controller-manager, a kube-scheduler and kwok bring about on the server:
//! all must converge, and the programs must not log errors except those on a list.

use super::cases::{Case, Patterns};
use super::cluster::{self, Cluster, manifest};
use super::kubectl::Shell;
use super::subject::Subject;
use crate::running::repeat;
use kubist_test_support::process::Outcome;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// The part's name, for `--only`.
pub(super) const PART: &str = "controllers";
/// The namespace of the workloads.
const NAMESPACE: &str = "workloads";
/// The time limit for a state to be reached.
const LIMIT: Duration = Duration::from_secs(45);
/// The time limit for a `CronJob`, which starts a Job each minute.
const CRON_LIMIT: Duration = Duration::from_secs(100);
/// The list of log lines of level error that do not count.
const LINES: &str = "log-lines";

type Check = fn(&Shell) -> Outcome;

/// What must come true, in this order.
const CHECKS: [(&str, Check); 19] = [
    (
        "a namespace has its ServiceAccount and ConfigMap",
        namespace,
    ),
    ("a Deployment has its Pods", deployment),
    ("a Service has its endpoints", endpoints),
    ("a PodDisruptionBudget has its status", budget),
    ("a ResourceQuota counts Pods", quota),
    ("a DaemonSet has a Pod on each node", daemon_set),
    ("an indexed Job completes", job),
    (
        "a StatefulSet has its Pods, and volumes are bound",
        stateful_set,
    ),
    ("the claim of a Pod is allocated and reserved", device),
    ("a ClusterRole aggregates another", cluster_role),
    ("the default ServiceCIDR is ready", default_service_cidr),
    (
        "a further ServiceCIDR is ready, and can be deleted",
        service_cidr,
    ),
    ("a Deployment rolls out a new template", rollout),
    ("a Deployment rolls back", rollback),
    ("a taint evicts Pods", taint),
    ("a CronJob starts Jobs that complete", cron_job),
    (
        "a deleted Deployment takes its Pods with it",
        delete_deployment,
    ),
    (
        "a deleted StatefulSet takes its claims with it",
        delete_stateful_set,
    ),
    ("a deleted namespace ends", delete_namespace),
];

/// Applies the manifests, and checks what becomes of them.
pub(super) fn run(subject: Subject<'_>, programs: &Path, folder: &Path) -> Outcome<Vec<Case>> {
    let cluster = Cluster::start(subject, programs, folder)?;
    let kubectl = &cluster.kubectl;
    kubectl.run(&format!("create namespace {NAMESPACE}"))?;
    for name in ["workloads", "storage", "devices", "roles", "service-cidr"] {
        let path = manifest(&format!("{name}.yaml"));
        kubectl.run(&format!("apply -n {NAMESPACE} -f {}", path.display()))?;
    }
    let mut cases = cluster.kubelet.cases(subject, kubectl)?;
    for (name, check) in CHECKS {
        let end = repeat(LIMIT, || check(kubectl));
        cases.push(Case::of("convergence", name, end));
    }
    let patterns = Patterns::read(LINES)?;
    for (program, mut lines) in cluster.errors()? {
        lines.retain(|it| !patterns.match_line(it));
        let outcome = match lines.first() {
            None => Ok(()),
            Some(first) => Err(format!("{} lines, such as {first}", lines.len()).into()),
        };
        let name = format!("{program} logs no errors");
        cases.push(Case::of("logs", name, outcome));
    }
    Ok(cases)
}

/// Builds the programs.
pub(super) fn build(programs: &Path) -> Outcome {
    cluster::build(programs)
}

/// Returns an object of the namespace.
fn get(kubectl: &Shell, what: &str) -> Outcome<Value> {
    kubectl.json(&format!("get {what} -n {NAMESPACE}"))
}

/// Fails unless the value at this JSON pointer is the expected one.
fn expect(object: &Value, pointer: &str, expected: impl Into<Value>) -> Outcome {
    let expected = expected.into();
    let found = object.pointer(pointer).unwrap_or(&Value::Null);
    if *found == expected {
        return Ok(());
    }
    Err(format!("{pointer} is {found} instead of {expected}").into())
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}

fn expect_count(list: &Value, expected: usize) -> Outcome {
    match items(list).len() {
        found if found == expected => Ok(()),
        found => Err(format!("{found} objects instead of {expected}").into()),
    }
}

/// Fails unless a condition has this status.
fn expect_condition(object: &Value, kind: &str, status: &str) -> Outcome {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let found = conditions.find(|it| it["type"] == kind);
    if found.is_some_and(|it| it["status"] == status) {
        return Ok(());
    }
    Err(format!("condition {kind} is {found:?}").into())
}

fn namespace(kubectl: &Shell) -> Outcome {
    get(kubectl, "serviceaccount/default")?;
    let map = get(kubectl, "configmap/kube-root-ca.crt")?;
    let certificate = map["data"]["ca.crt"].as_str().unwrap_or_default();
    if certificate.starts_with("-----BEGIN CERTIFICATE-----") {
        return Ok(());
    }
    Err("kube-root-ca.crt has no certificate".into())
}

fn deployment(kubectl: &Shell) -> Outcome {
    let web = get(kubectl, "deployment/web")?;
    expect(
        &web,
        "/status/observedGeneration",
        web["metadata"]["generation"].clone(),
    )?;
    expect(&web, "/status/updatedReplicas", 3)?;
    expect(&web, "/status/replicas", 3)?;
    expect(&web, "/status/availableReplicas", 3)?;
    expect_condition(&web, "Progressing", "True")
}

fn endpoints(kubectl: &Shell) -> Outcome {
    let slices = get(kubectl, "endpointslices -l kubernetes.io/service-name=web")?;
    expect_count(&slices, 1)?;
    let endpoints = slices["items"][0]["endpoints"].as_array();
    let is_ready = |it: &&Value| it["conditions"]["ready"] == true;
    let ready = endpoints.into_iter().flatten().filter(is_ready).count();
    if ready == 3 {
        return Ok(());
    }
    Err(format!("{ready} endpoints are ready").into())
}

fn budget(kubectl: &Shell) -> Outcome {
    let budget = get(kubectl, "poddisruptionbudget/web")?;
    expect(&budget, "/status/currentHealthy", 3)?;
    expect(&budget, "/status/disruptionsAllowed", 1)
}

fn quota(kubectl: &Shell) -> Outcome {
    let quota = get(kubectl, "resourcequota/all")?;
    expect(&quota, "/status/hard/pods", "100")?;
    match quota["status"]["used"]["pods"].as_str() {
        None | Some("0") => Err("no Pods are counted".into()),
        Some(_) => Ok(()),
    }
}

fn daemon_set(kubectl: &Shell) -> Outcome {
    let agent = get(kubectl, "daemonset/agent")?;
    expect(&agent, "/status/desiredNumberScheduled", 2)?;
    expect(&agent, "/status/numberAvailable", 2)?;
    let pods = get(kubectl, "pods -l app=agent")?;
    let mut nodes: Vec<_> = items(&pods)
        .iter()
        .filter_map(|it| it["spec"]["nodeName"].as_str())
        .collect();
    nodes.sort_unstable();
    if nodes == ["node-1", "node-2"] {
        return Ok(());
    }
    Err(format!("its Pods are on {nodes:?}").into())
}

fn job(kubectl: &Shell) -> Outcome {
    let job = get(kubectl, "job/indexed")?;
    expect(&job, "/status/succeeded", 6)?;
    expect(&job, "/status/completedIndexes", "0-5")?;
    expect_condition(&job, "Complete", "True")
}

fn stateful_set(kubectl: &Shell) -> Outcome {
    let store = get(kubectl, "statefulset/store")?;
    expect(&store, "/status/availableReplicas", 2)?;
    for claim in ["data-store-0", "data-store-1"] {
        let claim = get(kubectl, &format!("persistentvolumeclaim/{claim}"))?;
        expect(&claim, "/status/phase", "Bound")?;
        let volume = claim["spec"]["volumeName"].as_str().unwrap_or_default();
        let volume = kubectl.json(&format!("get persistentvolume/{volume}"))?;
        expect(&volume, "/status/phase", "Bound")?;
        expect(
            &volume,
            "/spec/claimRef/uid",
            claim["metadata"]["uid"].clone(),
        )?;
    }
    Ok(())
}

fn device(kubectl: &Shell) -> Outcome {
    let pod = get(kubectl, "pod/train")?;
    let claim = pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"]
        .as_str()
        .ok_or("the Pod has no claim in its status")?;
    let claim = get(kubectl, &format!("resourceclaim/{claim}"))?;
    expect(
        &claim,
        "/status/allocation/devices/results/0/device",
        "device-0",
    )?;
    expect(
        &claim,
        "/status/reservedFor/0/uid",
        pod["metadata"]["uid"].clone(),
    )?;
    expect(&pod, "/spec/nodeName", "node-1")?;
    expect(&pod, "/status/phase", "Running")
}

fn cluster_role(kubectl: &Shell) -> Outcome {
    let role = kubectl.json("get clusterrole/conformance-all")?;
    expect(&role, "/rules/0/resources/0", "configmaps")
}

fn default_service_cidr(kubectl: &Shell) -> Outcome {
    let range = kubectl.json("get servicecidr/kubernetes")?;
    expect_condition(&range, "Ready", "True")
}

fn service_cidr(kubectl: &Shell) -> Outcome {
    if let Ok(range) = kubectl.json("get servicecidr/more") {
        expect_condition(&range, "Ready", "True")?;
        kubectl.run("delete servicecidr/more --timeout 20s")?;
    }
    kubectl.refuse("get servicecidr/more", "not found")
}

fn rollout(kubectl: &Shell) -> Outcome {
    kubectl.run(&format!(
        "set image deployment/web web=registry.k8s.io/pause:3.9 -n {NAMESPACE}"
    ))?;
    kubectl.run(&format!(
        "rollout status deployment/web -n {NAMESPACE} --timeout 60s"
    ))?;
    only_image(kubectl, "registry.k8s.io/pause:3.9")
}

fn rollback(kubectl: &Shell) -> Outcome {
    let undo = format!("rollout undo deployment/web -n {NAMESPACE} --to-revision 1");
    // The revision is the latest one after the first attempt.
    let _ignored = kubectl.run(&undo);
    kubectl.run(&format!(
        "rollout status deployment/web -n {NAMESPACE} --timeout 60s"
    ))?;
    only_image(kubectl, "registry.k8s.io/pause:3.10")
}

fn only_image(kubectl: &Shell, image: &str) -> Outcome {
    let pods = get(kubectl, "pods -l app=web")?;
    expect_count(&pods, 3)?;
    items(&pods)
        .iter()
        .try_for_each(|it| expect(it, "/spec/containers/0/image", image))
}

fn taint(kubectl: &Shell) -> Outcome {
    kubectl.run("taint node node-2 conformance=leave:NoExecute --overwrite")?;
    let moved = repeat(LIMIT, || {
        let pods = get(kubectl, "pods -l app=web")?;
        expect_count(&pods, 3)?;
        items(&pods).iter().try_for_each(|it| {
            expect(it, "/spec/nodeName", "node-1")?;
            expect(it, "/status/phase", "Running")
        })
    });
    kubectl.run("taint node node-2 conformance-")?;
    moved
}

fn cron_job(kubectl: &Shell) -> Outcome {
    repeat(CRON_LIMIT, || {
        let job = get(kubectl, "cronjob/minutely")?;
        if job["status"]["lastSuccessfulTime"].is_string() {
            return Ok(());
        }
        Err(format!("its status is {}", job["status"]).into())
    })
}

fn delete_deployment(kubectl: &Shell) -> Outcome {
    let delete = "delete deployment/web --cascade=foreground --ignore-not-found --timeout 30s";
    kubectl.run(&format!("{delete} -n {NAMESPACE}"))?;
    expect_count(&get(kubectl, "pods,replicasets -l app=web")?, 0)
}

fn delete_stateful_set(kubectl: &Shell) -> Outcome {
    let delete = "delete statefulset/store --ignore-not-found --timeout 30s";
    kubectl.run(&format!("{delete} -n {NAMESPACE}"))?;
    expect_count(&get(kubectl, "pods -l app=store")?, 0)?;
    expect_count(&get(kubectl, "persistentvolumeclaims")?, 0)?;
    let volume = kubectl.json("get persistentvolume/volume-1")?;
    expect(&volume, "/status/phase", "Released")
}

fn delete_namespace(kubectl: &Shell) -> Outcome {
    kubectl.run(&format!(
        "delete namespace {NAMESPACE} --ignore-not-found --timeout 60s"
    ))?;
    Ok(())
}
