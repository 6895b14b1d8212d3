//! A store with a byte budget.

use kubist_api::core::v1::{Container, Pod};
use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest as _, Wire as _, WireErrorKind};
use kubist_apimachinery::{LeanMeta, Object as _, ObjectName, Str};
use kubist_cache::{
    ByteBudget, Delta, Encoded, Index, Indexer, OverBudget, Replacement, ResourceEvent, Weigh as _,
};
use kubist_derive::Projection;
use std::sync::Arc;

fn pod(name: &str, version: u64, size: usize) -> Arc<Encoded<Pod>> {
    let mut pod = Pod::default();
    pod.metadata.name = name.into();
    pod.metadata.namespace = "shop".into();
    pod.metadata.uid = format!("uid-{name}").into();
    pod.metadata.resource_version = version.to_string().into();
    pod.metadata.labels = [("app".into(), "web".into())].into();
    pod.spec.node_name = "node-1".into();
    pod.spec.hostname = "x".repeat(size).into();
    Arc::new(Encoded::new(&pod).expect("a Pod"))
}

fn list(version: u64, objects: Vec<Arc<Encoded<Pod>>>) -> Delta<Encoded<Pod>> {
    let resource_version = version.into();
    let unreadable = Vec::new();
    Delta::ReplacedAll(Replacement {
        resource_version,
        objects,
        unreadable,
    })
}

fn budget(max_bytes: u64, over: OverBudget) -> ByteBudget {
    ByteBudget { max_bytes, over }
}

fn apply(indexer: &mut Indexer<Encoded<Pod>>, delta: Delta<Encoded<Pod>>) -> String {
    let mut changes: Vec<ResourceEvent<_>> = Vec::new();
    indexer.apply(delta, &mut changes);
    indexer.publish();
    format!("{changes:?}")
}

fn is_whole(indexer: &Indexer<Encoded<Pod>>, name: &str) -> Option<bool> {
    let found = indexer.get(&ObjectName::new("shop", name));
    found.map(|it| it.decode().is_ok())
}

/// Checks the stats against the contents.
fn check(indexer: &Indexer<Encoded<Pod>>) {
    let (stats, snapshot) = (indexer.budget_stats(), indexer.snapshot());
    let used: u64 = snapshot.iter().map(|it| it.weight()).sum();
    let degraded = snapshot.iter().filter(|it| !it.is_whole()).count();
    assert_eq!((stats.used_bytes, stats.degraded), (used, degraded as u64));
}

/// Contract CACHE-18.
#[test]
fn over_the_budget_objects_are_cut_to_their_metadata_and_decode_says_so() {
    let mut indexer = Indexer::new();
    indexer.set_budget(budget(5_000, OverBudget::DegradeToMetadata));
    let by_node = indexer.add_index(Index::field("spec.nodeName"));
    let by_app = indexer.add_index(Index::label("app"));
    let observed = apply(
        &mut indexer,
        list(5, vec![pod("a", 1, 3_000), pod("b", 2, 3_000)]),
    );
    assert_eq!(
        observed,
        "[Added(shop/a@1, initial), Added(shop/b@2, initial)]"
    );
    assert_eq!(
        (is_whole(&indexer, "a"), is_whole(&indexer, "b")),
        (Some(true), Some(false))
    );
    let cut = indexer.get(&ObjectName::new("shop", "b")).expect("held");
    let error = cut.decode().expect_err("the body is gone");
    assert_eq!(error.kind, WireErrorKind::BodyDropped);
    assert_eq!(
        error.to_string(),
        "the body was dropped, only the metadata is held"
    );
    assert_eq!(
        (cut.uid(), cut.resource_version(), cut.namespace()),
        ("uid-b", "2", "shop")
    );
    assert_eq!(cut.labels().get("app"), Some("web"));

    let lister = indexer.lister();
    assert_eq!(lister.by_index(&by_app, "web").len(), 2);
    assert_eq!(lister.by_index(&by_node, "node-1").len(), 1);
    assert_eq!(
        lister.by_index(&by_node, "").len(),
        0,
        "it is not known to have no node"
    );
    let errors = indexer.take_index_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].object, ObjectName::new("shop", "b"));
    let stats = indexer.budget_stats();
    assert_eq!(
        (stats.degraded, stats.degraded_total, stats.max_bytes),
        (1, 1, 5_000)
    );
    assert!(stats.used_bytes < 5_000);
    check(&indexer);
}

