//! A TCP proxy that injects faults: it cuts connections, holds bytes back, and refuses service for
//! a while, on command or at random times drawn from a seed.
//!
//! It does not parse what it forwards, so a cut can fall anywhere: inside a frame, inside an object
//! or, where the faults allow it, inside a TLS handshake. It never reorders or changes bytes.

mod faults;
mod random;

pub use self::faults::Faults;
use self::random::Random;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A running proxy. Dropping it closes its connections.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl FaultProxy {
    /// Starts a proxy on a free loopback port. Without [`Faults`] it forwards everything until it
    /// is commanded otherwise.
    ///
    /// # Errors
    ///
    /// When no port is free.
    pub fn start(server: SocketAddr) -> io::Result<Self> {
        Self::with_faults(server, Faults::NONE, 0)
    }

    /// Starts a proxy that also injects these faults, at times drawn from the seed.
    ///
    /// # Errors
    ///
    /// When no port is free.
    pub fn with_faults(server: SocketAddr, faults: Faults, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let proxy = Self {
            address,
            shared: Arc::clone(&shared),
        };
        std::thread::spawn(move || accept(&listener, server, faults, Random(seed), &shared));
        Ok(proxy)
    }

    /// Returns the proxy's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the proxy's URL with this scheme.
    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    /// Returns how many connections the faults have cut.
    pub fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Relaxed)
    }

    /// Closes all connections. New ones are accepted.
    pub fn cut(&self) {
        self.shared.close_connections();
    }

    /// Holds all bytes back, in both directions, until [`open`](Self::open).
    pub fn hold(&self) {
        self.shared.lock().held = true;
    }

    /// Forwards bytes again, those held back first.
    pub fn open(&self) {
        self.shared.lock().held = false;
        self.shared.changed.notify_all();
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopped = true;
            state.held = false;
        }
        self.shared.close_connections();
        self.shared.changed.notify_all();
        // This wakes the accept loop. If it fails, the loop has ended.
        TcpStream::connect(self.address).ok();
    }
}

/// What the proxy's threads share with its handle.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    cuts: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    held: bool,
    stopped: bool,
    /// Both sockets of each open connection.
    connections: Vec<(u64, [TcpStream; 2])>,
    next: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_connections(&self) {
        for (_, sockets) in self.lock().connections.drain(..) {
            close(&sockets);
        }
    }

    /// Adds a connection and returns its number.
    fn add(&self, sockets: [TcpStream; 2]) -> u64 {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        if state.stopped {
            close(&sockets);
        } else {
            state.connections.push((number, sockets));
        }
        number
    }

    /// Closes a connection, if it is still open.
    fn remove(&self, number: u64) {
        let mut state = self.lock();
        let at = state.connections.iter().position(|it| it.0 == number);
        if let Some(at) = at {
            let (_, sockets) = state.connections.swap_remove(at);
            close(&sockets);
        }
    }

    /// Waits while bytes are held back.
    fn wait_until_open(&self) {
        let state = self.lock();
        drop(
            self.changed
                .wait_while(state, |it| it.held)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

fn close(sockets: &[TcpStream; 2]) {
    for socket in sockets {
        // The peer may have closed it already.
        socket.shutdown(Shutdown::Both).ok();
    }
}

fn accept(
    listener: &TcpListener,
    server: SocketAddr,
    faults: Faults,
    mut random: Random,
    shared: &Arc<Shared>,
) {
    // Nothing is ever sent on this channel: receiving from it is a timed wait.
    let (_sender, timer): (_, Receiver<()>) = sync_channel(0);
    for client in listener.incoming() {
        if shared.cuts.load(Ordering::Relaxed) > 0 {
            timer.recv_timeout(random.span(faults.outage_max)).ok();
        }
        if shared.lock().stopped {
            return;
        }
        let plan = Plan::draw(faults, &mut random);
        if let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) {
            // A connection that breaks during set-up counts as one that ended.
            carry(client, server, plan, shared).ok();
        }
    }
}

/// When one connection is cut.
struct Plan {
    bytes: u64,
    silence: Option<Duration>,
    cuts_max: u64,
}

impl Plan {
    fn draw(faults: Faults, random: &mut Random) -> Self {
        let bytes = faults.bytes_min + random.below(faults.bytes_max - faults.bytes_min);
        let silence = random.span(faults.silence_max);
        Self {
            bytes,
            silence: (!silence.is_zero()).then_some(silence),
            cuts_max: faults.cuts_max,
        }
    }

    /// Counts one more cut, unless the limit is reached.
    fn take(&self, shared: &Shared) -> bool {
        let one_more = |cuts| (cuts < self.cuts_max).then_some(cuts + 1);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        shared.cuts.fetch_update(set, fetch, one_more).is_ok()
    }
}

/// Forwards both directions, each on its own thread. When one ends, both do.
fn carry(client: TcpStream, server: TcpStream, plan: Plan, shared: &Arc<Shared>) -> io::Result<()> {
    let number = shared.add([client.try_clone()?, server.try_clone()?]);
    let requests = (client.try_clone()?, server.try_clone()?, Arc::clone(shared));
    std::thread::spawn(move || {
        let (client, server, shared) = requests;
        // However it ends, the other direction ends with it.
        forward(&client, &server, &shared).ok();
        shared.remove(number);
    });
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        forward_with_faults(&server, &client, &plan, &shared).ok();
        shared.remove(number);
    });
    Ok(())
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut buffer = [0; 16 << 10];
    loop {
        let size = from.read(&mut buffer)?;
        if size == 0 {
            return Ok(());
        }
        shared.wait_until_open();
        to.write_all(&buffer[..size])?;
    }
}

