//! `Bench`: the phases of the measurement.

use super::definition::Numbered;
use super::{Arguments, Failure, LIVE};
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use kubist::client::Client;
use kubist::transport::Body;
use serde_json::Value;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The size limit of an answer: documents of many definitions are large.
const ANSWER_MAX: usize = 256 << 20;
/// The interval of attempts to read a new kind.
const ATTEMPTS: Duration = Duration::from_millis(1);
/// The time limit for a kind to be served, and for all definitions to be gone.
const PATIENCE: Duration = Duration::from_secs(120);
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Memory, in bytes.
#[derive(Clone, Copy)]
struct Memory {
    live: usize,
    resident: usize,
}

impl Memory {
    fn now() -> Result<Self, Failure> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix("kB"));
        let kilobytes: usize = kilobytes.ok_or("no VmRSS")?.trim().parse()?;
        Ok(Self {
            live: LIVE.allocated(),
            resident: kilobytes << 10,
        })
    }
}

pub(super) struct Bench<'a> {
    client: Client,
    options: &'a Arguments,
}

impl<'a> Bench<'a> {
    pub(super) fn new(client: Client, options: &'a Arguments) -> Self {
        Self { client, options }
    }

    pub(super) async fn run(&self) -> Result<(), Failure> {
        self.settle().await;
        let empty = Memory::now()?;
        println!("{:?}", self.options);
        println!("a definition has {} bytes", self.one(0).body().len());
        self.report("empty", empty)?;
        for round in 1..=self.options.rounds {
            self.create_all().await?;
            self.report("created", empty)?;
            self.settle().await;
            self.report(&format!("created, round {round}, settled"), empty)?;
            if self.options.documents {
                self.read_documents().await?;
                self.report("documents read", empty)?;
                self.settle().await;
                self.report("documents read, settled", empty)?;
            }
            self.delete_all().await?;
            self.report("deleted", empty)?;
            self.settle().await;
            self.report(&format!("deleted, round {round}, settled"), empty)?;
        }
        Ok(())
    }

    async fn settle(&self) {
        sleep(Duration::from_secs(self.options.settle)).await;
    }

    fn one(&self, number: usize) -> Numbered {
        Numbered {
            number,
            group: number / self.options.group_size.max(1),
        }
    }

    /// Prints memory, and how much more each definition has than at the start.
    fn report(&self, phase: &str, empty: Memory) -> Result<(), Failure> {
        let now = Memory::now()?;
        let count = self.options.count.max(1);
        let each = |now: usize, empty: usize| now.saturating_sub(empty) / count;
        println!(
            "{phase:32} live {:>11} B, {:>7} each; resident {:>11} B, {:>7} each",
            now.live,
            each(now.live, empty.live),
            now.resident,
            each(now.resident, empty.resident),
        );
        Ok(())
    }

    async fn create_all(&self) -> Result<(), Failure> {
        let mut times = Vec::with_capacity(self.options.count);
        for number in 0..self.options.count {
            let (it, start) = (self.one(number), Instant::now());
            let (status, body) = self.send(Method::POST, DEFINITIONS, it.body()).await?;
            if status != StatusCode::CREATED {
                return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
            }
            timeout(PATIENCE, self.served(&it)).await??;
            times.push(start.elapsed());
            if self.options.objects {
                let (status, body) = self.send(Method::POST, &it.path(), it.object()).await?;
                if status != StatusCode::CREATED {
                    return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
                }
            }
        }
        times.sort_unstable();
        let at = |share: f64| {
            // Truncated on purpose: an index.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a share of a small number"
            )]
            let index = (times.len() as f64 * share) as usize;
            times.get(index.min(times.len().saturating_sub(1)))
        };
        println!(
            "served after: p50 {:?}, p99 {:?}, worst {:?}",
            at(0.5),
            at(0.99),
            at(1.0)
        );
        Ok(())
    }

    async fn served(&self, it: &Numbered) -> Result<(), Failure> {
        while self.send(Method::GET, &it.path(), Bytes::new()).await?.0 != StatusCode::OK {
            sleep(ATTEMPTS).await;
        }
        Ok(())
    }

    async fn delete_all(&self) -> Result<(), Failure> {
        let start = Instant::now();
        for number in 0..self.options.count {
            let path = format!("{DEFINITIONS}/{}", self.one(number).name());
            let (status, body) = self.send(Method::DELETE, &path, Bytes::new()).await?;
            if status != StatusCode::OK {
                return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
            }
        }
        timeout(PATIENCE, self.gone()).await??;
        println!("deleted in {:?}", start.elapsed());
        Ok(())
    }

    async fn gone(&self) -> Result<(), Failure> {
        // One of them: a list of all would be decoded, and count.
        let path = format!("{DEFINITIONS}?limit=1");
        loop {
            let (_, body) = self.send(Method::GET, &path, Bytes::new()).await?;
            let list: Value = serde_json::from_slice(&body)?;
            if list["items"].as_array().is_none_or(Vec::is_empty) {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Reads the documents that kubectl reads, and the OpenAPI document of each group.
    async fn read_documents(&self) -> Result<(), Failure> {
        let start = Instant::now();
        for path in ["/apis", "/openapi/v2"] {
            self.send(Method::GET, path, Bytes::new()).await?;
        }
        let (_, body) = self.send(Method::GET, "/openapi/v3", Bytes::new()).await?;
        let index: Value = serde_json::from_slice(&body)?;
        let documents = index["paths"].as_object().into_iter().flatten();
        let mut bytes = 0;
        for (_, document) in documents {
            let path = document["serverRelativeURL"].as_str().unwrap_or_default();
            bytes += self.send(Method::GET, path, Bytes::new()).await?.1.len();
        }
        println!("read {bytes} B of documents in {:?}", start.elapsed());
        Ok(())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), Failure> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body))?;
        let response = self.client.transport().send(request).await?;
        let status = response.status();
        Ok((status, response.into_body().bytes(ANSWER_MAX).await?))
    }
}
