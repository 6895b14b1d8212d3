//! The same random requests to a real etcd 3.6 and to this server: the responses are equal.
//!
//! `KUBIST_ETCD_3_6` names the binary; the default is the one that `cargo xtask interop` builds.
//! Where a request writes several keys, etcd takes one revision and this server several: the other
//! store then gets as many writes of a key outside the test.

use crate::client::{Client, Server, delete, operation, put, range};
use kubist_etcd_api as api;
use kubist_etcd_api::{CompareOperand, CompareResult, CompareTarget};
use prost::Message;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tonic::Status;

const SEEDS: u64 = 12;
const STEPS: usize = 250;
/// Lower than all keys of the test.
const FILLER: &str = "\u{1}";

#[tokio::test]
async fn responses_to_random_requests_are_those_of_an_etcd() {
    let Some(etcd) = RealEtcd::start().await else {
        return;
    };
    for seed in 1..=SEEDS {
        let ours = Server::start().await;
        let mut pair = Pair {
            theirs: Client::connect(&etcd.url).await,
            ours: ours.client().await,
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            revision: 1,
            compacted: 0,
            torn: BTreeSet::new(),
            prefix: format!("s{seed}/"),
            offset: 0,
        };
        pair.align().await;
        for step in 0..STEPS {
            pair.step(&format!("seed {seed}, step {step}")).await;
        }
    }
}

/// Both servers, with the state that requests refer to.
struct Pair {
    theirs: Client,
    ours: Client,
    random: Random,
    revision: i64,
    compacted: i64,
    /// Revisions inside a request of several writes: their states differ.
    torn: BTreeSet<i64>,
    prefix: String,
    /// What the other store was ahead at the start.
    offset: i64,
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }
}

/// What is compared of a response.
trait Comparable: Message + Default + PartialEq + Debug + 'static {
    fn header(&mut self) -> &mut Option<api::ResponseHeader>;

    /// Number of writes.
    fn writes(&self) -> i64 {
        0
    }

    /// Removes what may differ; `late` is by how much the revision is higher here.
    fn normalize(&mut self, _late: i64) {}
}

macro_rules! comparable {
    ($($message:ident: $writes:expr),* $(,)?) => {$(
        impl Comparable for api::$message {
            fn header(&mut self) -> &mut Option<api::ResponseHeader> {
                &mut self.header
            }

            fn writes(&self) -> i64 {
                let writes: fn(&Self) -> i64 = $writes;
                writes(self)
            }
        }
    )*};
}

comparable! {
    RangeResponse: |_| 0,
    PutResponse: |_| 1,
    DeleteRangeResponse: |it| it.deleted,
    CompactionResponse: |_| 0,
    LeaseGrantResponse: |_| 0,
    LeaseRevokeResponse: |_| 0,
}

impl Comparable for api::TxnResponse {
    fn header(&mut self) -> &mut Option<api::ResponseHeader> {
        &mut self.header
    }

    fn writes(&self) -> i64 {
        self.responses.iter().map(writes_of).sum()
    }

    /// Of several writes, those after the first have other revisions.
    fn normalize(&mut self, _: i64) {
        if self.writes() < 2 {
            return;
        }
        for response in &mut self.responses {
            let header = match response.response.as_mut().unwrap() {
                api::OperationResponse::Range(it) => &mut it.header,
                api::OperationResponse::Put(it) => &mut it.header,
                api::OperationResponse::Delete(it) => &mut it.header,
                api::OperationResponse::Txn(it) => &mut it.header,
            };
            *header = None;
        }
    }
}

fn writes_of(response: &api::ResponseOp) -> i64 {
    match &response.response {
        Some(api::OperationResponse::Put(_)) => 1,
        Some(api::OperationResponse::Delete(it)) => it.deleted,
        _ => 0,
    }
}

impl Comparable for api::LeaseTimeToLiveResponse {
    fn header(&mut self) -> &mut Option<api::ResponseHeader> {
        &mut self.header
    }

    fn normalize(&mut self, _: i64) {
        self.ttl = self.ttl.signum();
        self.keys.sort();
    }
}

impl Pair {
    /// Brings both stores to the same revision.
    async fn align(&mut self) {
        let revisions = [
            self.theirs.put(FILLER, "").await,
            self.ours.put(FILLER, "").await,
        ];
        let [theirs, ours] = revisions.map(|it| it.header.unwrap().revision);
        for _ in ours..theirs {
            self.ours.put(FILLER, "").await;
        }
        self.revision = theirs;
        self.compacted = theirs;
        self.offset = theirs;
    }

