//! Paged lists: tokens, limits with selectors, compaction between two pages.

use super::matrix;
use super::stack::{Stack, names};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kubist_registry::storage::Listed;

matrix![
    pages_are_of_one_version,
    a_limit_counts_matches,
    a_rare_match_is_found_in_one_call,
    a_page_after_compaction_returns_a_new_token,
    writes_between_two_pages_are_not_seen,
    version_zero_ignores_the_limit,
    tokens_are_upstreams,
];

/// Returns a token for the newest version after a key.
pub(crate) fn newest_after(start: &str) -> String {
    token(-1, &format!("{start}\\u0000"))
}

fn token(rv: i64, start: &str) -> String {
    let json = format!(r#"{{"v":"meta.k8s.io/v1","rv":{rv},"start":"{start}"}}"#);
    URL_SAFE_NO_PAD.encode(json)
}

fn remaining(listed: &Listed) -> Option<i64> {
    listed.metadata.remaining_item_count
}

fn next(listed: &Listed) -> String {
    assert_ne!(listed.metadata.continue_, "", "there is more");
    format!("continue={}", listed.metadata.continue_)
}

async fn five(s: &Stack) {
    for (name, label) in [("a", "1"), ("b", "2"), ("c", "1"), ("d", "2"), ("e", "1")] {
        let mut pod = super::stack::pod("ns", name);
        pod.metadata.labels.insert("k".into(), label.into());
        s.create_pod(pod).await;
    }
}

async fn list(s: &Stack, query: &str) -> Listed {
    let listed = s.list("ns", query).await;
    listed.unwrap_or_else(|status| panic!("{query}: {status}"))
}

async fn pages_are_of_one_version(s: &Stack) {
    five(s).await;
    let head = s.head().await.to_string();
    let first = list(s, "limit=2").await;
    assert_eq!(
        (names(&first).join(" "), remaining(&first)),
        ("ns/a ns/b".into(), Some(3))
    );
    s.label("ns", "c", "changed").await;
    let second = list(s, &format!("limit=2&{}", next(&first))).await;
    assert_eq!(
        (names(&second).join(" "), remaining(&second)),
        ("ns/c ns/d".into(), Some(1))
    );
    assert!(
        second
            .items
            .iter()
            .all(|it| it.revision().to_string() <= head)
    );
    let third = list(s, &format!("limit=2&{}", next(&second))).await;
    assert_eq!(
        (names(&third).join(" "), remaining(&third)),
        ("ns/e".into(), None)
    );
    assert_eq!(third.metadata.continue_, "");
    for page in [&first, &second, &third] {
        assert_eq!(page.metadata.resource_version, head);
    }
    let rest = list(s, &next(&first)).await;
    assert_eq!(
        names(&rest),
        ["ns/c", "ns/d", "ns/e"],
        "without a limit, all that is left"
    );
    let with_zero = list(s, &format!("resourceVersion=0&{}", next(&first))).await;
    assert_eq!(names(&with_zero), names(&rest));
    let all = s.list("", "limit=1").await.expect("fine");
    assert_eq!(
        names(&s.list("", &next(&all)).await.expect("fine")).len(),
        4
    );
}

async fn a_limit_counts_matches(s: &Stack) {
    five(s).await;
    let first = list(s, "limit=2&labelSelector=k=1").await;
    assert_eq!(
        (names(&first).join(" "), remaining(&first)),
        ("ns/a ns/c".into(), None)
    );
    let second = list(s, &format!("limit=2&labelSelector=k=1&{}", next(&first))).await;
    assert_eq!(names(&second), ["ns/e"]);
    assert_eq!(second.metadata.continue_, "");
    let exact = list(s, "limit=3&labelSelector=k=1").await;
    assert_eq!(names(&exact).len(), 3);
    assert_eq!(exact.metadata.continue_, "", "nothing follows the third");
    let none = list(s, "limit=1&labelSelector=k=3").await;
    assert_eq!(
        (names(&none).len(), none.metadata.continue_.as_str()),
        (0, "")
    );
}

async fn a_rare_match_is_found_in_one_call(s: &Stack) {
    for number in 0..1000 {
        let mut pod = super::stack::pod("ns", &format!("p{number:04}"));
        if number == 999 {
            pod.spec.node_name = "rare".into();
        }
        s.create_pod(pod).await;
    }
    let found = list(s, "limit=1&fieldSelector=spec.nodeName=rare").await;
    assert_eq!(names(&found), ["ns/p0999"]);
    assert_eq!(found.metadata.continue_, "");
}

async fn a_page_after_compaction_returns_a_new_token(s: &Stack) {
    five(s).await;
    let first = list(s, "limit=2").await;
    let head = s.label("ns", "a", "changed").await.revision();
    s.delete("ns", "c").await;
    s.compact(head).await;
    let expired = s.list("ns", &format!("limit=2&{}", next(&first))).await;
    let expired = expired.expect_err("it is gone");
    assert_eq!((expired.code, expired.reason.as_str()), (410, "Expired"));
    let again = format!("limit=1&continue={}", expired.metadata.continue_);
    let second = list(s, &again).await;
    assert_eq!(names(&second), ["ns/d"], "at the newest version");
    let resolved = second.metadata.resource_version.clone();
    assert_eq!(resolved, (head + 1).to_string());
    s.create("ns", "dd").await;
    let third = list(s, &next(&second)).await;
    assert_eq!(names(&third), ["ns/e"], "later pages keep that version");
    assert_eq!(third.metadata.resource_version, resolved);
}

async fn writes_between_two_pages_are_not_seen(s: &Stack) {
    five(s).await;
    let first = list(s, "limit=1").await;
    s.create("ns", "aa").await;
    s.delete("ns", "b").await;
    let rest = list(s, &next(&first)).await;
    assert_eq!(names(&rest), ["ns/b", "ns/c", "ns/d", "ns/e"]);
}

async fn version_zero_ignores_the_limit(s: &Stack) {
    five(s).await;
    list(s, &format!("resourceVersion={}", s.head().await)).await;
    let all = list(s, "limit=2&resourceVersion=0").await;
    assert_eq!(
        (names(&all).len(), all.metadata.continue_.as_str()),
        (5, "")
    );
}

async fn tokens_are_upstreams(s: &Stack) {
    five(s).await;
    let head = i64::try_from(s.head().await).expect("small");
    let first = list(s, "limit=2").await;
    assert_eq!(first.metadata.continue_, token(head, "b\\u0000"));
    let all = s.list("", "limit=2").await.expect("fine");
    assert_eq!(all.metadata.continue_, token(head, "ns/b\\u0000"));
    let slash = list(s, &format!("continue={}", token(head, "/b\\u0000"))).await;
    assert_eq!(
        names(&slash),
        ["ns/c", "ns/d", "ns/e"],
        "as upstream's cache writes it"
    );
    for bad in [
        token(0, "b"),
        token(head, ""),
        token(head, "../x"),
        "{}".to_owned(),
    ] {
        let refused = s.list("ns", &format!("continue={bad}")).await;
        assert_eq!(refused.expect_err(&bad).code, 400);
    }
    let ahead = s
        .list("ns", &format!("continue={}", token(head + 100, "b")))
        .await;
    assert_eq!(ahead.expect_err("it is ahead").code, 504);
}
