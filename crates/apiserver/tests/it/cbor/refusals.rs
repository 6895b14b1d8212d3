//! Bodies in CBOR that are refused. The texts are those of a kube-apiserver with its gate on.

use super::*;

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused_in_upstreams_words() {
    let server = server(true).await;
    let mut client = client(&server).await;
    let of_map = |why: &str| {
        let head = "the object provided is unrecognized (must be of type ConfigMap): unable to \
                    determine group/version/kind";
        format!("{head}: {why}")
    };
    for (body, why) in [
        (vec![], "EOF (<empty>)"),
        (vec![0xff, 0], "cbor: unexpected \"break\" code (ff00)"),
        (
            vec![0xa2, 0x41, b'a', 0x41, b'b', 0x41, b'a', 0x41, b'c'],
            "cbor: found duplicate map key \"a\" at map element index 1 (a24161416241614163)",
        ),
        (vec![0xa1, 0x61], "unexpected EOF (a161)"),
    ] {
        let refused = client.ask("POST", CONFIG_MAPS, CBOR, body).await;
        assert_eq!(refused.code, 400);
        assert_eq!(decoded(&refused)["message"], of_map(why));
    }
    let map = format!("{CONFIG_MAPS}/m?fieldManager=me");
    let apply = "application/apply-patch+cbor";
    for (body, why) in [
        (vec![], "EOF"),
        (vec![0xff, 0], "cbor: unexpected \"break\" code"),
        (
            vec![0x81, 1],
            "cbor: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let refused = client.ask("PATCH", &map, apply, body).await;
        assert_eq!(refused.code, 400);
        let expected = format!("error decoding YAML: {why}");
        assert_eq!(decoded(&refused)["message"], expected);
    }
    let refused = client.ask("DELETE", &map, CBOR, vec![0xff, 0]).await;
    assert_eq!(
        (refused.code, &decoded(&refused)["message"]),
        (
            400,
            &json!("unable to determine group/version/kind: cbor: unexpected \"break\" code")
        )
    );
    assert_eq!(client.ask("DELETE", &map, CBOR, vec![]).await.code, 404);
    let unknown = client.ask("POST", CONFIG_MAPS, "text/plain", vec![]).await;
    assert_eq!(
        decoded(&unknown)["message"],
        "the body of the request was in an unknown format - accepted media types include: \
         application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn values_of_other_types_than_a_field_has_are_refused_in_upstreams_words() {
    let server = server(true).await;
    let mut client = client(&server).await;
    for (data, why) in [
        (
            json!({"a": 5}),
            "positive integer into Go struct field v1.ConfigMap.data of type string",
        ),
        (
            json!({"a": -5}),
            "negative integer into Go struct field v1.ConfigMap.data of type string",
        ),
        (
            json!({"a": true}),
            "primitives into Go struct field v1.ConfigMap.data of type string",
        ),
        (
            json!({"a": {}}),
            "map into Go struct field v1.ConfigMap.data of type string",
        ),
        (
            json!([]),
            "array into Go struct field v1.ConfigMap.data of type map[string]string",
        ),
        (
            json!("a"),
            "byte string into Go struct field v1.ConfigMap.data of type map[string]string",
        ),
    ] {
        let mut map = config_map("m");
        map["data"] = data;
        let refused = client.ask("POST", CONFIG_MAPS, CBOR, encoded(&map)).await;
        let expected = format!(
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: cbor: cannot unmarshal \
             {why}"
        );
        assert_eq!(decoded(&refused)["message"], expected);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn bodies_of_custom_objects_are_refused_like_others() {
    let server = server(true).await;
    let mut client = client(&server).await;
    define(&mut client).await;
    let refused = client.ask("POST", WIDGETS, CBOR, vec![0x81, 1]).await;
    assert_eq!(
        decoded(&refused)["message"],
        "the object provided is unrecognized (must be of type Widget): unable to determine \
         group/version/kind: cbor: cannot unmarshal array into Go value of type v1.TypeMeta \
         (cannot decode CBOR array to struct without toarray option) (8101)"
    );
    let patched = client
        .ask("PATCH", &format!("{WIDGETS}/w"), CBOR, encoded(&json!({})))
        .await;
    assert_eq!(
        (patched.code, &decoded(&patched)["message"]),
        (
            415,
            &json!(
                "the body of the request was in an unknown format - accepted media types include: \
                 application/json-patch+json, application/merge-patch+json, \
                 application/apply-patch+yaml, application/apply-patch+cbor"
            )
        )
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_body_whose_json_is_longer_than_a_body_may_be_is_too_large() {
    let server = server(true).await;
    let mut client = client(&server).await;
    let max = Config::default().body_bytes_max;
    // Each is two bytes, and a text of 22 in JSON.
    let times = max / 4;
    let length = u32::try_from(times).expect("it fits").to_be_bytes();
    let body = [
        &[0xa1, 0x64, b'd', b'a', b't', b'a', 0x9a],
        &length[..],
        &[0xc1, 0].repeat(times),
    ];
    let refused = client.ask("POST", CONFIG_MAPS, CBOR, body.concat()).await;
    assert_eq!(
        (refused.code, &decoded(&refused)["message"]),
        (
            413,
            &json!(format!("Request entity too large: limit is {max}"))
        )
    );
    server.shutdown().await;
}
