//! Workloads with the sample controllers: rollouts, scale, images, deletion.

use crate::interop::kubectl::Shell;
use kubist_test_support::process::Outcome;

pub(super) fn rollout(shell: &Shell) -> Outcome {
    for (namespace, name) in [
        ("guestbook", "frontend"),
        ("guestbook", "store-leader"),
        ("guestbook", "store-reader"),
        ("shop", "cart"),
        ("shop", "frontend"),
        ("platform", "dashboard"),
    ] {
        let status = format!("rollout status deployment/{name} -n {namespace} --timeout=60s");
        shell.print(&status, &["successfully rolled out"])?;
    }
    shell.run("wait deployment --all -n shop --for=condition=Available --timeout=60s")?;
    shell.run("wait pod --all -n guestbook --for=condition=Ready --timeout=60s")?;
    let pods = shell.run("get pods -n guestbook -l tier=frontend -o name")?;
    if pods.lines().count() != 3 {
        return Err(format!("three frontends are {pods:?}").into());
    }
    shell.print("get pods -n guestbook", &["1/1", "Running"])?;
    shell.refuse(
        "rollout status deployment/nothing -n guestbook --timeout=5s",
        "(NotFound)",
    )?;
    shell.refuse(
        "wait deployment/frontend -n guestbook --for=condition=Nonsense --timeout=1s",
        "timed out waiting for the condition",
    )
}

pub(super) fn scale(shell: &Shell) -> Outcome {
    let frontend = "deployment/frontend -n guestbook";
    shell.run(&format!("scale {frontend} --replicas=5"))?;
    shell.print(
        &format!("rollout status {frontend} --timeout=60s"),
        &["successfully"],
    )?;
    shell.print(&format!("get {frontend}"), &["5/5"])?;
    shell.refuse(
        &format!("scale {frontend} --current-replicas=3 --replicas=4"),
        "Expected replicas to be 3, was 5",
    )?;
    shell.run(&format!(
        "scale {frontend} --current-replicas=5 --replicas=2"
    ))?;
    shell.run(&format!(
        "wait {frontend} --for=jsonpath={{.status.replicas}}=2 --timeout=60s"
    ))?;
    shell.print_exactly(
        &format!("get {frontend} -o jsonpath={{.spec.replicas}}"),
        "2",
    )?;
    shell.run("scale statefulset/session -n shop --replicas=3")?;
    shell.run("rollout status statefulset/session -n shop --timeout=60s")?;
    shell.print_exactly(
        "get statefulset session -n shop -o jsonpath={.spec.replicas}",
        "3",
    )
}

pub(super) fn new_image(shell: &Shell) -> Outcome {
    let frontend = "deployment/frontend -n guestbook";
    let image = "registry.example.com/guestbook/frontend:1.5.0";
    let before = shell.run(&format!(
        "get {frontend} -o jsonpath={{.spec.template.spec.containers[0].env[*].name}}"
    ))?;
    shell.run(&format!("set image {frontend} web={image}"))?;
    shell.print(
        &format!("rollout status {frontend} --timeout=60s"),
        &["successfully"],
    )?;
    let pods =
        "get pods -n guestbook -l tier=frontend -o jsonpath={.items[*].spec.containers[0].image}";
    let images = shell.run(pods)?;
    if images != [image, image].join(" ") {
        return Err(format!("after the roll-out the images are {images:?}").into());
    }
    shell.run(&format!("set env {frontend} MODE=fast"))?;
    shell.run(&format!("rollout restart {frontend}"))?;
    shell.print(
        &format!("rollout status {frontend} --timeout=60s"),
        &["successfully"],
    )?;
    // The image, the variable and the restart each created one.
    let history = shell.run(&format!("rollout history {frontend}"))?;
    let revisions = history
        .lines()
        .filter_map(|line| line.split_whitespace().next()?.parse::<u32>().ok());
    if revisions.collect::<Vec<_>>() != [1, 2, 3, 4] {
        return Err(format!("the revisions are not 1 to 4: {history}").into());
    }
    shell.print(
        &format!("rollout history {frontend} --revision=4"),
        &[image, "MODE:", "fast", "restartedAt"],
    )?;
    shell.run(&format!("rollout undo {frontend} --to-revision=1"))?;
    shell.print(
        &format!("rollout status {frontend} --timeout=60s"),
        &["successfully"],
    )?;
    shell.print_exactly(
        &format!("get {frontend} -o jsonpath={{.spec.template.spec.containers[0].env[*].name}}"),
        before.trim(),
    )
}

pub(super) fn delete(shell: &Shell) -> Outcome {
    let pod = shell
        .run("get pods -n guestbook -l tier=frontend -o jsonpath={.items[0].metadata.name}")?;
    shell.run(&format!("delete pod {pod} -n guestbook --timeout=60s"))?;
    shell.refuse(&format!("get pod {pod} -n guestbook"), "(NotFound)")?;
    let status = "rollout status deployment/frontend -n guestbook --timeout=60s";
    shell.print(status, &["successfully"])?;
    shell.run("delete deployment store-reader -n guestbook")?;
    shell.run("wait pod -n guestbook -l role=reader --for=delete --timeout=60s")?;
    shell.print_exactly(
        "get pods,replicasets -n guestbook -l role=reader -o name",
        "",
    )?;
    shell.run("delete services -n guestbook -l role=reader")?;
    shell.refuse("delete service store-reader -n guestbook", "(NotFound)")?;
    shell.run("delete service store-reader -n guestbook --ignore-not-found")?;
    shell.run("create configmap one")?;
    shell.run("create configmap two")?;
    shell.run("delete configmap one two --wait=false")?;
    shell.refuse("get configmap one two", "(NotFound)")
}

pub(super) fn orphan(shell: &Shell) -> Outcome {
    shell.run("create deployment orphaning --image=a.example.com/a:1 --replicas=2")?;
    shell.run("rollout status deployment/orphaning --timeout=60s")?;
    shell.run("delete deployment orphaning --cascade=orphan --timeout=60s")?;
    let left = shell.run("get replicasets -l app=orphaning -o name")?;
    if left.lines().count() != 1 {
        return Err(format!("the replica sets left behind are {left:?}").into());
    }
    shell.run("delete replicasets -l app=orphaning --cascade=foreground --timeout=60s")?;
    shell.print_exactly("get pods -l app=orphaning -o name", "")
}

pub(super) fn run(shell: &Shell) -> Outcome {
    shell.run("run single --image=a.example.com/a:1 --labels=app=single --env=A=1 --port=80")?;
    shell.run("wait pod/single --for=condition=Ready --timeout=60s")?;
    shell.print("describe pod single", &["a.example.com/a:1", "Running"])?;
    shell.run("delete pod single --now --timeout=60s").map(drop)
}

pub(super) fn delete_namespace(shell: &Shell) -> Outcome {
    shell.run("delete namespace guestbook --timeout=90s")?;
    shell.refuse("get namespace guestbook", "(NotFound)")?;
    shell.print_exactly(
        "get deployments,services,pods,replicasets -n guestbook -o name",
        "",
    )?;
    shell.refuse("delete namespace default", "(Forbidden)")
}
