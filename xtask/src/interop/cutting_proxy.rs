//! A proxy that cuts connections: it passes bytes on, and after so many of the server's, or after a
//! silence, closes both sides. A seed says when.
//!
//! It knows nothing of what it carries, so cuts fall anywhere: in a frame, in an object, and, where
//! it is rough, in a handshake. It does not delay, reorder or change anything.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::process::Outcome;

/// When connections are cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// After so many bytes from the server at the least.
    pub(super) bytes_min: u64,
    /// And at the most.
    pub(super) bytes_max: u64,
    /// After a silence of the server of at most this long; zero for never.
    pub(super) silence_max: Duration,
    /// Later connections wait for this long at the most before they are served.
    pub(super) outage_max: Duration,
    /// No more cuts than this.
    pub(super) total_max: u64,
}

impl Cuts {
    /// In mid-stream only, after a part of a watch has come through (a handshake and a full record
    /// of TLS are 21 kB): whoever resumes where it was
    /// misses nothing and need not list again.
    pub(super) const GENTLE: Self = Self {
        bytes_min: 24_000,
        bytes_max: 44_000,
        silence_max: Duration::ZERO,
        outage_max: Duration::ZERO,
        total_max: 100,
    };
    /// Anywhere: in handshakes, in lists, in silence.
    pub(super) const ROUGH: Self = Self {
        bytes_min: 100,
        bytes_max: 40_000,
        silence_max: Duration::from_millis(400),
        outage_max: Duration::ZERO,
        total_max: 12,
    };
    /// In mid-stream, and then for a while there is no way to the server, which may have forgotten
    /// what happened in the meantime.
    pub(super) const OUTAGES: Self = Self {
        bytes_min: 8_000,
        bytes_max: 24_000,
        silence_max: Duration::ZERO,
        outage_max: Duration::from_millis(500),
        total_max: 8,
    };
}

/// A proxy that runs until it is dropped.
pub(super) struct CuttingProxy {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    cut: Arc<AtomicU64>,
}

impl CuttingProxy {
    /// Starts one on a free port of loopback.
    pub(super) fn start(server: SocketAddr, cuts: Cuts, seed: u64) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let proxy = Self {
            address: listener.local_addr()?,
            stopped: Arc::default(),
            cut: Arc::default(),
        };
        let (stopped, cut) = (Arc::clone(&proxy.stopped), Arc::clone(&proxy.cut));
        let mut random = Random(seed);
        std::thread::spawn(move || {
            // Nobody ever sends: waiting for it is to let time pass.
            let (_never, time) = sync_channel::<()>(0);
            for client in listener.incoming() {
                if cut.load(Ordering::Relaxed) > 0 {
                    time.recv_timeout(random.span(cuts.outage_max)).ok();
                }
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let plan = Plan::draw(cuts, &mut random, &cut);
                if let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) {
                    // A connection that breaks while it is set up is a cut like any other.
                    carry(client, server, plan).ok();
                }
            }
        });
        Ok(proxy)
    }

    /// `https://ADDR`.
    pub(super) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// How many connections were cut.
    pub(super) fn cuts(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }
}

impl Drop for CuttingProxy {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // It wakes up for this one; if it cannot be reached it has ended.
        TcpStream::connect(self.address).ok();
    }
}

/// When one connection is cut.
struct Plan {
    bytes: u64,
    silence: Option<Duration>,
    total_max: u64,
    cut: Arc<AtomicU64>,
}

impl Plan {
    fn draw(cuts: Cuts, random: &mut Random, cut: &Arc<AtomicU64>) -> Self {
        let bytes = cuts.bytes_min + random.below(cuts.bytes_max - cuts.bytes_min);
        let silence = random.span(cuts.silence_max);
        let silence = (!silence.is_zero()).then_some(silence);
        Self {
            bytes,
            silence,
            total_max: cuts.total_max,
            cut: Arc::clone(cut),
        }
    }

    /// Whether there may be one more; if so, this is it.
    fn take(&self) -> bool {
        let one_more = |cut| (cut < self.total_max).then_some(cut + 1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        self.cut.fetch_update(set, fetch, one_more).is_ok()
    }
}

/// Both directions, each on a thread that ends with the connection.
fn carry(client: TcpStream, server: TcpStream, plan: Plan) -> std::io::Result<()> {
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    std::thread::spawn(move || {
        // However it ends, the other direction ends with it.
        std::io::copy(&mut from_client, &mut to_server).ok();
        to_server.shutdown(Shutdown::Both).ok();
    });
    std::thread::spawn(move || {
        answer(&server, &client, &plan).ok();
        client.shutdown(Shutdown::Both).ok();
        server.shutdown(Shutdown::Both).ok();
    });
    Ok(())
}

fn answer(mut server: &TcpStream, mut client: &TcpStream, plan: &Plan) -> std::io::Result<()> {
    server.set_read_timeout(plan.silence)?;
    let mut buffer = [0; 4096];
    let mut passed = 0;
    let mut is_bounded = true;
    loop {
        let size = match server.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(size) => size,
            Err(_) if plan.take() => return Ok(()),
            Err(_) => {
                server.set_read_timeout(None)?;
                continue;
            }
        };
        passed += size as u64;
        if is_bounded && passed > plan.bytes {
            if plan.take() {
                // What is below the limit still goes out: cuts fall inside of frames.
                let over = usize::try_from(passed - plan.bytes).unwrap_or(size);
                return client.write_all(&buffer[..size - over.min(size)]);
            }
            is_bounded = false;
        }
        client.write_all(&buffer[..size])?;
    }
}

/// Numbers from a seed (`SplitMix64`).
struct Random(u64);

impl Random {
    /// From a millisecond to `most`; none at all if that is zero.
    fn span(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        match most {
            0 => Duration::ZERO,
            _ => Duration::from_millis(1 + self.below(most)),
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers each connection with so many bytes, and a client that counts them.
    fn received(cuts: Cuts, connections: usize, answer: usize) -> (Vec<usize>, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for connection in listener.incoming().take(connections) {
                // A cut shows here as an error.
                connection.unwrap().write_all(&vec![7; answer]).ok();
            }
        });
        let proxy = CuttingProxy::start(address, cuts, 1).unwrap();
        let sizes = (0..connections).map(|_| {
            let mut bytes = Vec::new();
            let mut client = TcpStream::connect(proxy.address).unwrap();
            client.read_to_end(&mut bytes).ok();
            bytes.len()
        });
        (sizes.collect(), proxy.cuts())
    }

    #[test]
    fn a_connection_is_cut_after_its_bytes_and_later_ones_are_not() {
        let cuts = Cuts {
            bytes_min: 1_000,
            bytes_max: 9_000,
            silence_max: Duration::ZERO,
            outage_max: Duration::ZERO,
            total_max: 3,
        };
        let (sizes, cut) = received(cuts, 5, 10_000);
        assert_eq!(cut, 3);
        assert!(sizes[..3].iter().all(|size| *size < 9_000), "{sizes:?}");
        assert_eq!(sizes[3..], [10_000, 10_000]);
    }

    #[test]
    fn what_ends_before_its_limit_is_whole() {
        assert_eq!(received(Cuts::GENTLE, 2, 16_000), (vec![16_000; 2], 0));
    }
}
