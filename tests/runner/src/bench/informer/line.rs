//! `Line`: a TCP relay between a peer and the server that can be held and cut.
//!
//! It does not parse what it forwards, so TLS passes through. While it is held, the server
//! continues without the peer; after a cut the peer reconnects and finds that it has missed more
//! than the server remembers.

use kubist_test_support::process::Outcome;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

const BUFFER: usize = 64 * 1024;

/// A relay to one server; it runs until the program ends.
pub(super) struct Line {
    pub(super) address: SocketAddr,
    wire: Arc<Wire>,
}

#[derive(Default)]
struct Wire {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    held: bool,
    streams: Vec<TcpStream>,
}

impl Wire {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let mut state = self.state();
        while state.held {
            state = self
                .released
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Line {
    pub(super) fn to(server: SocketAddr) -> Outcome<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let wire = Arc::new(Wire::default());
        let shared = Arc::clone(&wire);
        thread::spawn(move || {
            for peer in listener.incoming().flatten() {
                // The peer retries a connection that fails.
                drop(connect(peer, server, &shared));
            }
        });
        Ok(Self { address, wire })
    }

    /// Holds all bytes back from here on; connections stay open.
    pub(super) fn hold(&self) {
        self.wire.state().held = true;
    }

    /// Closes all connections, and forwards new ones.
    pub(super) fn cut(&self) {
        let mut state = self.wire.state();
        state.held = false;
        for stream in state.streams.drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
        self.wire.released.notify_all();
    }
}

fn connect(peer: TcpStream, server: SocketAddr, wire: &Arc<Wire>) -> std::io::Result<()> {
    wire.wait();
    let server = TcpStream::connect(server)?;
    peer.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let streams = [peer.try_clone()?, server.try_clone()?];
    wire.state().streams.extend(streams);
    for (from, to) in [(peer.try_clone()?, server.try_clone()?), (server, peer)] {
        let wire = Arc::clone(wire);
        thread::spawn(move || pass(from, to, &wire));
    }
    Ok(())
}

/// Forwards bytes until either end closes.
fn pass(mut from: TcpStream, mut to: TcpStream, wire: &Wire) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        wire.wait();
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_passes_never_after_a_cut_and_new_connections_do() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let line = Line::to(server.local_addr().unwrap()).unwrap();
        let mut peer = TcpStream::connect(line.address).unwrap();
        peer.write_all(b"one").unwrap();
        let (mut first, _) = server.accept().unwrap();
        let mut three = [0; 3];
        first.read_exact(&mut three).unwrap();
        assert_eq!(&three, b"one");

        line.hold();
        first.write_all(b"two").unwrap();
        line.cut();
        let mut rest = Vec::new();
        // Either is an end of the connection.
        peer.read_to_end(&mut rest).ok();
        assert!(rest.is_empty() || rest == b"two", "{rest:?}");

        let mut peer = TcpStream::connect(line.address).unwrap();
        let (mut second, _) = server.accept().unwrap();
        second.write_all(b"new").unwrap();
        peer.read_exact(&mut three).unwrap();
        assert_eq!(&three, b"new");
    }
}
