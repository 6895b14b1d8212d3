//! Writes: labels, patches of each type, replacement, rejected requests.

use crate::interop::kubectl::Shell;
use kubist_test_support::process::Outcome;

const IMAGE: &str = "{.spec.template.spec.containers[0].image}";

/// Fails unless a JSON path of an object has this value.
fn value(shell: &Shell, object: &str, path: &str, expected: &str) -> Outcome {
    shell.print_exactly(&format!("get {object} -o jsonpath={path}"), expected)
}

pub(super) fn label(shell: &Shell) -> Outcome {
    let frontend = "deployment frontend -n guestbook";
    shell.run(&format!("label {frontend} team=web stage=test"))?;
    value(shell, frontend, "{.metadata.labels.team}", "web")?;
    shell.refuse(&format!("label {frontend} team=other"), "overwrite")?;
    shell.run(&format!("label {frontend} team=other --overwrite"))?;
    shell.run(&format!("label {frontend} stage-"))?;
    shell.print_exactly(
        "get deployments -n guestbook -l team=other,!stage -o name",
        "deployment.apps/frontend",
    )?;
    shell.run("label services --all -n guestbook audited=yes")?;
    let audited = shell.run("get services -n guestbook -l audited=yes -o name")?;
    if audited.lines().count() != 3 {
        return Err(format!("of three services labelled are {audited:?}").into());
    }
    Ok(())
}

pub(super) fn annotate(shell: &Shell) -> Outcome {
    let frontend = "deployment frontend -n guestbook";
    shell.run(&format!("annotate {frontend} example.com/note=first"))?;
    value(
        shell,
        frontend,
        r"{.metadata.annotations.example\.com/note}",
        "first",
    )?;
    shell.run(&format!(
        "annotate {frontend} example.com/note=second --overwrite"
    ))?;
    value(
        shell,
        frontend,
        r"{.metadata.annotations.example\.com/note}",
        "second",
    )?;
    shell.run(&format!("annotate {frontend} example.com/note-"))?;
    value(
        shell,
        frontend,
        r"{.metadata.annotations.example\.com/note}",
        "",
    )
}

pub(super) fn patch(shell: &Shell) -> Outcome {
    let cart = "deployment cart -n shop";
    let patch = |kind: &str, body: &str| {
        shell.run_arguments(&[
            "patch",
            "deployment",
            "cart",
            "-n",
            "shop",
            "--type",
            kind,
            "-p",
            body,
        ])
    };
    patch(
        "json",
        r#"[{"op": "test", "path": "/spec/template/spec/containers/0/name", "value": "server"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "a.example.com/a:1"}]"#,
    )?;
    value(shell, cart, IMAGE, "a.example.com/a:1")?;
    patch(
        "merge",
        r#"{"metadata": {"labels": {"app.kubernetes.io/part-of": null, "merged": "yes"}}}"#,
    )?;
    value(
        shell,
        cart,
        "{.metadata.labels}",
        r#"{"app":"cart","merged":"yes"}"#,
    )?;
    // Containers and their variables merge by name, ports by number.
    patch(
        "strategic",
        r#"{"spec": {"template": {"spec": {"containers": [
        {"name": "server", "env": [{"name": "EXTRA", "value": "1"}, {"name": "PORT", "$patch": "delete"}]},
        {"name": "side", "image": "b.example.com/b:1"}]}}}}"#,
    )?;
    value(
        shell,
        cart,
        "{.spec.template.spec.containers[*].name}",
        "side server",
    )
    .or_else(|_| {
        value(
            shell,
            cart,
            "{.spec.template.spec.containers[*].name}",
            "server side",
        )
    })?;
    let server = r#"{.spec.template.spec.containers[?(@.name=="server")].env[*].name}"#;
    let names = shell.run(&format!("get {cart} -o jsonpath={server}"))?;
    let mut names: Vec<&str> = names.split_whitespace().collect();
    names.sort_unstable();
    if names != ["EXTRA", "SESSION_ADDR"] {
        return Err(format!("the variables are {names:?}").into());
    }
    let remove = r#"[{"op":"remove","path":"/nothing"}]"#;
    match patch("json", remove) {
        Ok(printed) => Err(format!("removing what is not there succeeded: {printed}").into()),
        // The text depends on the version of kubectl and on the causes in the Status.
        Err(error) if error.to_string().contains("rejected our request") => Ok(()),
        Err(error) if error.to_string().contains("nonexistent key") => Ok(()),
        Err(error) if error.to_string().contains("Unable to remove") => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn replace(shell: &Shell) -> Outcome {
    let object = |version: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: replaced\n  namespace: default\n\
             {version}data:\n  key: {data}\n"
        )
    };
    let first = shell.file("replaced.yaml", &object("", "one"))?;
    shell.run(&format!("create -f {first}"))?;
    let version = shell.run("get configmap replaced -o jsonpath={.metadata.resourceVersion}")?;
    let second = shell.file("replaced.yaml", &object("", "two"))?;
    shell.run(&format!("replace -f {second}"))?;
    value(shell, "configmap replaced", "{.data.key}", "two")?;
    let stale = format!("  resourceVersion: \"{version}\"\n");
    let third = shell.file("replaced.yaml", &object(&stale, "three"))?;
    match shell.run(&format!("replace -f {third}")) {
        Ok(printed) => return Err(format!("a stale replace succeeded: {printed}").into()),
        Err(error) if error.to_string().contains("the object has been modified") => {}
        Err(error) => return Err(error),
    }
    let uid = shell.run("get configmap replaced -o jsonpath={.metadata.uid}")?;
    let fourth = shell.file("replaced.yaml", &object("", "four"))?;
    shell.run(&format!("replace --force -f {fourth}"))?;
    if uid == shell.run("get configmap replaced -o jsonpath={.metadata.uid}")? {
        return Err("replace --force kept the uid".into());
    }
    shell.run("delete configmap replaced").map(drop)
}