    async fn step(&mut self, at: &str) {
        match self.random.below(20) {
            0..5 => {
                let request = self.range();
                self.both::<_, api::RangeResponse>(at, api::RANGE, request)
                    .await;
            }
            5..9 => {
                let request = self.put();
                self.both::<_, api::PutResponse>(at, api::PUT, request)
                    .await;
            }
            9..11 => {
                let request = self.delete();
                self.both::<_, api::DeleteRangeResponse>(at, api::DELETE_RANGE, request)
                    .await;
            }
            11..17 => {
                let request = self.txn();
                self.both::<_, api::TxnResponse>(at, api::TXN, request)
                    .await;
            }
            17 => {
                let revision = self.past();
                if self.random.percent(30) && !self.torn.contains(&revision) {
                    let request = api::CompactionRequest {
                        revision,
                        physical: false,
                    };
                    let path = api::COMPACT;
                    if self
                        .both::<_, api::CompactionResponse>(at, path, request)
                        .await
                    {
                        self.compacted = revision;
                    }
                }
            }
            18 => {
                let request = api::LeaseGrantRequest {
                    ttl: 1000,
                    id: self.lease(),
                };
                self.both::<_, api::LeaseGrantResponse>(at, api::LEASE_GRANT, request)
                    .await;
            }
            _ => self.lease_step(at).await,
        }
    }

    async fn lease_step(&mut self, at: &str) {
        let id = self.lease();
        if self.random.percent(30) {
            let request = api::LeaseTimeToLiveRequest { id, keys: true };
            let ask = api::LeaseTimeToLiveRequest { id, keys: true };
            // A revocation deletes the keys, in one revision there and in several here.
            let status = self
                .ours
                .call::<_, api::LeaseTimeToLiveResponse>(api::LEASE_TIME_TO_LIVE, ask);
            let keys = status.await.unwrap().keys.len();
            self.both::<_, api::LeaseTimeToLiveResponse>(at, api::LEASE_TIME_TO_LIVE, request)
                .await;
            if keys < 2 {
                let request = api::LeaseRevokeRequest { id };
                self.both::<_, api::LeaseRevokeResponse>(at, api::LEASE_REVOKE, request)
                    .await;
                self.revision = self.ours.put(FILLER, "").await.header.unwrap().revision;
                self.theirs.put(FILLER, "").await;
            }
        }
    }

