//! Lists: versions, matches, selectors, scopes, compaction.

use super::matrix;
use super::stack::{Stack, names};
use kubist_registry::Stored;

matrix![
    every_combination_of_version_and_match_has_its_state,
    invalid_versions_are_rejected,
    consistent_lists_have_the_newest_version,
    one_object_can_be_listed_at_each_of_its_versions,
    a_namespace_is_not_the_prefix_of_another,
    selectors_and_scopes_narrow_each_other,
    compacted_versions_are_expired,
    a_list_at_its_own_version_is_the_same_again,
];

/// Creates the pods a/x, b/y, b/z and c/w in this order, changes b/y, and deletes b/z. Returns the
/// versions before and after each write.
async fn seed(s: &Stack) -> Vec<u64> {
    let mut versions = vec![s.head().await];
    for (namespace, name) in [("a", "x"), ("b", "y"), ("b", "z"), ("c", "w")] {
        versions.push(s.create(namespace, name).await.revision());
    }
    versions.push(s.label("b", "y", "new").await.revision());
    versions.push(s.delete("b", "z").await.revision());
    versions
}

const STATES: [&[&str]; 7] = [
    &[],
    &["a/x"],
    &["a/x", "b/y"],
    &["a/x", "b/y", "b/z"],
    &["a/x", "b/y", "b/z", "c/w"],
    &["a/x", "b/y", "b/z", "c/w"],
    &["a/x", "b/y", "c/w"],
];

async fn every_combination_of_version_and_match_has_its_state(s: &Stack) {
    let versions = seed(s).await;
    let newest = STATES[6];
    let head = *versions.last().expect("several");
    // A read at version zero may be stale, so bring the cache to the newest state first.
    s.list("", &format!("resourceVersion={head}"))
        .await
        .expect("it is reached");
    for query in [
        "",
        "resourceVersion=0",
        "resourceVersion=0&resourceVersionMatch=NotOlderThan",
    ] {
        assert_eq!(s.names("", query).await, newest, "{query}");
    }
    for (at, version) in versions.iter().enumerate() {
        let not_older = format!("resourceVersion={version}");
        let explicit = format!("{not_older}&resourceVersionMatch=NotOlderThan");
        let exact = format!("{not_older}&resourceVersionMatch=Exact");
        let legacy = format!("{not_older}&limit=100");
        for (query, expected, revision) in [
            (&not_older, newest, head),
            (&explicit, newest, head),
            (&format!("{explicit}&limit=100"), newest, head),
            (&exact, STATES[at], *version),
            (&format!("{exact}&limit=100"), STATES[at], *version),
            (&legacy, STATES[at], *version),
        ] {
            let listed = s.list("", query).await.expect("it is kept");
            assert_eq!(names(&listed), expected, "{query}");
            assert_eq!(
                listed.metadata.resource_version,
                revision.to_string(),
                "{query}"
            );
            assert_eq!(listed.metadata.continue_, "", "{query}");
        }
    }
    let query = format!(
        "resourceVersion={}&resourceVersionMatch=Exact&labelSelector=k=new",
        versions[5]
    );
    assert_eq!(s.names("", &query).await, ["b/y"]);
    let query = format!(
        "resourceVersion={}&resourceVersionMatch=Exact&labelSelector=k=new",
        versions[4]
    );
    assert_eq!(s.names("", &query).await, [""; 0]);
}

async fn invalid_versions_are_rejected(s: &Stack) {
    let versions = seed(s).await;
    let ahead = versions[6] + 100;
    for (query, code) in [
        ("resourceVersion=abc", 400),
        ("resourceVersion=-1", 400),
        ("resourceVersion=1.5", 400),
        ("continue=abc", 400),
        ("resourceVersion=5&continue=abc", 400),
        ("resourceVersionMatch=Exact", 422),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422),
        ("resourceVersion=5&resourceVersionMatch=Other", 422),
        ("resourceVersionMatch=Exact&continue=abc", 422),
        ("sendInitialEvents=true", 422),
        (&format!("resourceVersion={ahead}"), 504),
        (&format!("resourceVersion={ahead}&limit=5"), 504),
        (
            &format!("resourceVersion={ahead}&resourceVersionMatch=Exact"),
            504,
        ),
        (&format!("resourceVersion={}", i64::MAX), 504),
    ] {
        let status = s.list("", query).await.expect_err(query);
        assert_eq!(status.code, code, "{query}: {status}");
        assert_eq!(
            status.is_too_large_resource_version(),
            code == 504,
            "{query}"
        );
    }
}

async fn consistent_lists_have_the_newest_version(s: &Stack) {
    seed(s).await;
    for _ in 0..3 {
        let head = s.bump().await;
        let listed = s.list("", "").await.expect("it is reached");
        assert_eq!(listed.metadata.resource_version, head.to_string());
        let any = s.list("", "resourceVersion=0").await.expect("it is there");
        let any: u64 = any.metadata.resource_version.parse().expect("a number");
        assert!(any <= head && (s.cacher.is_some() || any == head));
        let token = super::pages::newest_after("a/x");
        let rest = s
            .list("", &format!("continue={token}"))
            .await
            .expect("a token");
        assert_eq!(names(&rest), ["b/y", "c/w"]);
        assert_eq!(rest.metadata.resource_version, head.to_string());
    }
}

