//! Tables of headers and the negotiated result, taken from a real server.

use super::*;

const TABLE: Transform = Transform::Table {
    version: MetaVersion::V1,
};

fn chosen(accept: &str, offer: Offer) -> Option<(Format, Transform)> {
    negotiate(Some(accept), &offer)
        .ok()
        .map(|chosen| (chosen.format, chosen.transform))
}

#[test]
fn clauses_are_tried_in_upstreams_order() {
    let json = Some((Format::Json, Transform::None));
    let protobuf = Some((Format::Protobuf, Transform::None));
    let yaml = Some((Format::Yaml, Transform::None));
    let cases = [
        ("*/*", json),
        ("*", None),
        ("application/*", None),
        ("APPLICATION/JSON", None),
        ("application/*, application/json", json),
        ("text/html, application/json;q=0.5", json),
        ("application/json;q=0", json),
        ("application/json;q=0.5, application/yaml;q=0.9", yaml),
        ("*/*, application/vnd.kubernetes.protobuf", protobuf),
        ("application/vnd.kubernetes.protobuf, */*", protobuf),
        (
            "application/vnd.kubernetes.protobuf;q=0.8,application/json;q=0.9",
            json,
        ),
        ("application/json;stream=watch", json),
        ("application/json;stream=other", None),
        ("application/json;q=bogus, application/yaml;q=0.1", yaml),
        ("text/html", None),
        ("image/png", None),
        (",,;", None),
        ("", json),
    ];
    for (accept, expected) in cases {
        assert_eq!(chosen(accept, Offer::BUILT_IN), expected, "{accept}");
    }
    assert_eq!(
        negotiate(None, &Offer::BUILT_IN).unwrap().format,
        Format::Json
    );
}

