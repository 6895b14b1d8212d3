//! A first exploration: a controller with a bug that shows only if something goes wrong at one
//! moment.

use crate::passwords;
use kubist::api::core::v1::ConfigMap;
use kubist::client::Api;
use kubist_test::explore::{Problem, Scenario, explore, replay};

fn scenario() -> Scenario {
    Scenario::new("passwords")
        .controller("passwords", passwords::run)
        .step("a shop is opened", |client| async move {
            let mut shop = ConfigMap::default();
            shop.metadata.name = "shop".into();
            shop.metadata.labels.insert("shop".into(), "yes".into());
            Api::namespaced(client, "default").create(&shop).await
        })
}

#[test]
fn a_secret_that_is_left_over_is_found_made_smaller_and_replayed() {
    let explored = explore(0..100, &scenario());
    let failure = explored.failure().expect("a secret is left over");
    assert!(matches!(failure.problem, Problem::Diverged { .. }));
    let story = failure.story.to_string();
    for part in [
        "Secret default/shop-* exists, but not in the run without faults",
        "FAULT: passwords's write 1 is done, and answered 504",
        "passwords created Secret default/shop-",
        "to run it again: KUBIST_TEST_SEED=",
    ] {
        assert!(story.contains(part), "{part:?} is not in {story}");
    }
    let again = replay(&failure.replay, &scenario());
    let again = again.failure().map(|it| it.story.to_string());
    assert_eq!(again.as_deref(), Some(story.as_str()));
}
