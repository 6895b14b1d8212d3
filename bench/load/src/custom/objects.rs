//! Realistic custom resources of three projects: an `HTTPRoute` of gateway-api, a `Certificate` of
//! cert-manager and a `Prometheus` of prometheus-operator.

use serde_json::{Value, json};

/// A kind, and how an object of it is made.
pub struct Kind {
    pub name: &'static str,
    /// The name of its definition.
    pub definition: &'static str,
    pub group_version: &'static str,
    pub plural: &'static str,
    /// Returns the spec; another number makes it differ in one field.
    spec: fn(usize) -> Value,
}

pub const KINDS: [Kind; 3] = [
    Kind {
        name: "HTTPRoute",
        definition: "httproutes.gateway.networking.k8s.io",
        group_version: "gateway.networking.k8s.io/v1",
        plural: "httproutes",
        spec: http_route,
    },
    Kind {
        name: "Certificate",
        definition: "certificates.cert-manager.io",
        group_version: "cert-manager.io/v1",
        plural: "certificates",
        spec: certificate,
    },
    Kind {
        name: "Prometheus",
        definition: "prometheuses.monitoring.coreos.com",
        group_version: "monitoring.coreos.com/v1",
        plural: "prometheuses",
        spec: prometheus,
    },
];

impl Kind {
    /// Returns the path of its objects in a namespace.
    pub fn collection(&self, namespace: &str) -> String {
        let (group_version, plural) = (self.group_version, self.plural);
        format!("/apis/{group_version}/namespaces/{namespace}/{plural}")
    }

    pub fn object(&self, namespace: &str, name: &str, number: usize) -> Value {
        json!({
            "apiVersion": self.group_version,
            "kind": self.name,
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {
                    "app.kubernetes.io/name": "checkout",
                    "app.kubernetes.io/part-of": "shop",
                    "app.kubernetes.io/managed-by": "load",
                },
                "annotations": {"example.com/contact": "#payments"},
            },
            "spec": (self.spec)(number),
        })
    }
}

fn http_route(number: usize) -> Value {
    let backend = |name: &str, weight: usize| json!({"name": name, "port": 8080, "weight": weight});
    let path = |value: &str| json!({"type": "PathPrefix", "value": value});
    json!({
        "parentRefs": [
            {"name": "public", "namespace": "gateways", "sectionName": "https"},
            {"name": "internal", "namespace": "gateways", "sectionName": "https"},
        ],
        "hostnames": ["checkout.example.com", "shop.example.com"],
        "rules": [
            {
                "name": "canary",
                "matches": [{
                    "path": path("/checkout"),
                    "headers": [{"type": "Exact", "name": "x-canary", "value": "always"}],
                    "queryParams": [{"type": "Exact", "name": "variant", "value": "b"}],
                }],
                "filters": [{
                    "type": "RequestHeaderModifier",
                    "requestHeaderModifier": {
                        "set": [{"name": "x-variant", "value": "b"}],
                        "add": [{"name": "x-route", "value": "checkout"}],
                        "remove": ["x-debug"],
                    },
                }],
                "backendRefs": [backend("checkout-canary", 1)],
                "timeouts": {"request": "10s", "backendRequest": "4s"},
            },
            {
                "name": "checkout",
                "matches": [
                    {"path": path("/checkout"), "method": "GET"},
                    {"path": path("/checkout"), "method": "POST"},
                    {"path": path("/cart")},
                ],
                "backendRefs": [
                    backend("checkout", 1 + number % 1_000),
                    backend("checkout-canary", 5),
                ],
            },
            {
                "name": "old",
                "matches": [{"path": path("/basket")}],
                "filters": [{
                    "type": "RequestRedirect",
                    "requestRedirect": {
                        "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/cart"},
                        "statusCode": 301,
                    },
                }],
            },
        ],
    })
}

