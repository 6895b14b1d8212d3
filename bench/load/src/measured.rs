//! What a case of requests by several clients costs: a line of figures.

use crate::Failure;
use crate::lags::Lags;
use crate::server::Server;
use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

/// Lets all clients send their requests, and returns the case's line.
pub async fn measured<C>(
    server: &Server,
    case: &str,
    clients: impl IntoIterator<Item = C>,
) -> Result<Value, Failure>
where
    C: Future<Output = Result<Lags, Failure>>,
{
    let (start, cpu, beside) = (Instant::now(), server.cpu(), server.beside.cpu());
    let mut lags = Lags::default();
    for of_one in try_join_all(clients).await? {
        lags.extend(of_one);
    }
    let (count, seconds) = (lags.len(), start.elapsed().as_secs_f64());
    let mut line = json!({
        "case": case,
        "writes": count,
        "per_second": count as f64 / seconds,
        "cpu_microseconds": (server.cpu() - cpu) * 1e6 / count as f64,
        "beside_microseconds": (server.beside.cpu() - beside) * 1e6 / count as f64,
    });
    line["latency"] = lags.json();
    Ok(line)
}
