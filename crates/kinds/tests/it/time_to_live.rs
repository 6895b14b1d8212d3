//! Objects with a time to live.

use crate::fixture::Fixture;
use kubist_api::core::v1::Event;
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test(start_paused = true)]
async fn an_event_is_gone_an_hour_after_its_last_write() {
    let fixture = Fixture::new().await;
    let kv = fixture.kv.clone();
    let mut driver = JoinSet::new();
    driver.spawn(async move { kv.run().await });
    let mut event = Event::default();
    event.metadata.name = "e".into();
    event.involved_object.namespace = "default".into();
    let mut event: Event = fixture.create(event).await;
    tokio::time::sleep(Duration::from_secs(50 * 60)).await;
    event.count = 2;
    fixture.put(event).await.expect("it is there");
    tokio::time::sleep(Duration::from_secs(59 * 60)).await;
    assert!(fixture.get::<Event>("e").await.is_ok(), "it began anew");
    tokio::time::sleep(Duration::from_secs(2 * 60)).await;
    assert!(fixture.get::<Event>("e").await.is_err());
    drop(driver);
}