fn certificate(number: usize) -> Value {
    json!({
        "secretName": "checkout-tls",
        "secretTemplate": {
            "labels": {"app.kubernetes.io/name": "checkout"},
            "annotations": {"example.com/contact": "#payments"},
        },
        "commonName": "checkout.example.com",
        "subject": {
            "organizations": ["Example"],
            "organizationalUnits": ["Payments"],
            "countries": ["DE"],
        },
        "dnsNames": ["checkout.example.com", "shop.example.com", "cart.example.com"],
        "ipAddresses": ["192.0.2.10"],
        "duration": "2160h",
        "renewBefore": "360h",
        "isCA": false,
        "usages": ["digital signature", "key encipherment", "server auth"],
        "privateKey": {
            "algorithm": "ECDSA",
            "size": 256,
            "encoding": "PKCS8",
            "rotationPolicy": "Always",
        },
        "revisionHistoryLimit": 1 + number,
        "keystores": {"pkcs12": {
            "create": true,
            "profile": "Modern2023",
            "passwordSecretRef": {"name": "checkout-keystore", "key": "password"},
        }},
        "issuerRef": {"name": "letsencrypt", "kind": "ClusterIssuer", "group": "cert-manager.io"},
    })
}

fn prometheus(number: usize) -> Value {
    let labels = json!({"matchLabels": {"prometheus": "main"}});
    let everywhere = json!({});
    json!({
        "image": "quay.io/prometheus/prometheus:v3.5.0",
        "version": "v3.5.0",
        "replicas": 2,
        "shards": 1,
        "retention": "15d",
        "retentionSize": "180GB",
        "scrapeInterval": "30s",
        "evaluationInterval": "30s",
        "enforcedSampleLimit": 1 + number,
        "walCompression": true,
        "externalLabels": {"cluster": "production", "region": "eu-1"},
        "externalUrl": "https://prometheus.example.com",
        "logLevel": "info",
        "serviceAccountName": "prometheus",
        "podMetadata": {"labels": {"app.kubernetes.io/name": "prometheus"}},
        "serviceMonitorSelector": labels,
        "serviceMonitorNamespaceSelector": everywhere,
        "podMonitorSelector": labels,
        "podMonitorNamespaceSelector": everywhere,
        "ruleSelector": labels,
        "ruleNamespaceSelector": everywhere,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "monitoring", "operator": "Exists", "effect": "NoSchedule"}],
        "securityContext": {
            "fsGroup": 2000,
            "runAsNonRoot": true,
            "runAsUser": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "affinity": {"podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{
                "weight": 100,
                "podAffinityTerm": {
                    "labelSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}},
                    "topologyKey": "kubernetes.io/hostname",
                },
            }],
        }},
        "resources": {
            "requests": {"cpu": "2", "memory": "8Gi"},
            "limits": {"memory": "16Gi"},
        },
        "storage": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "200Gi"}},
        }}},
        "alerting": {"alertmanagers": [{
            "namespace": "monitoring",
            "name": "alertmanager-main",
            "port": "web",
            "apiVersion": "v2",
        }]},
        "remoteWrite": [{
            "url": "https://metrics.example.com/api/v1/write",
            "remoteTimeout": "30s",
            "basicAuth": {
                "username": {"name": "remote-write", "key": "username"},
                "password": {"name": "remote-write", "key": "password"},
            },
            "queueConfig": {"capacity": 10_000, "maxShards": 20, "maxSamplesPerSend": 2_000},
            "writeRelabelConfigs": [{
                "sourceLabels": ["__name__"],
                "regex": "go_.*",
                "action": "drop",
            }],
        }],
        "containers": [container("config-reloader", 8080), container("proxy", 9091)],
        "volumes": [{"name": "proxy", "secret": {"secretName": "proxy-tls", "defaultMode": 420}}],
    })
}

fn container(name: &str, port: u16) -> Value {
    json!({
        "name": name,
        "image": format!("registry.example.com/monitoring/{name}:v1.4.2"),
        "args": ["--log-level=info", "--log-format=json"],
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "REGION", "value": "eu-1"},
        ],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 10},
    })
}