#[test]
fn what_was_cut_is_whole_again_when_there_is_room() {
    let mut indexer = Indexer::new();
    indexer.set_budget(budget(5_000, OverBudget::DegradeToMetadata));
    let by_node = indexer.add_index(Index::field("spec.nodeName"));
    apply(
        &mut indexer,
        list(
            5,
            vec![pod("a", 1, 3_000), pod("b", 2, 3_000), pod("c", 3, 3_000)],
        ),
    );
    assert_eq!(indexer.budget_stats().degraded, 2);
    assert!(indexer.remove(&ObjectName::new("shop", "a")).is_some());
    check(&indexer);
    let observed = apply(&mut indexer, Delta::Updated(pod("b", 6, 1_000)));
    assert_eq!(observed, "[Updated(shop/b@2->6)]");
    assert_eq!(
        (is_whole(&indexer, "b"), is_whole(&indexer, "c")),
        (Some(true), Some(false))
    );
    check(&indexer);
    let observed = apply(
        &mut indexer,
        list(7, vec![pod("b", 6, 1_000), pod("c", 3, 3_000)]),
    );
    assert_eq!(observed, "[]", "nothing changed on the server");
    assert_eq!(is_whole(&indexer, "c"), Some(true));
    assert_eq!(indexer.lister().by_index(&by_node, "node-1").len(), 2);
    assert_eq!(
        (
            indexer.budget_stats().degraded,
            indexer.budget_stats().degraded_total
        ),
        (0, 2)
    );
    check(&indexer);
}

/// Contract CACHE-18.
#[test]
fn refused_objects_are_reported_and_what_was_held_of_them_stays() {
    let mut indexer = Indexer::new();
    indexer.set_budget(budget(5_000, OverBudget::Refuse));
    let observed = apply(
        &mut indexer,
        list(5, vec![pod("a", 1, 3_000), pod("b", 2, 3_000)]),
    );
    assert_eq!(observed, "[Added(shop/a@1, initial)]");
    let errors = indexer.take_budget_errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].object, ObjectName::new("shop", "b"));
    assert_eq!(errors[0].max_bytes, 5_000);
    assert!(errors[0].to_string().starts_with("shop/b of 3"));
    assert_eq!(
        apply(&mut indexer, Delta::Updated(pod("a", 6, 6_000))),
        "[]"
    );
    let held = indexer.get(&ObjectName::new("shop", "a")).expect("held");
    assert_eq!(held.resource_version(), "1");
    check(&indexer);

    let observed = apply(
        &mut indexer,
        list(8, vec![pod("a", 7, 6_000), pod("b", 2, 1_000)]),
    );
    assert_eq!(observed, "[Added(shop/b@2)]");
    assert_eq!(indexer.budget_stats().refused_total, 3);
    assert_eq!(indexer.snapshot().resource_version(), &"8");
    check(&indexer);
    let observed = apply(&mut indexer, Delta::Updated(pod("a", 9, 2_000)));
    assert_eq!(observed, "[Updated(shop/a@1->9)]");
    check(&indexer);
}

#[test]
fn a_relist_keeps_unchanged_objects_before_new_ones_get_room() {
    let mut indexer = Indexer::new();
    indexer.set_budget(budget(5_000, OverBudget::DegradeToMetadata));
    apply(&mut indexer, list(5, vec![pod("z", 1, 3_000)]));
    let before = indexer.get(&ObjectName::new("shop", "z")).expect("held");
    apply(
        &mut indexer,
        list(8, vec![pod("a", 7, 3_000), pod("z", 1, 3_000)]),
    );
    let after = indexer.get(&ObjectName::new("shop", "z")).expect("held");
    assert!(Arc::ptr_eq(&before, &after));
    assert_eq!(is_whole(&indexer, "a"), Some(false));
    check(&indexer);
}

