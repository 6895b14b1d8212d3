//! What a reconcile that changes nothing costs besides the reconciler: `cargo run --release -p
//! kubist-controller --example noop`.

#[path = "../tests/it/cluster.rs"]
#[allow(dead_code, reason = "it is made for tests")]
mod cluster;

use cluster::{Cluster, named};
use kubist_api::core::v1::Pod;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Controller, Error, Manager};
use kubist_informers::SharedInformerFactory;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const KEYS: u64 = 200_000;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "it is a program")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::default();
    cluster.put(named::<Pod>("first"));
    let factory = SharedInformerFactory::new(cluster);
    let mut controller = Controller::new("noop", &factory.informer::<Pod>());
    let handle = controller.handle();
    let (token, count) = (CancellationToken::new(), Arc::new(AtomicU64::new(0)));
    let (stop, counted) = (token.clone(), Arc::clone(&count));
    let reconcile = move |_: ObjectName| {
        if counted.fetch_add(1, Ordering::Relaxed) == KEYS {
            stop.cancel();
        }
        async { Ok::<_, Error>(Action::done()) }
    };
    for number in 0..KEYS {
        handle.enqueue(ObjectName::new("shop", format!("pod-{number}")));
    }
    let began = Instant::now();
    Manager::new(factory)
        .with(controller, reconcile)
        .run(token)
        .await?;
    let took = began.elapsed().as_secs_f64() * 1e6;
    let count = u32::try_from(count.load(Ordering::Relaxed))?;
    println!("{count} reconciles, {:.2} us each", took / f64::from(count));
    Ok(())
}
