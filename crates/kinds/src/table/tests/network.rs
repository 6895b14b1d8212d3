//! Rows of nodes, services and other network objects.

use super::{check, row};
use serde_json::{Value, json};

#[test]
fn rows_of_services_show_their_addresses_and_ports() {
    let ports = json!([{"port": 80, "protocol": "TCP"},
        {"port": 53, "protocol": "UDP", "nodePort": 30053}]);
    check(
        ("", "v1", "services"),
        json!({"spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"],
            "externalIPs": ["1.1.1.1", "2.2.2.2"], "ports": ports, "selector": {"k": "v"}}}),
        json!([
            "x",
            "NodePort",
            "10.0.0.1",
            "1.1.1.1,2.2.2.2",
            "80/TCP,53:30053/UDP",
            "5m",
            "k=v"
        ]),
    );
    let balanced = |points: Value| {
        let service = json!({"metadata": {}, "spec": {"type": "LoadBalancer"},
            "status": {"loadBalancer": {"ingress": points}}});
        row("", "v1", "services", service)[3].clone()
    };
    assert_eq!(balanced(json!([])), "<pending>");
    assert_eq!(
        balanced(json!([{"hostname": "h.example.com"}, {"ip": "9.9.9.9"}])),
        "9.9.9.9,h.example.com"
    );
    check(
        ("", "v1", "services"),
        json!({"spec": {"type": "ExternalName", "externalName": "e.example.com"}}),
        json!([
            "x",
            "ExternalName",
            "<none>",
            "e.example.com",
            "<none>",
            "5m",
            "<none>"
        ]),
    );
}

#[test]
fn endpoints_show_the_first_few() {
    let addresses = json!([{"ip": "1.1.1.1"}, {"ip": "2::2"}]);
    let ports = json!([{"port": 80}, {"port": 81}]);
    check(
        ("", "v1", "endpoints"),
        json!({"subsets": [{"addresses": addresses, "ports": ports}]}),
        json!(["x", "1.1.1.1:80,[2::2]:80,1.1.1.1:81 + 1 more...", "5m"]),
    );
    check(
        ("", "v1", "endpoints"),
        json!({}),
        json!(["x", "<none>", "5m"]),
    );
    check(
        ("discovery.k8s.io", "v1", "endpointslices"),
        json!({"addressType": "IPv4", "ports": [{"port": 80}, {"name": "web"}, {}],
            "endpoints": [{"addresses": ["1.1.1.1"]}]}),
        json!(["x", "IPv4", "80,web,*", "1.1.1.1", "5m"]),
    );
    check(
        ("discovery.k8s.io", "v1", "endpointslices"),
        json!({"addressType": "IPv6"}),
        json!(["x", "IPv6", "<unset>", "<unset>", "5m"]),
    );
}

#[test]
fn rows_of_network_kinds() {
    let hosts = ["a", "b", "c", "d", "e"].map(|host| json!({"host": host}));
    check(
        ("networking.k8s.io", "v1", "ingresses"),
        json!({"spec": {"ingressClassName": "i", "rules": hosts, "tls": [{}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}]}}}),
        json!(["x", "i", "a,b,c + 2 more...", "1.1.1.1", "80, 443", "5m"]),
    );
    check(
        ("networking.k8s.io", "v1", "ingresses"),
        json!({}),
        json!(["x", "<none>", "*", "", "80", "5m"]),
    );
    let parameters = json!({"apiGroup": "g.example.com", "kind": "Parameters", "name": "p"});
    check(
        ("networking.k8s.io", "v1", "ingressclasses"),
        json!({"spec": {"controller": "c.example.com/x", "parameters": parameters}}),
        json!(["x", "c.example.com/x", "Parameters.g.example.com/p", "5m"]),
    );
    check(
        ("networking.k8s.io", "v1", "networkpolicies"),
        json!({"spec": {"podSelector": {"matchLabels": {"k": "v"}}}}),
        json!(["x", "k=v", "5m"]),
    );
    let parent = json!({"group": "g", "resource": "r", "namespace": "n", "name": "m"});
    check(
        ("networking.k8s.io", "v1", "ipaddresses"),
        json!({"spec": {"parentRef": parent}}),
        json!(["x", "g.r/n/m"]),
    );
    check(
        ("networking.k8s.io", "v1", "servicecidrs"),
        json!({"spec": {"cidrs": ["10.0.0.0/16", "fd00::/112"]}}),
        json!(["x", "10.0.0.0/16,fd00::/112", "5m"]),
    );
}

#[test]
fn nodes_show_their_state_and_roles() {
    let labels = json!({"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "control",
        "node-role.kubernetes.io/": ""});
    let info = json!({"kubeletVersion": "v1.36.0", "osImage": "Linux"});
    check(
        ("", "v1", "nodes"),
        json!({"metadata": {"labels": labels}, "spec": {"unschedulable": true},
            "status": {"nodeInfo": info, "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "1.1.1.1"}]}}),
        json!([
            "x",
            "Ready,SchedulingDisabled",
            "control,worker",
            "5m",
            "v1.36.0",
            "1.1.1.1",
            "<none>",
            "Linux",
            "<unknown>",
            "<unknown>"
        ]),
    );
}
