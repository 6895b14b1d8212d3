//! Non-resource paths: health, metrics, version, OpenAPI, backups.

use super::Service;
use crate::authorization::non_resource;
use crate::filters::flow_dumps;
use crate::metrics::{audit_families, of_policies, of_webhooks};
use crate::negotiation::response_encoder::not_acceptable;
use crate::openapi::{DocumentRequest, OpenApi};
use crate::request::Request;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use crate::routes::health::{Findings, Health};
use crate::routes::{backup, openid};
use crate::version;
use http::StatusCode;
use kubist_apimachinery::{ListOptions, Status};
use kubist_codec::negotiate::check_named;
use kubist_registry::{RequestContext, ServedGroup, Stored};
use serde_json::{Value, json};
use std::time::Duration;

/// Time limit of the storage health check, as upstream for etcd.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(2);
/// The metrics path.
const METRICS: &str = "/metrics";

/// Reports whether a path may be open to anonymous users.
pub(super) fn is_public(path: &str) -> bool {
    Health::of_path(path).is_some() || path.trim_end_matches('/') == VERSION
}

impl Service {
    pub(super) async fn other(
        &self,
        cx: &RequestContext,
        request: &Request,
    ) -> Result<ApiResponse, Status> {
        let path = request.path.as_str();
        if let Some((health, check)) = Health::of_path(path) {
            let mut findings = self.findings(check).await;
            if health.name == "readyz" {
                // A server that cannot write is not ready, but may be alive and able to read.
                findings.storage &= self.context.registry.storage_writable().is_ok();
            }
            return Ok(health.answer(check, &request.query, &findings));
        }
        if let Some(service) = web_service(path)? {
            return self.web_service(service, request);
        }
        match path {
            "/" => indented(&json!({"paths": root_paths(&self.context.registry.groups())})),
            METRICS if request.method == "DELETE" => Ok(ApiResponse::page_not_found()),
            "/openapi/v2" => {
                let served = self.context.registry.groups();
                let stored = self.definitions(cx, &served).await?;
                cx.begin_work(OpenApi::BYTES).await;
                let accept = request.accept();
                Ok(self.open_api.old_document(&served, &stored, accept))
            }
            "/openapi/v3" => {
                let served = self.context.registry.groups();
                let stored = self.definitions(cx, &served).await?;
                cx.begin_work(OpenApi::BYTES).await;
                let aggregation = &self.context.aggregation;
                let add = |paths: &mut _| aggregation.add_documents(paths);
                Ok(self.open_api.index(&served, &stored, add))
            }
            METRICS => self.scraped(cx).await,
            backup::PATH if request.method == "GET" => {
                backup::handle(&self.context.registry, &cx.user, &self.backups).await
            }
            path => match path.strip_prefix("/openapi/v3/") {
                Some(path) => self.document(cx, request, path).await,
                None => Ok(self.flow_dump(path)),
            },
        }
    }

    /// Serves the documents that have one media type and allow only GET.
    fn web_service(&self, service: &'static str, request: &Request) -> Result<ApiResponse, Status> {
        if request.method != "GET" {
            return Err(method_not_allowed(&request.method));
        }
        let form = match service {
            openid::KEYS => openid::KEYS_FORM,
            _ => "application/json",
        };
        check_named(request.accept(), &[form]).map_err(|refusal| not_acceptable(&refusal))?;
        match service {
            openid::CONFIGURATION => {
                openid::configuration(self.address, self.context.authenticator.issuer())
            }
            openid::KEYS => openid::keys(self.context.authenticator.issuer()),
            _ => indented(&version::version()),
        }
    }

    /// Serves a document of `/openapi/v3`.
    async fn document(
        &self,
        cx: &RequestContext,
        request: &Request,
        path: &str,
    ) -> Result<ApiResponse, Status> {
        let served = self.context.registry.groups();
        let stored = if self.open_api.is_built_in(path) {
            Vec::new()
        } else {
            self.definitions(cx, &served).await?
        };
        cx.begin_work(OpenApi::BYTES).await;
        let incoming = DocumentRequest {
            path,
            // An empty hash is no hash, as upstream.
            hash: request.query.first("hash").filter(|it| !it.is_empty()),
            if_none_match: request.if_none_match(),
            accept: request.accept(),
            now: cx.received,
        };
        let found = self.open_api.document(&served, &stored, incoming);
        // As upstream: 404 without a body.
        Ok(found.unwrap_or_else(|| ApiResponse::bare(StatusCode::NOT_FOUND)))
    }

