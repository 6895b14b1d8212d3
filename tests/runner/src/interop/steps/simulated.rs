//! The simulation: sets of Pods, Jobs to their ends, and what kubelets answer.

use crate::interop::kubectl::Shell;
use kubist_test_support::process::Outcome;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

const SETS: &str = "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: numbered}
spec:
  replicas: 2
  serviceName: numbered
  selector: {matchLabels: {app: numbered}}
  template:
    metadata: {labels: {app: numbered}}
    spec: {containers: [{name: main, image: 'a.example.com/a:1'}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: everywhere}
spec:
  selector: {matchLabels: {app: everywhere}}
  template:
    metadata: {labels: {app: everywhere}}
    spec: {containers: [{name: main, image: 'a.example.com/a:1'}]}
";

const JOBS: &str = "\
apiVersion: batch/v1
kind: Job
metadata: {name: good}
spec:
  completions: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: 'a.example.com/a:1', command: [count]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {kubist.dev/exit-code: '3'}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: 'a.example.com/a:1'}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: often}
spec:
  schedule: '@every 1s'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers: [{name: main, image: 'a.example.com/a:1'}]
";

pub(super) fn sets(shell: &Shell) -> Outcome {
    let file = shell.file("sets.yaml", SETS)?;
    shell.run(&format!("apply -f {file}"))?;
    for set in ["statefulset/numbered", "daemonset/everywhere"] {
        shell.run(&format!("rollout status {set} --timeout=60s"))?;
        shell.run(&format!("set image {set} main=a.example.com/a:2"))?;
        shell.run(&format!("rollout status {set} --timeout=60s"))?;
        shell.print(&format!("rollout history {set}"), &["1 ", "2 "])?;
        shell.run(&format!("rollout undo {set}"))?;
        shell.run(&format!("rollout status {set} --timeout=60s"))?;
        let image = "-o jsonpath={.spec.template.spec.containers[0].image}";
        shell.print_exactly(&format!("get {set} {image}"), "a.example.com/a:1")?;
    }
    shell.print("get pod numbered-1", &["1/1", "Running"])?;
    shell.print("get pvc data-numbered-1", &["Bound"])?;
    shell.print("get daemonset everywhere", &["3 "])?;
    shell.run("delete statefulset/numbered daemonset/everywhere --timeout=60s")?;
    shell
        .run("delete pvc data-numbered-0 data-numbered-1 --timeout=60s")
        .map(drop)
}

pub(super) fn jobs(shell: &Shell) -> Outcome {
    let file = shell.file("jobs.yaml", JOBS)?;
    shell.run(&format!("apply -f {file}"))?;
    shell.run("wait job/good --for=condition=Complete --timeout=60s")?;
    shell.run("wait job/bad --for=condition=Failed --timeout=60s")?;
    shell.print("get job good", &["3/3"])?;
    shell.print("describe job bad", &["BackoffLimitExceeded"])?;
    shell.print("logs job/bad", &["image: a.example.com/a:1", "exit code 3"])?;
    shell.print(
        "logs -l job-name=good --prefix",
        &["command: count", "exit code 0"],
    )?;
    shell.run("wait cronjob/often --for=jsonpath={.status.lastSuccessfulTime} --timeout=60s")?;
    shell
        .run("delete cronjob/often job/good job/bad --timeout=60s")
        .map(drop)
}

pub(super) fn streams(shell: &Shell) -> Outcome {
    shell.run("run talks --image=a.example.com/a:1")?;
    shell.run("wait pod/talks --for=condition=Ready --timeout=60s")?;
    shell.print(
        "logs talks",
        &["kubist: simulated container \"talks\" of pod default/talks"],
    )?;
    shell.print_exactly("exec talks -- echo a b", "a b")?;
    let copied = shell.run_with_input("exec -i talks -- cat", b"in and out")?;
    if copied != "in and out" {
        return Err(format!("cat answers {copied:?}").into());
    }
    shell.refuse("exec talks -- false", "exit code 1")?;
    let mut forward = shell.follow("port-forward pod/talks :80")?;
    forward.until(&["Forwarding", "->", "80"])?;
    let address = forward.last().split_whitespace().nth(2).unwrap_or_default();
    let port = address.rsplit(':').next().unwrap_or_default().parse()?;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(15)))?;
    stream.write_all(b"hello")?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    if answer != *b"hello" {
        return Err(format!("the port answers {answer:?}").into());
    }
    drop(forward);
    shell.run("delete pod talks --now --timeout=60s").map(drop)
}
