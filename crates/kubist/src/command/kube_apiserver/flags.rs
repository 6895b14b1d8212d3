//! Flags of a kube-apiserver v1.36 that this server does not obey.

use super::super::foreign_flags::Foreign;

/// A kube-apiserver.
#[derive(Debug)]
pub(super) enum OfKubeApiserver {}

impl Foreign for OfKubeApiserver {
    const IGNORED: &'static [(&'static str, &'static str)] = &[
        ("allow-metric-labels", METRICS),
        ("allow-metric-labels-manifest", METRICS),
        ("contention-profiling", PROFILES),
        ("coordinated-leadership-lease-duration", LEADERSHIP),
        ("coordinated-leadership-renew-deadline", LEADERSHIP),
        ("coordinated-leadership-retry-period", LEADERSHIP),
        ("debug-socket-path", PROFILES),
        (
            "delete-collection-workers",
            "a collection is deleted by one worker",
        ),
        ("disabled-metrics", METRICS),
        ("emulation-forward-compatible", GATES),
        ("enable-aggregator-routing", AGGREGATION),
        (
            "enable-garbage-collector",
            "the garbage collector is a controller of its own",
        ),
        ("enable-logs-handler", "there is no /logs"),
        (
            "endpoint-reconciler-type",
            "there is one way to reconcile endpoints",
        ),
        ("etcd-count-metric-poll-period", ETCD),
        ("etcd-db-metric-poll-interval", ETCD),
        ("etcd-healthcheck-timeout", ETCD),
        ("etcd-readycheck-timeout", ETCD),
        ("event-ttl", "events live for an hour"),
        ("external-hostname", "no generated URL has a host name"),
        (
            "http2-max-streams-per-connection",
            "streams are limited by what they hold",
        ),
        ("lease-reuse-duration-seconds", ETCD),
        ("livez-grace-period", "the server is live once it answers"),
        ("log-flush-frequency", LOG),
        ("log-json-info-buffer-size", LOG),
        ("log-json-split-stream", LOG),
        ("log-text-info-buffer-size", LOG),
        ("log-text-split-stream", LOG),
        ("logtostderr", LOG),
        ("min-compatibility-version", GATES),
        (
            "min-request-timeout",
            "a watch without a timeout ends after 30 to 60 minutes",
        ),
        ("peer-advertise-ip", PEERS),
        ("peer-advertise-port", PEERS),
        ("peer-ca-file", PEERS),
        ("permit-address-sharing", "the address is not shared"),
        ("permit-port-sharing", "the port is not shared"),
        ("profiling", PROFILES),
        ("request-timeout", "requests have a minute"),
        ("storage-backend", STORAGE),
        ("tls-min-version", TLS),
        ("runtime-config-emulation-forward-compatible", GATES),
        (
            "service-account-extend-token-expiration",
            "tokens live as long as they were asked for",
        ),
        ("show-hidden-metrics-for-version", METRICS),
        (
            "shutdown-send-retry-after",
            "requests in progress end by themselves",
        ),
        ("storage-initialization-timeout", ETCD),
        (
            "storage-media-type",
            "objects are stored as protobuf, custom ones as JSON",
        ),
        (
            "strict-transport-security-directives",
            "no browser is served",
        ),
        ("target-ram-mb", "caches adapt their size"),
        ("v", LOG),
        ("vmodule", LOG),
    ];
    const REFUSED: &'static [(&'static str, &'static str)] = &[
        ("admission-control", "use --enable-admission-plugins"),
        ("authorization-policy-file", "there is no ABAC"),
        ("cors-allowed-origins", "browsers are not served"),
        ("default-not-ready-toleration-seconds", "it is 300"),
        ("default-unreachable-toleration-seconds", "it is 300"),
        ("disable-http2-serving", "HTTP/2 is always served"),
        (
            "egress-selector-config-file",
            "connections are made directly",
        ),
        ("emulated-version", "there is one version"),
        (
            "kubernetes-service-node-port",
            "the service kubernetes has a cluster IP",
        ),
        (
            "max-connection-bytes-per-sec",
            "connections are not slowed down",
        ),
        (
            "service-account-max-token-expiration",
            "there is no limit but upstream's",
        ),
        (
            "service-account-signing-endpoint",
            "tokens are signed with a key",
        ),
        ("tls-cipher-suites", "they are those of rustls"),
        ("tls-curve-preferences", "they are those of rustls"),
        ("tls-sni-cert-key", "there is one certificate"),
        ("tracing-config-file", "traces are not exported"),
    ];

    fn refusal(flag: &str, value: &str) -> Option<&'static str> {
        match flag {
            "storage-backend" if value != "etcd3" => Some(STORAGE),
            "v" if value.parse::<i32>().is_err() => Some("it is a number"),
            "tls-min-version" if value != "VersionTLS12" => Some(TLS),
            _ => None,
        }
    }
}

