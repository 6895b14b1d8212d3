//! What is offered in CBOR, and where: what a kube-apiserver with its gate on answers. Over the
//! version of its core group it panics.

use super::*;

const ALL: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const JSON: &str = "application/json";
const ONLY: &str = "only the following media types are accepted";
const UNROUTED: &str = "406: Not Acceptable\n\nAvailable representations";

/// Path, `Accept`, code, media type, and the message of a 406.
type Case<'a> = (&'a str, &'a str, u16, &'a str, &'a str);

async fn check(server: &RunningServer, cases: &[Case<'_>]) {
    for (path, accept, code, media, message) in cases {
        let asking = Client::in_memory(server, Version::HTTP_2).await;
        let answer = asking.header("accept", accept).get(path).await;
        let found = (answer.code, answer.header("content-type"));
        assert_eq!(found, (*code, *media), "{path} {accept}");
        if *code == 406 {
            assert_eq!(answer.json()["message"], *message, "{path} {accept}");
        }
    }
}

#[tokio::test]
async fn objects_lists_and_watches_have_it_and_tables_do_not() {
    let server = server(true).await;
    let mut poster = client(&server).await;
    poster
        .ask("POST", CONFIG_MAPS, CBOR, encoded(&config_map("m")))
        .await;
    let table = "application/cbor;as=Table;g=meta.k8s.io;v=v1";
    let both = format!("{table},application/cbor");
    let tables_or_json = format!("{table},application/json");
    let metadata = "application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let sequence = "application/cbor-seq";
    let sequence_too = "application/cbor-seq,application/cbor";
    let watch = format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1");
    let (map, none) = (format!("{CONFIG_MAPS}/m"), format!("{CONFIG_MAPS}/none"));
    let log = "/api/v1/namespaces/default/pods/none/log";
    let only = format!("{ONLY}: {ALL}, {CBOR}");
    let of_object = format!("{UNROUTED}: {ALL}, {CBOR}");
    let of_list = format!(
        "{of_object}, application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch, {sequence}"
    );
    let cases = [
        (CONFIG_MAPS, table, 406, JSON, &*only),
        (CONFIG_MAPS, &both, 200, CBOR, ""),
        (CONFIG_MAPS, &tables_or_json, 200, JSON, ""),
        (&map, sequence, 406, JSON, &of_object),
        (&map, metadata, 200, CBOR, ""),
        (&none, CBOR, 404, CBOR, ""),
        (&none, metadata, 404, JSON, ""),
        (&watch, sequence, 406, JSON, &only),
        (&watch, "text/plain", 406, JSON, &of_list),
        (&watch, table, 406, JSON, &only),
        (&watch, CBOR, 200, sequence, ""),
        (&watch, sequence_too, 200, sequence, ""),
        (log, CBOR, 404, CBOR, ""),
        ("/api/v1/nothing", CBOR, 404, JSON, ""),
    ];
    check(&server, &cases).await;
    server.shutdown().await;
}

#[tokio::test]
async fn of_discovery_only_the_versions_of_named_groups_have_it() {
    let server = server(true).await;
    let aggregated = "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let either = "application/cbor,application/json";
    let plain = format!("{ONLY}: {ALL}");
    let unrouted = format!("{UNROUTED}: {ALL}");
    let of_version = format!("{unrouted}, {CBOR}");
    let cases = [
        ("/api", CBOR, 406, JSON, &*unrouted),
        ("/apis", CBOR, 406, JSON, &plain),
        ("/apis", either, 200, JSON, ""),
        ("/apis", aggregated, 406, JSON, &plain),
        ("/apis/apps", CBOR, 406, JSON, &plain),
        ("/apis/apps/v1", CBOR, 200, CBOR, ""),
        ("/apis/apps/v1", "text/plain", 406, JSON, &of_version),
        ("/apis/apps/v9", CBOR, 404, JSON, ""),
        ("/api/v1", CBOR, 406, JSON, &unrouted),
        ("/api/v1", either, 200, JSON, ""),
    ];
    check(&server, &cases).await;
    server.shutdown().await;
}

#[tokio::test]
async fn custom_resources_have_it_and_their_versions_do_not() {
    let server = server(true).await;
    let mut client = client(&server).await;
    define(&mut client).await;
    let partial = "application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let asking = Client::in_memory(&server, Version::HTTP_2).await;
    let no_list = asking.header("accept", partial).get(WIDGETS).await;
    assert_eq!(
        (no_list.code, &no_list.json()["message"]),
        (
            406,
            &json!(
                "you requested PartialObjectMetadata, but the requested object is a list \
                 (*unstructured.UnstructuredList)"
            )
        )
    );
    let group = client.get("/apis/example.com/v1").await;
    assert_eq!(group.header("content-type"), "application/json");
    server.shutdown().await;
}