pub(super) fn edit(shell: &Shell) -> Outcome {
    shell.run("create configmap edited --from-literal=key=before")?;
    shell.file("editor.sh", "sed -i 's/key: before/key: after/' \"$1\"\n")?;
    shell.run("edit configmap edited")?;
    value(shell, "configmap edited", "{.data.key}", "after")?;
    shell.run("delete configmap edited").map(drop)
}

pub(super) fn apply_changed(shell: &Shell) -> Outcome {
    let manifest = |env: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: changing, namespace: default}}\n\
             spec:\n  replicas: 1\n  selector: {{matchLabels: {{app: changing}}}}\n  template:\n    \
             metadata: {{labels: {{app: changing}}}}\n    spec:\n      containers:\n      \
             - name: main\n        image: a.example.com/a:1\n        env:\n{env}"
        )
    };
    let two = "        - {name: A, value: \"1\"}\n        - {name: B, value: \"2\"}\n";
    let one = "        - {name: B, value: \"3\"}\n";
    let file = shell.file("changing.yaml", &manifest(two))?;
    shell.run(&format!("apply -f {file}"))?;
    // Another manager's field survives an apply that does not name it.
    shell.run("scale deployment changing --replicas=2")?;
    shell.run("annotate deployment changing example.com/other=kept")?;
    let file = shell.file("changing.yaml", &manifest(one))?;
    let says = shell.run(&format!("apply -f {file}"))?;
    if !says.contains("configured") {
        return Err(format!("apply of a change says {says:?}").into());
    }
    let env = "{.spec.template.spec.containers[0].env}";
    value(
        shell,
        "deployment changing",
        env,
        r#"[{"name":"B","value":"3"}]"#,
    )?;
    value(shell, "deployment changing", "{.spec.replicas}", "1")?;
    value(
        shell,
        "deployment changing",
        r"{.metadata.annotations.example\.com/other}",
        "kept",
    )?;
    shell.run(&format!("delete -f {file}")).map(drop)
}

pub(super) fn patch_subresource(shell: &Shell) -> Outcome {
    let patch = |subresource: &str, body: &str| {
        shell.run_arguments(&[
            "patch",
            "deployment",
            "mail",
            "-n",
            "shop",
            "--subresource",
            subresource,
            "--type",
            "merge",
            "-p",
            body,
        ])
    };
    patch("scale", r#"{"spec": {"replicas": 2}}"#)?;
    value(shell, "deployment mail -n shop", "{.spec.replicas}", "2")?;
    // The status subresource changes the status only.
    let spec_and_status = r#"{"spec": {"replicas": 9}, "status": {"collisionCount": 3}}"#;
    patch("status", spec_and_status)?;
    value(shell, "deployment mail -n shop", "{.spec.replicas}", "2")?;
    shell.print(
        "get deployment mail -n shop --subresource scale -o jsonpath={.kind}",
        &["Scale"],
    )
}

pub(super) fn refusals(shell: &Shell) -> Outcome {
    shell.refuse("get configmap nothing", "configmaps \"nothing\" not found")?;
    shell.refuse(
        "get nonsense",
        "the server doesn't have a resource type \"nonsense\"",
    )?;
    shell.run("create configmap twice")?;
    shell.refuse(
        "create configmap twice",
        "configmaps \"twice\" already exists",
    )?;
    shell.refuse(
        "create configmap Bad_Name",
        "a lowercase RFC 1123 subdomain",
    )?;
    shell.refuse(
        "create configmap a -n nowhere",
        "namespaces \"nowhere\" not found",
    )?;
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: strict, namespace: default}\n";
    let unknown = shell.file("unknown.yaml", &format!("{head}dada: {{a: b}}\n"))?;
    shell.refuse(&format!("apply -f {unknown}"), "unknown field \"dada\"")?;
    shell.print(
        &format!("create -f {unknown} --validate=ignore"),
        &["created"],
    )?;
    let selector = r#"{"spec":{"selector":{"matchLabels":{"app":"other"}}}}"#;
    shell.refuse(
        &format!("patch deployment frontend -n guestbook --type merge -p {selector}"),
        "field is immutable",
    )?;
    let empty = "apiVersion: v1\nkind: Pod\nmetadata: {name: empty, namespace: default}\n\
                 spec: {containers: []}\n";
    let empty = shell.file("empty.yaml", empty)?;
    shell.refuse(
        &format!("create -f {empty}"),
        "spec.containers: Required value",
    )?;
    shell.run("delete configmap twice strict").map(drop)
}
