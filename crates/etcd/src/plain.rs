//! What is asked without gRPC: health, version and metrics.

use crate::maintenance::{CLUSTER_VERSION, VERSION};
use crate::service::Etcd;
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use tonic::body::Body;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Etcd {
    /// Answers a request that is not a gRPC call.
    pub(crate) async fn plain(self, method: &Method, path: &str) -> Response<Body> {
        if method != Method::GET && method != Method::HEAD {
            return respond(
                StatusCode::METHOD_NOT_ALLOWED,
                TEXT,
                "Method Not Allowed\n".into(),
            );
        }
        match path {
            "/health" => self.health(),
            "/livez" => respond(StatusCode::OK, TEXT, "ok\n".to_owned()),
            "/readyz" => match self.unhealthy() {
                None => respond(StatusCode::OK, TEXT, "ok\n".to_owned()),
                Some(why) => respond(StatusCode::SERVICE_UNAVAILABLE, TEXT, why),
            },
            "/version" => {
                let text = format!(
                    "{{\"etcdserver\":\"{VERSION}\",\"etcdcluster\":\"{CLUSTER_VERSION}\",\
                     \"storage\":\"{CLUSTER_VERSION}\"}}"
                );
                respond(StatusCode::OK, JSON, text)
            }
            "/metrics" => {
                let text = self.metrics().await;
                respond(StatusCode::OK, TEXT, text)
            }
            _ => respond(StatusCode::NOT_FOUND, TEXT, "404 page not found\n".into()),
        }
    }

    fn health(&self) -> Response<Body> {
        match self.unhealthy() {
            None => {
                let text = "{\"health\":\"true\",\"reason\":\"\"}";
                respond(StatusCode::OK, JSON, text.to_owned())
            }
            Some(why) => {
                // The text of an error has no control characters that JSON would have to escape.
                let why = why.replace(['"', '\\'], "'");
                let text = format!("{{\"health\":\"false\",\"reason\":\"{why}\"}}");
                respond(StatusCode::SERVICE_UNAVAILABLE, JSON, text)
            }
        }
    }

    async fn metrics(&self) -> String {
        let revision = self.kv().revision().await.map_or(0, |it| it.0);
        let size = self.kv().size_bytes().await.ok().flatten().unwrap_or(0);
        let keys = self.kv().head().map_or(0, |(tree, _)| tree.len() as u64);
        let counters = self.counters();
        let rows = [
            ("etcd_server_has_leader", "gauge", 1),
            ("etcd_mvcc_db_total_size_in_bytes", "gauge", size),
            ("etcd_debugging_mvcc_current_revision", "gauge", revision),
            (
                "etcd_debugging_mvcc_compact_revision",
                "gauge",
                self.kv().compacted().0,
            ),
            ("etcd_debugging_mvcc_keys_total", "gauge", keys),
            (
                "etcd_debugging_mvcc_watcher_total",
                "gauge",
                counters.watches.load(Ordering::Relaxed),
            ),
            (
                "etcd_debugging_mvcc_events_total",
                "counter",
                counters.events.load(Ordering::Relaxed),
            ),
        ];
        let mut text = String::new();
        for (name, kind, value) in rows {
            // Writing to a string cannot fail.
            writeln!(text, "# TYPE {name} {kind}\n{name} {value}").ok();
        }
        text
    }
}

fn respond(status: StatusCode, content_type: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::new(Full::from(text)));
    *response.status_mut() = status;
    let value = http::HeaderValue::from_static(content_type);
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, value);
    response
}
