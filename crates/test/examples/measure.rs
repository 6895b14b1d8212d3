//! Measures the test kit: starts, forks, a hundred servers, an hour of virtual time.
//!
//! `cargo run --release -p kubist-test --example measure`; the memory is that of the process, where
//! the system tells it.

#![expect(clippy::disallowed_methods, reason = "real time is what is measured")]
#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use kubist::api::core::v1::ConfigMap;
use kubist::client::Api;
use kubist_test::{ServerController, TestServer, TestServerBuilder};
use std::time::{Duration, Instant};

const OBJECTS: usize = 20_000;
const SERVERS: usize = 100;
const ROUNDS: usize = 50;

fn main() -> kubist_test::Result {
    for (name, builder) in [
        ("no controllers", TestServer::builder().controllers([])),
        ("the usual controllers", TestServer::builder()),
    ] {
        in_a_world(starts(name, builder))?;
    }
    in_a_world(forks())?;
    for (name, controllers) in [("no", &[][..]), ("the usual", &ServerController::USUAL)] {
        let builder = TestServer::builder().controllers(controllers.iter().copied());
        in_a_world(hundred(name, builder))?;
    }
    in_a_world(hours())
}

/// Runs a future on a runtime with virtual time.
fn in_a_world<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("there are resources for a runtime");
    runtime.block_on(work)
}

async fn starts(name: &str, builder: TestServerBuilder) -> kubist_test::Result {
    let (mut times, mut ready) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let server = builder.clone().start().await?;
        times.push(begun.elapsed());
        server.client().server_version().await?;
        ready.push(begun.elapsed());
        drop(server);
    }
    show(&format!("start, {name}"), &mut times);
    show(&format!("start and a request, {name}"), &mut ready);
    Ok(())
}

async fn forks() -> kubist_test::Result {
    let server = TestServer::builder().controllers([]).start().await?;
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
    for number in 0..OBJECTS {
        let mut map = ConfigMap::default();
        map.metadata.name = format!("map-{number}").into();
        map.data
            .insert("key".into(), "a value of some length".into());
        maps.create(&map).await?;
    }
    drop(server.fork().await?);
    let (mut stores, mut times, mut forks) = (Vec::new(), Vec::new(), Vec::new());
    let before = resident();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        drop(server.store().fork());
        stores.push(begun.elapsed());
        let begun = Instant::now();
        forks.push(server.fork().await?);
        times.push(begun.elapsed());
    }
    show(
        &format!("fork of the store, {OBJECTS} objects"),
        &mut stores,
    );
    show(
        &format!("fork of the server, {OBJECTS} objects"),
        &mut times,
    );
    show_memory("a fork", before, ROUNDS);
    let begun = Instant::now();
    let past = server.at(server.revision() - 100)?;
    println!("at, 100 revisions ago: {:?}", begun.elapsed());
    drop(past.fork().await?);
    Ok(())
}

async fn hundred(name: &str, builder: TestServerBuilder) -> kubist_test::Result {
    drop(builder.clone().start().await?);
    let (before, begun) = (resident(), Instant::now());
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        let server = builder.clone().start().await?;
        server.client().server_version().await?;
        servers.push(server);
    }
    // Their informers have synced.
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!(
        "{SERVERS} servers with {name} controllers: {:?}",
        begun.elapsed()
    );
    show_memory("a server", before, SERVERS);
    Ok(())
}

async fn hours() -> kubist_test::Result {
    for (name, controllers) in [("no", &[][..]), ("the usual", &ServerController::USUAL)] {
        let builder = TestServer::builder().controllers(controllers.iter().copied());
        let server = builder.start().await?;
        server.advance(Duration::from_secs(60)).await?;
        let begun = Instant::now();
        server.advance(Duration::from_secs(3600)).await?;
        println!("an hour with {name} controllers: {:?}", begun.elapsed());
    }
    Ok(())
}

fn show(what: &str, times: &mut [Duration]) {
    times.sort();
    let (median, most) = (times[times.len() / 2], times[times.len() * 9 / 10]);
    println!("{what}: median {median:?}, nine of ten within {most:?}");
}

fn show_memory(what: &str, before: Option<u64>, count: usize) {
    if let (Some(before), Some(after)) = (before, resident()) {
        let each = after.saturating_sub(before) / count as u64;
        println!("{what}: {each} KiB each, the process has {after} KiB");
    }
}

/// Returns the resident memory of this process in KiB, on Linux.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
