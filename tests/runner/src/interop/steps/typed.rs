//! Commands that create objects from typed values; their bodies are protobuf from 1.32 on.

use crate::interop::kubectl::Shell;
use kubist_test_support::process::Outcome;

pub(super) fn namespaces(shell: &Shell) -> Outcome {
    for name in ["guestbook", "shop", "platform"] {
        shell.print_exactly(
            &format!("create namespace {name}"),
            &format!("namespace/{name} created"),
        )?;
    }
    shell.print_exactly("get namespace shop -o jsonpath={.status.phase}", "Active")
}

pub(super) fn create(shell: &Shell) -> Outcome {
    shell.run("create configmap typed --from-literal=a=1 --from-literal=b=two")?;
    shell.print_exactly(
        "get configmap typed -o jsonpath={.data}",
        r#"{"a":"1","b":"two"}"#,
    )?;
    shell.run("create secret generic typed --from-literal=password=hunter2")?;
    shell.print_exactly(
        "get secret typed -o jsonpath={.data.password}",
        "aHVudGVyMg==",
    )?;
    shell.run("create deployment typed --image=a.example.com/a:1 --replicas=2 --port=8080")?;
    shell.print(
        "rollout status deployment/typed --timeout=60s",
        &["successfully rolled out"],
    )?;
    shell.run("expose deployment typed --port=80 --target-port=8080")?;
    shell.print_exactly(
        "get service typed -o jsonpath={.spec.selector}",
        r#"{"app":"typed"}"#,
    )?;
    shell
        .run("delete deployment,service,configmap,secret typed --timeout=60s")
        .map(drop)
}

pub(super) fn can_i(shell: &Shell) -> Outcome {
    shell.print_exactly("auth can-i create deployments -n shop", "yes")?;
    shell.print_exactly("auth can-i * * --all-namespaces", "yes")
}

pub(super) fn create_more(shell: &Shell) -> Outcome {
    let commands = [
        "create serviceaccount made",
        "create role made --verb=get,list --resource=pods",
        "create rolebinding made --role=made --serviceaccount=default:made",
        "create clusterrole made --verb=get --resource=nodes",
        "create clusterrolebinding made --clusterrole=made --user=somebody",
        "create quota made --hard=pods=5,services=2",
        "create job made --image=a.example.com/a:1 -- /bin/true",
        "create cronjob made --image=a.example.com/a:1 --schedule=@daily -- /bin/true",
        "create service clusterip made --tcp=80:8080",
        "create ingress made --rule=a.example.com/*=made:80",
        "create poddisruptionbudget made --selector=app=made --min-available=1",
        "create priorityclass made --value=10",
    ];
    for command in commands {
        shell.print(command, &["made created"])?;
    }
    shell.print("auth whoami", &["Username", "system:masters"])?;
    shell.run(
        "delete serviceaccount,role,rolebinding,clusterrole,clusterrolebinding,quota,job,cronjob,\
         service,ingress,pdb,priorityclass made --timeout=60s",
    )
    .map(drop)
}

pub(super) fn events(shell: &Shell) -> Outcome {
    let event = "apiVersion: v1\nkind: Event\nmetadata: {name: noted.1, namespace: default}\n\
        involvedObject: {apiVersion: v1, kind: ConfigMap, name: noted, namespace: default}\n\
        reason: Noted\nmessage: somebody noted it\ntype: Normal\ncount: 1\n\
        firstTimestamp: \"2026-01-02T03:04:05Z\"\nlastTimestamp: \"2026-01-02T03:04:05Z\"\n\
        source: {component: interop}\nreportingComponent: interop\nreportingInstance: one\n";
    let file = shell.file("event.yaml", event)?;
    shell.run(&format!("create -f {file}"))?;
    shell.print(
        "events --for=configmap/noted",
        &["Noted", "somebody noted it"],
    )?;
    let by_field = "get events --field-selector involvedObject.name=noted,reason=Noted -o name";
    shell.print_exactly(by_field, "event/noted.1")?;
    shell.run("delete event noted.1").map(drop)
}
