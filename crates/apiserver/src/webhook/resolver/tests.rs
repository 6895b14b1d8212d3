//! The address of a service, by what is stored of it.

use super::*;
use kubist_apimachinery::Status;
use serde_json::{Value, json};

/// The stored objects.
#[derive(Debug, Default)]
struct Objects {
    service: Option<Service>,
    slices: Vec<EndpointSlice>,
    endpoints: Option<Endpoints>,
}

impl Lookup for Objects {
    fn get<'a>(
        &'a self,
        _: &'a str,
        plural: &'a str,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn AnyObject>>, Status>> {
        let found: Option<Arc<dyn AnyObject>> = match plural {
            "services" => self.service.clone().map(|it| Arc::new(it) as _),
            _ => self.endpoints.clone().map(|it| Arc::new(it) as _),
        };
        Box::pin(std::future::ready(Ok(found)))
    }

    fn list<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn AnyObject>>, Status>> {
        let slices = self.slices.iter().cloned();
        let slices = slices.map(|it| Arc::new(it) as Arc<dyn AnyObject>);
        Box::pin(std::future::ready(Ok(slices.collect())))
    }
}

fn service(spec: Value) -> Service {
    let service = json!({"metadata": {"name": "hook"}, "spec": spec});
    serde_json::from_value(service).expect("it is a service")
}

fn with_ports() -> Service {
    let ports = json!([{"name": "http", "port": 80}, {"name": "https", "port": 443}]);
    service(json!({"clusterIP": "10.0.0.1", "ports": ports}))
}

fn slice(of: &str, endpoints: Value) -> EndpointSlice {
    let slice = json!({
        "metadata": {"labels": {SERVICE_NAME: of}}, "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}, {"name": "https", "port": 8443}],
        "endpoints": endpoints,
    });
    serde_json::from_value(slice).expect("it is a slice")
}

async fn resolved(objects: Objects) -> Result<String, String> {
    let service = WebhookService {
        namespace: "ns".to_owned(),
        name: "hook".to_owned(),
        path: String::new(),
        port: 443,
    };
    let found = ClusterResolver.resolve(&service, &objects).await?;
    Ok(format!("{}:{}", found.host, found.port))
}

#[tokio::test]
async fn a_ready_endpoint_is_first_and_the_cluster_ip_last() {
    let not_ready = json!({"addresses": ["10.1.0.1"], "conditions": {"ready": false}});
    let objects = Objects {
        service: Some(with_ports()),
        slices: vec![
            slice("other", json!([{"addresses": ["10.9.0.1"]}])),
            slice("hook", json!([not_ready])),
            slice("hook", json!([not_ready, {"addresses": ["10.1.0.2"]}])),
        ],
        endpoints: None,
    };
    assert_eq!(resolved(objects).await, Ok("10.1.0.2:8443".to_owned()));
    let endpoints = json!({"subsets": [{
        "addresses": [{"ip": "10.2.0.1"}], "ports": [{"name": "https", "port": 9443}],
    }]});
    let objects = Objects {
        service: Some(with_ports()),
        slices: vec![slice("hook", json!([not_ready]))],
        endpoints: serde_json::from_value(endpoints).expect("they are endpoints"),
    };
    assert_eq!(resolved(objects).await, Ok("10.2.0.1:9443".to_owned()));
    let objects = Objects {
        service: Some(with_ports()),
        ..Objects::default()
    };
    assert_eq!(resolved(objects).await, Ok("10.0.0.1:443".to_owned()));
}

#[tokio::test]
async fn services_without_endpoints_have_other_addresses_or_none() {
    assert_eq!(
        resolved(Objects::default()).await,
        Ok("hook.ns.svc:443".to_owned())
    );
    let external = json!({"type": "ExternalName", "externalName": "hook.example.com"});
    let objects = Objects {
        service: Some(service(external)),
        ..Objects::default()
    };
    assert_eq!(
        resolved(objects).await,
        Ok("hook.example.com:443".to_owned())
    );
    for (spec, why) in [
        (
            json!({"clusterIP": "None", "ports": [{"port": 443}]}),
            "no endpoints available for service \"hook\"",
        ),
        (
            json!({"clusterIP": "10.0.0.1", "ports": [{"port": 80}]}),
            "no service port 443 found for service \"hook\"",
        ),
    ] {
        let objects = Objects {
            service: Some(service(spec)),
            ..Objects::default()
        };
        assert_eq!(resolved(objects).await, Err(why.to_owned()));
    }
}