const STORAGE: &str = "it is etcd3 with --etcd-servers, and memory without";
const TLS: &str = "it is VersionTLS12";
const AGGREGATION: &str = "API services are reached at the endpoints of their Services";
const ETCD: &str = "the client of etcd has times of its own";
const GATES: &str = "features are those of v1.36 with its defaults";
const LEADERSHIP: &str = "leadership is not coordinated";
const LOG: &str = "the log has options of its own: see --log-level";
const METRICS: &str = "metrics have no options";
const PEERS: &str = "requests are not passed to peers";
const PROFILES: &str = "there are no Go profiles";

/// Command lines of the programs that start a kube-apiserver.
#[cfg(test)]
pub(super) const USED: [&[&str]; 4] = [
    // envtest
    &[
        "--allow-privileged=true",
        "--authorization-mode=RBAC",
        "--bind-address=127.0.0.1",
        "--cert-dir=/tmp/k8s_test_framework_1",
        "--client-ca-file=/tmp/k8s_test_framework_1/client-cert-auth-ca.crt",
        "--disable-admission-plugins=ServiceAccount",
        "--etcd-servers=http://127.0.0.1:40000",
        "--secure-port=40001",
        "--service-account-issuer=https://127.0.0.1:40001/",
        "--service-account-key-file=/tmp/k8s_test_framework_1/sa-signer.crt",
        "--service-account-signing-key-file=/tmp/k8s_test_framework_1/sa-signer.key",
        "--service-cluster-ip-range=10.0.0.0/24",
    ],
    // kubeadm
    &[
        "--advertise-address=192.168.0.2",
        "--allow-privileged=true",
        "--authorization-mode=Node,RBAC",
        "--client-ca-file=/etc/kubernetes/pki/ca.crt",
        "--enable-admission-plugins=NodeRestriction",
        "--enable-bootstrap-token-auth=true",
        "--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt",
        "--etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt",
        "--etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key",
        "--etcd-servers=https://127.0.0.1:2379",
        "--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt",
        "--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
        "--proxy-client-cert-file=/etc/kubernetes/pki/front-proxy-client.crt",
        "--proxy-client-key-file=/etc/kubernetes/pki/front-proxy-client.key",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        "--secure-port=6443",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        "--service-account-key-file=/etc/kubernetes/pki/sa.pub",
        "--service-account-signing-key-file=/etc/kubernetes/pki/sa.key",
        "--service-cluster-ip-range=10.96.0.0/12",
        "--tls-cert-file=/etc/kubernetes/pki/apiserver.crt",
        "--tls-private-key-file=/etc/kubernetes/pki/apiserver.key",
    ],
    // kind adds to kubeadm's
    &[
        "--runtime-config=",
        "--v=2",
        "--feature-gates=KubeletInUserNamespace=true",
    ],
    // kwokctl
    &[
        "--etcd-prefix=/registry",
        "--allow-privileged=true",
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--enable-priority-and-fairness=false",
        "--etcd-servers=http://127.0.0.1:32765",
        "--authorization-mode=Node,RBAC",
        "--bind-address=0.0.0.0",
        "--secure-port=32764",
        "--cert-dir=/home/a/.kwok/clusters/kwok/cert",
        "--profiling=false",
        "--watch-cache=true",
        "--event-ttl=1h",
    ],
];