async fn one_object_can_be_listed_at_each_of_its_versions(s: &Stack) {
    let versions = seed(s).await;
    let one = |query: &str| format!("fieldSelector=metadata.name=y&{query}");
    for (query, expected) in [
        (String::new(), 5),
        ("resourceVersion=0".into(), 5),
        (format!("resourceVersion={}", versions[6]), 5),
        (
            format!("resourceVersion={}&resourceVersionMatch=Exact", versions[2]),
            2,
        ),
        (
            format!("resourceVersion={}&resourceVersionMatch=Exact", versions[4]),
            2,
        ),
        (
            format!("resourceVersion={}&resourceVersionMatch=Exact", versions[5]),
            5,
        ),
        (format!("resourceVersion={}&limit=1", versions[3]), 2),
    ] {
        s.list("", &format!("resourceVersion={}", versions[6]))
            .await
            .expect("it is reached");
        let listed = s.list("b", &one(&query)).await.expect("it is kept");
        let found: Vec<u64> = listed.items.iter().map(Stored::revision).collect();
        assert_eq!(found, [versions[expected]], "{query}");
    }
    let before = format!("resourceVersion={}&resourceVersionMatch=Exact", versions[1]);
    assert_eq!(s.names("b", &one(&before)).await, [""; 0]);
    assert_eq!(
        s.names("b", &format!("{}&labelSelector=k=other", one("")))
            .await,
        [""; 0]
    );
    assert_eq!(s.names("a", &one("")).await, [""; 0]);
}

async fn a_namespace_is_not_the_prefix_of_another(s: &Stack) {
    s.create("ns", "a").await;
    let last = s.create("ns-x", "b").await.revision();
    for query in [
        String::new(),
        format!("resourceVersion={last}"),
        format!("resourceVersion={last}&resourceVersionMatch=Exact"),
    ] {
        assert_eq!(s.names("ns", &query).await, ["ns/a"], "{query}");
        assert_eq!(s.names("ns-x", &query).await, ["ns-x/b"], "{query}");
        assert_eq!(s.names("n", &query).await, [""; 0], "{query}");
        assert_eq!(s.names("", &query).await, ["ns-x/b", "ns/a"], "{query}");
    }
}

async fn selectors_and_scopes_narrow_each_other(s: &Stack) {
    for (namespace, name, node) in [
        ("a", "x", "n1"),
        ("a", "y", "n2"),
        ("b", "x", "n1"),
        ("b", "z", ""),
    ] {
        let mut pod = super::stack::pod(namespace, name);
        pod.spec.node_name = node.into();
        s.create_pod(pod).await;
    }
    for (namespace, fields, expected) in [
        ("", "", &["a/x", "a/y", "b/x", "b/z"][..]),
        ("a", "", &["a/x", "a/y"]),
        ("c", "", &[]),
        ("", "metadata.name=x", &["a/x", "b/x"]),
        ("a", "metadata.name=x", &["a/x"]),
        ("a", "metadata.name=z", &[]),
        ("", "metadata.namespace=b", &["b/x", "b/z"]),
        ("b", "metadata.namespace=b", &["b/x", "b/z"]),
        ("a", "metadata.namespace=b", &[]),
        ("", "metadata.namespace=b,metadata.name=x", &["b/x"]),
        ("", "metadata.name!=x", &["a/y", "b/z"]),
        ("", "metadata.namespace!=a", &["b/x", "b/z"]),
        ("", "spec.nodeName=n1", &["a/x", "b/x"]),
        ("a", "spec.nodeName=n1", &["a/x"]),
        ("", "spec.nodeName=", &["b/z"]),
        ("", "spec.nodeName!=n1", &["a/y", "b/z"]),
        ("b", "spec.nodeName=n1,metadata.name=x", &["b/x"]),
        ("b", "spec.nodeName=n2,metadata.name=x", &[]),
    ] {
        for version in ["", "&resourceVersion=0"] {
            let query = format!("fieldSelector={fields}{version}");
            assert_eq!(
                s.names(namespace, &query).await,
                expected,
                "{namespace} {query}"
            );
        }
    }
}

async fn compacted_versions_are_expired(s: &Stack) {
    let versions = seed(s).await;
    let exact = |version: u64| format!("resourceVersion={version}&resourceVersionMatch=Exact");
    assert_eq!(s.names("", &exact(versions[2])).await, STATES[2]);
    s.compact(versions[5]).await;
    assert_eq!(s.storage.compacted(), versions[5]);
    let status = s
        .list("", &exact(versions[2]))
        .await
        .expect_err("it is gone");
    assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));
    assert_eq!(
        status.message,
        "The resourceVersion for the provided list is too old."
    );
    assert_eq!(s.names("", &exact(versions[5])).await, STATES[5]);
    let older = format!("resourceVersion={}", versions[1]);
    assert_eq!(s.names("", &older).await, STATES[6]);
}

async fn a_list_at_its_own_version_is_the_same_again(s: &Stack) {
    seed(s).await;
    let writing = async {
        for number in 0..20 {
            s.create("d", &format!("p{number:02}")).await;
            tokio::task::yield_now().await;
        }
    };
    let listing = async {
        for _ in 0..20 {
            let first = s.list("", "").await.expect("it is reached");
            let version = first.metadata.resource_version.clone();
            let query = format!("resourceVersion={version}&resourceVersionMatch=Exact");
            let again = s.list("", &query).await.expect("it is kept");
            assert_eq!(names(&first), names(&again), "{version}");
            let newer = s.list("", &format!("resourceVersion={version}")).await;
            assert!(newer.expect("it is reached").items.len() >= first.items.len());
        }
    };
    tokio::join!(writing, listing);
}
