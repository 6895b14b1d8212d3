//! Waits until a server answers for the first time.

use crate::Failure;
use crate::server::Server;
use clap::Args;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The pause between attempts.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value = "/readyz")]
    path: String,
    /// The time limit
    #[arg(long, default_value_t = 120.0)]
    seconds: f64,
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(options.seconds));
    loop {
        let answer = server.get(&options.path, "*/*").await;
        let elapsed = start.elapsed();
        match answer {
            Ok(_) => {
                println!(
                    "{}",
                    json!({"case": "ready", "seconds": elapsed.as_secs_f64()})
                );
                return Ok(());
            }
            Err(error) if elapsed > limit => return Err(error),
            Err(_) => sleep(PAUSE).await,
        }
    }
}
