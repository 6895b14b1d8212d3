//! Writes: several clients, each of which waits for its answer before the next request.

use crate::Failure;
use crate::lags::Lags;
use crate::measured::measured;
use crate::server::{Server, config_map, config_maps};
use clap::Args;
use http::Method;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Args)]
pub struct Options {
    #[arg(long)]
    clients: usize,
    /// Duration of each kind of write
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    server.make_namespace().await?;
    measure(server, options, "create").await?;
    measure(server, options, "update").await
}

async fn measure(server: &Server, options: &Options, case: &str) -> Result<(), Failure> {
    let limit = Duration::from_secs_f64(options.seconds);
    let clients = (0..options.clients).map(|client| write(server, options, client, case, limit));
    let case = format!("{case}, {}", options.clients);
    let mut line = measured(server, &case, clients).await?;
    line["bytes"] = stored_bytes(server, options).await?.into();
    println!("{line}");
    Ok(())
}

/// The approximate size of such an object in storage: that of its protobuf form, in bytes.
async fn stored_bytes(server: &Server, options: &Options) -> Result<usize, Failure> {
    let path = format!("{}/write-{}-0-0", config_maps(), options.clients);
    let read = server.read(&path, "application/vnd.kubernetes.protobuf");
    Ok(read.await?.len())
}

async fn write(
    server: &Server,
    options: &Options,
    client: usize,
    case: &str,
    limit: Duration,
) -> Result<Lags, Failure> {
    let (start, mut lags) = (Instant::now(), Lags::default());
    // Each client has its own names, and updates change the first of them.
    let own = format!("write-{}-{client}", options.clients);
    while start.elapsed() < limit {
        let begun = Instant::now();
        let count = lags.len();
        if case == "create" {
            let object = config_map(&format!("{own}-{count}"), "created");
            server.send(Method::POST, &config_maps(), &object).await?;
        } else {
            let name = format!("{own}-0");
            let object = config_map(&name, &format!("updated {count}"));
            let path = format!("{}/{name}", config_maps());
            server.send(Method::PUT, &path, &object).await?;
        }
        lags.push(begun.elapsed());
    }
    Ok(lags)
}
