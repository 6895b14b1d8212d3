//! Lists: the time until the response is read, and the server's CPU time for it.

use crate::Failure;
use crate::server::Server;
use clap::Args;
use kubist_apimachinery::wire::Encoding;
use kubist_codec::list_stream::ListStream;
use serde_json::json;
use tokio::time::Instant;

#[derive(Args)]
pub struct Options {
    /// The name of the case
    #[arg(long)]
    case: String,
    /// The path of the collection, with its query
    #[arg(long)]
    path: String,
    #[arg(long)]
    protobuf: bool,
    /// Objects in a page [default: all]
    #[arg(long)]
    limit: Option<u32>,
    #[arg(long, default_value_t = 5)]
    times: u32,
}

pub async fn run(server: &Server, options: &Options) -> Result<(), Failure> {
    // The first read is not measured.
    read(server, options).await?;
    let (cpu, start) = (server.cpu(), Instant::now());
    let (mut bytes, mut items) = (0, 0);
    for _ in 0..options.times {
        (bytes, items) = read(server, options).await?;
    }
    let times = f64::from(options.times);
    let line = json!({
        "case": options.case,
        "seconds": start.elapsed().as_secs_f64() / times,
        "cpu_seconds": (server.cpu() - cpu) / times,
        "bytes": bytes,
        "items": items,
    });
    println!("{line}");
    Ok(())
}

/// Returns the bytes and the objects of all pages.
async fn read(server: &Server, options: &Options) -> Result<(usize, usize), Failure> {
    let (accept, encoding) = if options.protobuf {
        ("application/vnd.kubernetes.protobuf", Encoding::Protobuf)
    } else {
        ("application/json", Encoding::Json)
    };
    let (mut bytes, mut items, mut next) = (0, 0, String::new());
    loop {
        let separator = if options.path.contains('?') { '&' } else { '?' };
        let path = match options.limit {
            Some(limit) => format!("{}{separator}limit={limit}&continue={next}", options.path),
            None => options.path.clone(),
        };
        let mut body = server.get(&path, accept).await?.into_body();
        let mut list = ListStream::new(encoding);
        while let Some(chunk) = body.chunk().await? {
            bytes += chunk.len();
            list.push(chunk);
            while list.next_item()?.is_some() {
                items += 1;
            }
        }
        next = list.finish()?.metadata.continue_.to_string();
        if next.is_empty() {
            return Ok((bytes, items));
        }
    }
}