    /// Sends a request to both, and compares. True if they did it.
    async fn both<Q, A>(&mut self, at: &str, path: &'static str, request: Q) -> bool
    where
        Q: Message + Clone + Debug + 'static,
        A: Comparable,
    {
        let theirs = self.theirs.call::<Q, A>(path, request.clone()).await;
        let ours = self.ours.call::<Q, A>(path, request.clone()).await;
        let writes = ours.as_ref().map_or(0, Comparable::writes);
        let (theirs, ours) = (bare(theirs, 0), bare(ours, (writes - 1).max(0)));
        assert_eq!(ours, theirs, "{at}: {path} {request:?}");
        let Ok(mut response) = theirs else {
            return false;
        };
        let Some(header) = response.header().take() else {
            return true;
        };
        self.revision = header.revision;
        // Where etcd took one revision, it gets the others.
        for _ in 1..writes {
            self.torn.insert(self.revision);
            self.revision = self.theirs.put(FILLER, "").await.header.unwrap().revision;
        }
        true
    }

    fn key(&mut self) -> String {
        format!("{}k{}", self.prefix, self.random.below(6))
    }

    fn lease(&mut self) -> i64 {
        // Ids are of the whole store, and that of the others is not emptied between seeds.
        self.offset * 10 + 1 + i64::try_from(self.random.below(4)).unwrap()
    }

    /// A revision between the last compaction and now, or a little beyond.
    fn past(&mut self) -> i64 {
        let span = u64::try_from(self.revision - self.compacted + 3).unwrap();
        self.compacted - 1 + i64::try_from(self.random.below(span)).unwrap()
    }

    fn end(&mut self) -> String {
        match self.random.below(4) {
            0 => String::new(),
            1 => format!("{}l", self.prefix),
            _ => self.key(),
        }
    }

    fn range(&mut self) -> api::RangeRequest {
        let (key, end) = (self.key(), self.end());
        let mut request = range(&key, &end);
        if self.random.percent(30) {
            let at = self.past();
            if !self.torn.contains(&at) {
                request.revision = at;
            }
        }
        if self.random.percent(40) {
            request.limit = i64::try_from(self.random.below(4)).unwrap();
        }
        if self.random.percent(30) {
            // A value can be equal, which leaves the order open.
            request.sort_target = [0, 2, 3][usize::try_from(self.random.below(3)).unwrap()];
            request.sort_order = i32::try_from(self.random.below(3)).unwrap();
        }
        if self.random.percent(20) {
            request.min_mod_revision = self.past();
        }
        if self.random.percent(10) {
            request.max_create_revision = self.past();
        }
        request.count_only = self.random.percent(10);
        request.keys_only = self.random.percent(10);
        request
    }

    fn put(&mut self) -> api::PutRequest {
        let key = self.key();
        let value = self.random.below(1000).to_string();
        let mut request = put(&key, &value);
        request.prev_kv = self.random.percent(30);
        if self.random.percent(15) {
            request.lease = self.lease();
        }
        if self.random.percent(15) {
            request.ignore_value = true;
            if self.random.percent(70) {
                request.value.clear();
            }
        }
        request.ignore_lease = self.random.percent(15);
        request
    }

    fn delete(&mut self) -> api::DeleteRangeRequest {
        let (key, end) = (self.key(), self.end());
        let mut request = delete(&key, &end);
        request.prev_kv = self.random.percent(50);
        request
    }

    fn txn(&mut self) -> api::TxnRequest {
        let compare = (0..self.random.below(3)).map(|_| self.compare()).collect();
        let success = self.branch();
        let failure = self.branch();
        api::TxnRequest {
            compare,
            success,
            failure,
        }
    }

    /// At most one put, or any deletes: the revisions of several puts would differ.
    fn branch(&mut self) -> Vec<api::RequestOp> {
        let puts = self.random.percent(60);
        let mut operations = Vec::new();
        let mut has_put = false;
        for _ in 0..self.random.below(4) {
            if self.random.percent(40) {
                let mut request = self.range();
                request.revision = 0;
                operations.push(operation(api::Operation::Range(request)));
            } else if !puts {
                let request = self.delete();
                operations.push(operation(api::Operation::Delete(request)));
            } else if !has_put {
                has_put = true;
                let request = self.put();
                operations.push(operation(api::Operation::Put(request)));
            }
        }
        operations
    }

    fn compare(&mut self) -> api::Compare {
        let small = i64::try_from(self.random.below(4)).unwrap();
        let past = if self.random.percent(30) {
            0
        } else {
            self.past()
        };
        let (target, operand) = match self.random.below(5) {
            0 => (CompareTarget::Version, CompareOperand::Version(small)),
            1 => (CompareTarget::Create, CompareOperand::CreateRevision(past)),
            2 => (CompareTarget::Mod, CompareOperand::ModRevision(past)),
            3 => (CompareTarget::Value, CompareOperand::Value("5".into())),
            _ => (CompareTarget::Lease, CompareOperand::Lease(self.lease())),
        };
        let result = i32::try_from(self.random.below(4)).unwrap();
        api::Compare {
            result: CompareResult::try_from(result).unwrap().into(),
            target: target.into(),
            key: self.key().into(),
            operand: self.random.percent(90).then_some(operand),
            ..api::Compare::default()
        }
    }
}

/// What two responses have in common; `late` is by how much the revision is higher here.
fn bare<A: Comparable>(response: Result<A, Status>, late: i64) -> Result<A, (i32, String)> {
    let mut response = response.map_err(|it| (it.code().into(), it.message().to_owned()))?;
    response.normalize(late);
    if let Some(header) = response.header() {
        *header = api::ResponseHeader {
            revision: header.revision - late,
            ..api::ResponseHeader::default()
        };
    }
    Ok(response)
}

/// A process. Dropping it kills it.
struct RealEtcd {
    url: String,
    child: Child,
    _folder: TempDir,
}

impl RealEtcd {
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    async fn start() -> Option<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop/etcd");
        let binary = std::env::var_os("KUBIST_ETCD_3_6").map_or(built, PathBuf::from);
        if !binary.is_file() {
            let required = std::env::var_os("KUBIST_ETCD_REQUIRED").is_some();
            assert!(!required, "no etcd at {}", binary.display());
            eprintln!(
                "skipped: no etcd at {}; set KUBIST_ETCD_3_6",
                binary.display()
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (client, peer) = (free_address(), free_address());
        let (url, peer) = (format!("http://{client}"), format!("http://{peer}"));
        let child = Command::new(&binary)
            .args(["--name", "a", "--log-level", "error", "--unsafe-no-fsync"])
            .arg("--data-dir")
            .arg(folder.path())
            .args([
                "--listen-client-urls",
                &url,
                "--advertise-client-urls",
                &url,
            ])
            .args([
                "--listen-peer-urls",
                &peer,
                "--initial-advertise-peer-urls",
                &peer,
            ])
            .args(["--initial-cluster", &format!("a={peer}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let etcd = Self {
            url,
            child,
            _folder: folder,
        };
        for _ in 0..300 {
            if TcpStream::connect(client).await.is_ok() {
                return Some(etcd);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the etcd does not start");
    }
}

impl Drop for RealEtcd {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}