#[test]
fn a_budget_set_late_counts_what_is_there() {
    let mut indexer = Indexer::new();
    assert_eq!(indexer.budget_stats(), kubist_cache::BudgetStats::default());
    indexer.upsert(pod("a", 1, 3_000));
    indexer.set_budget(budget(1_000, OverBudget::DegradeToMetadata));
    assert!(indexer.budget_stats().used_bytes > 3_000);
    assert_eq!(is_whole(&indexer, "a"), Some(true));
    indexer.upsert(pod("a", 2, 3_000));
    assert_eq!(is_whole(&indexer, "a"), Some(false));
    check(&indexer);
}

fn decoded(name: &str, size: usize) -> Arc<Pod> {
    pod(name, 1, size).decode().expect("it is whole")
}

/// Contract CACHE-18.
#[test]
fn decoded_objects_are_refused_beyond_a_budget_and_weigh_what_they_hold() {
    let (small, large) = (decoded("a", 100), decoded("b", 3_000));
    let difference = ByteBudget::decoded_weight(&*large) - ByteBudget::decoded_weight(&*small);
    assert_eq!(difference, 2_900, "the text counts, nothing else differs");
    assert!(ByteBudget::decoded_weight(&*small) >= size_of::<Pod>() as u64);

    let mut indexer = Indexer::new();
    let max_bytes = ByteBudget::decoded_weight(&*small) * 2 + 500;
    indexer.set_refusing_budget(max_bytes, ByteBudget::decoded_weight);
    for pod in [&small, &large, &decoded("c", 100), &decoded("d", 100)] {
        indexer.upsert(Arc::clone(pod));
    }
    indexer.publish();
    let errors = indexer.take_budget_errors();
    let refused: Vec<_> = errors.iter().map(|it| &*it.object.name).collect();
    assert_eq!(refused, ["b", "d"]);
    assert_eq!(errors[0].bytes, ByteBudget::decoded_weight(&*large));
    let stats = indexer.budget_stats();
    assert_eq!(stats.used_bytes, 2 * ByteBudget::decoded_weight(&*small));
    assert_eq!((stats.refused_total, stats.degraded), (2, 0));
    indexer.remove(&ObjectName::new("shop", "a"));
    indexer.upsert(decoded("d", 100));
    assert_eq!(
        indexer.budget_stats().refused_total,
        2,
        "there is room again"
    );
}

#[derive(Clone, Debug, Default, Projection)]
#[projection(of = Pod)]
struct PodHost {
    #[projection(metadata)]
    meta: LeanMeta,
    #[projection("spec.hostname")]
    hostname: Str,
    #[projection("spec.containers[].image")]
    images: Vec<Str>,
}

#[test]
fn a_projection_weighs_what_it_kept_of_the_object() {
    let kept = |size: usize, images: &[&str]| {
        let mut whole = Pod::clone(&decoded("a", size));
        whole.spec.node_name = "n".repeat(10_000).into();
        whole.spec.containers = images
            .iter()
            .map(|image| Container {
                image: (*image).into(),
                ..Container::default()
            })
            .collect();
        let (bytes, cx) = (whole.to_protobuf(), &mut DecodeContext::new());
        PodHost::ingest(bytes.into(), Encoding::Protobuf, cx).expect("a Pod")
    };
    let image = "registry.example/web:1";
    let (small, large) = (kept(100, &[]), kept(3_000, &[image]));
    assert_eq!((large.hostname.len(), large.images.len()), (3_000, 1));
    assert!(
        ByteBudget::projected_weight(&small) < 1_000,
        "what is left out weighs nothing"
    );
    // The text is behind a count of its references.
    let image = size_of::<Str>() + 8 + image.len();
    let difference = ByteBudget::projected_weight(&large) - ByteBudget::projected_weight(&small);
    assert_eq!(difference, 2_900 + image as u64);

    let mut indexer = Indexer::new();
    indexer.set_refusing_budget(1_000, ByteBudget::projected_weight);
    indexer.upsert(Arc::new(large));
    indexer.upsert(Arc::new(small));
    let refused = indexer.take_budget_errors();
    assert_eq!((refused.len(), indexer.len()), (1, 1));
}