#[test]
fn endpoints_created_at_run_time_accept_wildcards() {
    let json = Some((Format::Json, Transform::None));
    for accept in ["*", "*;q=0.5", "text/html,*", "application/*"] {
        assert_eq!(chosen(accept, Offer::CUSTOM), json, "{accept}");
    }
    let error = negotiate(Some("text/plain"), &Offer::CUSTOM).unwrap_err();
    assert_eq!(
        error.message(),
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
}

#[test]
fn transforms_that_an_endpoint_lacks_are_skipped() {
    let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,\
                   application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
    assert_eq!(
        chosen(kubectl, Offer::BUILT_IN),
        Some((Format::Json, TABLE))
    );
    let without = Offer {
        table: false,
        ..Offer::BUILT_IN
    };
    assert_eq!(
        chosen(kubectl, without),
        Some((Format::Json, Transform::None))
    );
    let cases = [
        ("application/json;as=Table;v=v1;g=other", None),
        ("application/json;as=Table", None),
        (
            "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
            None,
        ),
        (
            "application/yaml;as=Table;v=v1;g=meta.k8s.io",
            Some((Format::Yaml, TABLE)),
        ),
        (
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Some((
                Format::Protobuf,
                Transform::PartialObjectMetadataList {
                    version: MetaVersion::V1,
                },
            )),
        ),
        (
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1",
            Some((
                Format::Json,
                Transform::PartialObjectMetadata {
                    version: MetaVersion::V1Beta1,
                },
            )),
        ),
    ];
    for (accept, expected) in cases {
        assert_eq!(chosen(accept, Offer::BUILT_IN), expected, "{accept}");
    }
}

#[test]
fn custom_resources_have_protobuf_for_their_metadata_only() {
    let protobuf = "application/vnd.kubernetes.protobuf";
    let with_json = format!("{protobuf},application/json");
    assert_eq!(
        chosen(&with_json, Offer::CUSTOM),
        Some((Format::Json, Transform::None))
    );
    assert_eq!(chosen(protobuf, Offer::CUSTOM), None);
    let metadata = format!("{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{with_json}");
    let transform = Transform::PartialObjectMetadata {
        version: MetaVersion::V1,
    };
    assert_eq!(
        chosen(&metadata, Offer::CUSTOM),
        Some((Format::Protobuf, transform))
    );
}

#[test]
fn aggregated_discovery_echoes_its_parameters() {
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;\
                  profile=nopeer,application/json;g=apidiscovery.k8s.io;v=v2beta1;\
                  as=APIGroupDiscoveryList,application/json";
    let chosen = negotiate(Some(accept), &Offer::DISCOVERY).unwrap();
    assert_eq!(chosen.transform, Transform::ApiGroupDiscoveryList);
    assert_eq!(chosen.profile.as_deref(), Some("nopeer"));
    assert_eq!(
        chosen.content_type(),
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let plain = negotiate(Some(accept), &Offer::BUILT_IN).unwrap();
    assert_eq!(plain.content_type(), "application/json");
}

#[test]
fn refusals_list_what_there_is_as_upstream_does() {
    let error = negotiate(Some("image/png"), &Offer::BUILT_IN).unwrap_err();
    assert_eq!(
        error.message(),
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
    let error = negotiate(Some("text/html"), &Offer::BUILT_IN.with_watch()).unwrap_err();
    assert!(error.available.ends_with(
        "application/vnd.kubernetes.protobuf, application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch"
    ));
    assert!(error.unrouted);
    let accept = "application/json;as=Unknown;v=v1;g=meta.k8s.io";
    let error = negotiate(Some(accept), &Offer::BUILT_IN.with_watch()).unwrap_err();
    assert_eq!(
        error.message(),
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
    assert!(!error.unrouted);
}

#[test]
fn an_endpoint_of_one_type_must_be_named() {
    let version = ["application/json"];
    for accept in [
        None,
        Some("*/*;as=Table"),
        Some("text/html, application/json;stream=x"),
    ] {
        assert_eq!(check_named(accept, &version), Ok(()), "{accept:?}");
    }
    let error = check_named(Some("application/yaml"), &version).unwrap_err();
    assert_eq!(
        error.message(),
        "406: Not Acceptable\n\nAvailable representations: application/json"
    );
}

#[test]
fn watches_have_no_yaml() {
    let yaml = negotiate(Some("application/yaml"), &Offer::BUILT_IN).unwrap();
    let error = yaml.check_stream(&Offer::BUILT_IN).unwrap_err();
    assert_eq!(
        error.available,
        "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
    );
    let accept = "application/vnd.kubernetes.protobuf;stream=watch,\
                  application/vnd.kubernetes.protobuf";
    let chosen = negotiate(Some(accept), &Offer::BUILT_IN).unwrap();
    assert_eq!(chosen.check_stream(&Offer::BUILT_IN), Ok(()));
    assert_eq!(
        chosen.watch_content_type(),
        "application/vnd.kubernetes.protobuf;stream=watch"
    );
    let json = negotiate(Some("*/*"), &Offer::CUSTOM).unwrap();
    assert_eq!(json.watch_content_type(), "application/json");
    // A YAML stream does not exist.
    let error = negotiate(Some("application/yaml;stream=watch"), &Offer::BUILT_IN).unwrap_err();
    assert_eq!(
        error.message(),
        "only the following media types are accepted: application/json, application/yaml, \
         application/vnd.kubernetes.protobuf"
    );
}

/// What a kube-apiserver with its gate on answers.
#[test]
fn cbor_is_chosen_by_its_name_where_it_is_offered() {
    let table = "application/cbor;as=Table;g=meta.k8s.io;v=v1";
    let metadata = "application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let discovery = "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let objects = Offer {
        cbor: true,
        ..Offer::BUILT_IN.with_watch()
    };
    let custom = Offer {
        cbor: true,
        ..Offer::CUSTOM
    };
    for (accept, offer, expected) in [
        ("application/cbor", &objects, Ok("application/cbor")),
        (
            "application/cbor;stream=watch",
            &objects,
            Ok("application/cbor"),
        ),
        (metadata, &objects, Ok("application/cbor")),
        (metadata, &custom, Ok("application/cbor")),
        (table, &objects, Err(false)),
        (
            &format!("{table},application/cbor"),
            &objects,
            Ok("application/cbor"),
        ),
        (
            &format!("{table},application/json"),
            &objects,
            Ok("application/json"),
        ),
        ("application/cbor-seq", &objects, Err(false)),
        (
            "application/cbor-seq",
            &Offer {
                watch: false,
                ..objects
            },
            Err(true),
        ),
        ("application/cbor-seq", &custom, Err(false)),
        (
            "application/cbor-seq,application/cbor",
            &objects,
            Ok("application/cbor"),
        ),
        ("*/*", &objects, Ok("application/json")),
        ("application/*", &custom, Ok("application/json")),
        (
            "application/json;q=0.1,application/cbor",
            &objects,
            Ok("application/cbor"),
        ),
        (
            "application/json,application/cbor",
            &objects,
            Ok("application/json"),
        ),
        ("application/cbor", &Offer::DISCOVERY, Err(true)),
        (
            discovery,
            &Offer {
                cbor: true,
                ..Offer::DISCOVERY
            },
            Err(false),
        ),
        ("application/cbor", &Offer::BUILT_IN, Err(true)),
    ] {
        let chosen = negotiate(Some(accept), offer);
        let found = chosen.as_ref().map(Negotiated::content_type);
        assert_eq!(found.map_err(|it| it.unrouted), expected, "{accept}");
    }
    let chosen = negotiate(Some("application/cbor"), &objects).unwrap();
    assert_eq!(chosen.format, Format::Json);
    assert_eq!(chosen.watch_content_type(), "application/cbor-seq");
}

#[test]
fn refusals_list_cbor_last() {
    let offer = Offer {
        cbor: true,
        ..Offer::BUILT_IN.with_watch()
    };
    let plain = "application/json, application/yaml, application/vnd.kubernetes.protobuf, \
                 application/cbor";
    let streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;\
                   stream=watch, application/cbor-seq";
    let unrouted = negotiate(Some("text/plain"), &offer).unwrap_err();
    assert_eq!(unrouted.available, format!("{plain}, {streams}"));
    let found = Offer {
        routed: false,
        ..offer
    };
    let refused = negotiate(Some("text/plain"), &found).unwrap_err();
    assert_eq!(refused.available, plain);
    let yaml = negotiate(Some("application/yaml"), &offer).unwrap();
    assert_eq!(yaml.check_stream(&offer).unwrap_err().available, streams);
}

#[test]
fn bodies_are_json_unless_they_say_otherwise() {
    assert_eq!(body_format(None, Format::ALL), Ok(Format::Json));
    assert_eq!(
        body_format(Some("application/json; charset=utf-8"), Format::ALL),
        Ok(Format::Json)
    );
    assert_eq!(
        body_format(Some("application/yaml"), Format::ALL),
        Ok(Format::Yaml)
    );
    let error = body_format(Some("text/plain"), Format::ALL).unwrap_err();
    assert_eq!(
        error.message(),
        "the body of the request was in an unknown format - accepted media types include: \
         application/json, application/yaml, application/vnd.kubernetes.protobuf"
    );
    assert!(body_format(Some("application/vnd.kubernetes.protobuf"), Format::TEXT).is_err());
    assert!(body_format(Some("*/*"), Format::ALL).is_err());
    for (parameters, sound) in [
        ("", true),
        (";", true),
        ("; charset=utf-8", true),
        (" ; a=b", true),
        ("; a=b; A=b", true),
        ("; a=\"b;c\"", true),
        ("; charset", false),
        ("; =a", false),
        ("; a=", false),
        ("; a=b=c", false),
        ("; a=b; a=c", false),
        (";;a=b", false),
        ("; a=\"b", false),
        ("; a b=c", false),
        (",", false),
    ] {
        let content_type = format!("application/json{parameters}");
        let found = body_format(Some(&content_type), Format::ALL);
        assert_eq!(found.is_ok(), sound, "{content_type}");
    }
}

#[test]
fn patches_must_say_their_type() {
    let strategic = Some("application/strategic-merge-patch+json");
    assert_eq!(
        PatchType::parse(strategic, PatchType::ALL),
        Ok(PatchType::Strategic)
    );
    assert!(PatchType::parse(strategic, PatchType::CUSTOM).is_err());
    assert!(PatchType::parse(None, PatchType::ALL).is_err());
    assert!(PatchType::parse(Some("application/json"), PatchType::ALL).is_err());
    assert!(PatchType::parse(Some("application/JSON-patch+json"), PatchType::ALL).is_err());
}