fn forward_with_faults(
    mut server: &TcpStream,
    mut client: &TcpStream,
    plan: &Plan,
    shared: &Shared,
) -> io::Result<()> {
    server.set_read_timeout(plan.silence)?;
    let mut buffer = [0; 4096];
    let mut forwarded = 0;
    let mut is_bounded = true;
    loop {
        let size = match server.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(size) => size,
            Err(error) if !is_timeout(&error) => return Err(error),
            Err(_) if plan.take(shared) => return Ok(()),
            Err(_) => {
                server.set_read_timeout(None)?;
                continue;
            }
        };
        shared.wait_until_open();
        forwarded += size as u64;
        if is_bounded && forwarded > plan.bytes {
            if plan.take(shared) {
                // The bytes below the limit are still sent, so that cuts fall inside of frames.
                let over = usize::try_from(forwarded - plan.bytes).unwrap_or(size);
                return client.write_all(&buffer[..size - over.min(size)]);
            }
            is_bounded = false;
        }
        client.write_all(&buffer[..size])?;
    }
}

/// Reports whether a read ended at its timeout; the kind differs between platforms.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a server that sends this many bytes on each connection.
    fn server(connections: usize, bytes: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for connection in listener.incoming().take(connections) {
                // A cut shows here as an error.
                connection.unwrap().write_all(&vec![7; bytes]).ok();
            }
        });
        address
    }

    /// Reads each connection to its end through a proxy; returns the sizes and the cuts.
    fn received(faults: Faults, connections: usize, bytes: usize) -> (Vec<usize>, u64) {
        let server = server(connections, bytes);
        let proxy = FaultProxy::with_faults(server, faults, 1).unwrap();
        let sizes = (0..connections).map(|_| {
            let mut bytes = Vec::new();
            let mut client = TcpStream::connect(proxy.address()).unwrap();
            client.read_to_end(&mut bytes).ok();
            bytes.len()
        });
        (sizes.collect(), proxy.cuts())
    }

    #[test]
    fn connections_are_cut_until_the_limit_is_reached() {
        let faults = Faults {
            bytes_min: 1_000,
            bytes_max: 9_000,
            cuts_max: 3,
            ..Faults::NONE
        };
        let (sizes, cuts) = received(faults, 5, 10_000);
        assert_eq!(cuts, 3);
        assert!(sizes[..3].iter().all(|size| *size < 9_000), "{sizes:?}");
        assert_eq!(sizes[3..], [10_000, 10_000]);
    }

    #[test]
    fn an_answer_below_the_limit_is_complete() {
        assert_eq!(received(Faults::GENTLE, 2, 16_000), (vec![16_000; 2], 0));
    }

    #[test]
    fn held_bytes_arrive_after_the_proxy_opens_unless_it_was_cut() {
        let proxy = FaultProxy::start(server(2, 100)).unwrap();
        proxy.hold();
        let wait = Some(Duration::from_millis(50));
        let mut bytes = [0; 100];
        for is_cut in [false, true] {
            let mut client = TcpStream::connect(proxy.address()).unwrap();
            client.set_read_timeout(wait).unwrap();
            client.read(&mut bytes).expect_err("nothing arrives yet");
            client.set_read_timeout(None).unwrap();
            if is_cut {
                proxy.cut();
                assert_eq!(client.read(&mut bytes).unwrap(), 0, "the end");
            } else {
                proxy.open();
                client.read_exact(&mut bytes).expect("all of it arrives");
                proxy.hold();
            }
        }
        assert_eq!(proxy.cuts(), 0, "only faults are counted");
    }
}