    /// Lists the stored definitions, if any is served.
    async fn definitions(
        &self,
        cx: &RequestContext,
        served: &[ServedGroup],
    ) -> Result<Vec<Stored>, Status> {
        if !served.iter().any(|group| self.context.is_custom(group)) {
            return Ok(Vec::new());
        }
        let storage = self.context.registry.storage(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
        );
        let Some(lister) = storage.as_ref().and_then(|it| it.lister()) else {
            return Ok(Vec::new());
        };
        let page = lister.list(cx, "", &ListOptions::default()).await?;
        Ok(page.items)
    }

    async fn scraped(&self, cx: &RequestContext) -> Result<ApiResponse, Status> {
        let lookup = self.context.registry.lookup();
        if !non_resource::can_read_metrics(&cx.user, METRICS, lookup).await {
            return Err(non_resource::forbidden(&cx.user, METRICS));
        }
        let flow = self.flow_control().map(|it| it.families());
        let mut further = flow.unwrap_or_default();
        let audit = self.audit.as_ref().map(|it| &*it.counters);
        further.extend(audit.map(audit_families).unwrap_or_default());
        if let Some(admission) = &self.admission {
            further.extend(of_webhooks(admission.webhooks.metrics()));
            further.extend(of_policies(admission.policies.metrics()));
        }
        let (metrics, registry) = (&self.context.metrics, &self.context.registry);
        Ok(metrics.scrape(registry, further).await)
    }

    /// Returns a table of the flow control, if that is in force and the path names one.
    fn flow_dump(&self, path: &str) -> ApiResponse {
        let name = path.strip_prefix(flow_dumps::PREFIX);
        match (name, self.flow_control()) {
            (Some(name), Some(flow)) => {
                let now = self.context.registry.clock().now();
                flow_dumps::answer(name, &flow.dump(), now)
            }
            _ => ApiResponse::page_not_found(),
        }
    }

    async fn findings(&self, check: Option<&str>) -> Findings {
        let unready = self.context.registry.unready_resources();
        Findings {
            storage: Health::needs_storage(check) && self.storage_responds().await,
            definitions: self.context.registry.follows_definitions(),
            unready: unready.iter().map(ToString::to_string).collect(),
            shutdown: self.context.shutdown.is_announced(),
        }
    }

    async fn storage_responds(&self) -> bool {
        let incoming =
            tokio::time::timeout(STORAGE_TIMEOUT, self.context.registry.storage_health()).await;
        match incoming {
            Ok(Ok(())) => true,
            Ok(Err(error)) => {
                tracing::warn!(%error, "storage is not responding");
                false
            }
            Err(_) => {
                tracing::warn!(within = ?STORAGE_TIMEOUT, "storage did not respond in time");
                false
            }
        }
    }
}

/// The version path.
const VERSION: &str = "/version";

/// Returns which of these documents a path names; trailing slashes do not matter.
///
/// # Errors
/// 404 for a path below one of them.
fn web_service(path: &str) -> Result<Option<&'static str>, Status> {
    for service in [VERSION, openid::CONFIGURATION, openid::KEYS] {
        let Some(rest) = path.strip_prefix(service) else {
            continue;
        };
        if rest.trim_end_matches('/').is_empty() {
            return Ok(Some(service));
        }
        if rest.starts_with('/') {
            return Err(not_found());
        }
    }
    Ok(None)
}

/// Returns indented JSON, whatever the client accepts.
fn indented(tree: &Value) -> Result<ApiResponse, Status> {
    let text = serde_json::to_vec_pretty(tree).map_err(Status::internal_error)?;
    Ok(ApiResponse::whole("application/json", text))
}

fn root_paths(groups: &[ServedGroup]) -> Vec<String> {
    let groups = groups.iter().flat_map(|group| {
        let root = match group.name.as_str() {
            "" => "/api".to_owned(),
            name => format!("/apis/{name}"),
        };
        let versions = group.versions.iter();
        let versions: Vec<String> = versions
            .map(|version| format!("{root}/{}", version.version))
            .collect();
        std::iter::once(root).chain(versions)
    });
    let mut paths: Vec<String> = groups.collect();
    for path in [
        "/apis",
        "/apis/",
        openid::CONFIGURATION,
        openid::KEYS,
        "/healthz",
        "/livez",
        METRICS,
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/readyz",
        backup::PATH,
        VERSION,
    ] {
        paths.push(path.to_owned());
    }
    paths.sort();
    paths
}
