//! One address in front of several servers, as a load balancer of TCP: connections go in turn to
//! the servers that say that they are ready, and to any other that accepts them if none does.
//!
//! It breaks no connection by itself. A server that is paused keeps its connections; new ones go
//! elsewhere as soon as its health is known.

use kubist_test_support::process::Outcome;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often each server is asked whether it is ready, and how long its answer may take, in
/// seconds.
const ASK: Duration = Duration::from_secs(1);
const ANSWER: &str = "2";
/// So many answers in a row that say no, or none, make a server unhealthy.
const NO_MAX: u32 = 2;

/// A running balancer.
pub(super) struct Balancer {
    pub(super) address: SocketAddr,
    targets: Arc<Targets>,
}

type Targets = Mutex<Vec<Target>>;

#[derive(Clone, Copy)]
struct Target {
    address: SocketAddr,
    /// How often in a row it was not ready.
    no: u32,
}

fn lock(targets: &Targets) -> MutexGuard<'_, Vec<Target>> {
    targets.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Balancer {
    pub(super) fn start(servers: impl IntoIterator<Item = SocketAddr>) -> Outcome<Self> {
        let targets = servers.into_iter().map(|address| Target { address, no: 0 });
        let targets: Arc<Targets> = Arc::new(Mutex::new(targets.collect()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        for number in 0..lock(&targets).len() {
            let targets = Arc::downgrade(&targets);
            std::thread::spawn(move || observe(&targets, number));
        }
        let accepting = Arc::clone(&targets);
        std::thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { address, targets })
    }

    /// Replaces a server by one at another address.
    pub(super) fn replace(&self, number: usize, address: SocketAddr) {
        lock(&self.targets)[number] = Target { address, no: 0 };
    }
}

/// Asks a server for its health until the balancer is dropped.
fn observe(targets: &Weak<Targets>, number: usize) {
    while let Some(address) = targets.upgrade().map(|it| lock(&it)[number].address) {
        let status = Command::new("curl")
            .args(["--silent", "--insecure", "--fail", "--max-time", ANSWER])
            .args(["--output", "/dev/null"])
            .arg(format!("https://{address}/readyz"))
            .stdin(Stdio::null())
            .status();
        let is_ready = status.is_ok_and(|it| it.success());
        if let Some(targets) = targets.upgrade() {
            let target = &mut lock(&targets)[number];
            // It may have been replaced in the meantime.
            if target.address == address {
                target.no = if is_ready { 0 } else { target.no + 1 };
            }
        }
        std::thread::sleep(ASK);
    }
}

fn accept(listener: &TcpListener, targets: &Targets) {
    for (turn, near) in listener.incoming().flatten().enumerate() {
        let order = order(&lock(targets), turn);
        std::thread::spawn(move || {
            if let Some(far) = order.iter().find_map(|it| TcpStream::connect(it).ok()) {
                // However it ends, both sides are closed.
                carry(&near, &far).ok();
            }
        });
    }
}

/// Returns where a connection may go: first the healthy servers, from the one whose turn it is.
fn order(targets: &[Target], turn: usize) -> Vec<SocketAddr> {
    let mut targets = targets.to_vec();
    let count = targets.len().max(1);
    targets.rotate_left(turn % count);
    targets.sort_by_key(|it| it.no >= NO_MAX);
    targets.into_iter().map(|it| it.address).collect()
}

/// Forwards both directions. One of them can end before the other, as HTTP's connections do.
fn carry(near: &TcpStream, far: &TcpStream) -> std::io::Result<()> {
    for socket in [near, far] {
        socket.set_nodelay(true)?;
    }
    let (from, to) = (near.try_clone()?, far.try_clone()?);
    std::thread::spawn(move || forward(&from, &to));
    forward(far, near);
    Ok(())
}

fn forward(mut from: &TcpStream, mut to: &TcpStream) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                // The peer may have closed it already.
                to.shutdown(Shutdown::Write).ok();
                return;
            }
            Ok(size) if to.write_all(&buffer[..size]).is_ok() => {}
            Ok(_) | Err(_) => break,
        }
    }
    for socket in [from, to] {
        socket.shutdown(Shutdown::Both).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_in_turn_to_healthy_servers_and_to_others_last() {
        let target = |port, no| Target {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            no,
        };
        let ports = |targets: &[Target], turn| -> Vec<u16> {
            let order = order(targets, turn);
            order.iter().map(SocketAddr::port).collect()
        };
        let both = [target(1, 0), target(2, NO_MAX - 1)];
        assert_eq!(ports(&both, 0), [1, 2]);
        assert_eq!(ports(&both, 1), [2, 1]);
        let one = [target(1, NO_MAX), target(2, 0)];
        assert_eq!(ports(&one, 0), [2, 1]);
        assert_eq!(ports(&one, 1), [2, 1]);
    }

    #[test]
    fn a_connection_goes_on_to_a_server_that_accepts_it() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let gone = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (address, nowhere) = (server.local_addr().unwrap(), gone.local_addr().unwrap());
        drop(gone);
        let balancer = Balancer::start([nowhere, address]).unwrap();
        for _ in 0..2 {
            let mut near = TcpStream::connect(balancer.address).unwrap();
            near.write_all(b"question").unwrap();
            let (mut far, _) = server.accept().unwrap();
            let mut heard = [0; 8];
            far.read_exact(&mut heard).unwrap();
            far.write_all(b"answer").unwrap();
            drop(far);
            let mut answer = Vec::new();
            near.read_to_end(&mut answer).unwrap();
            assert_eq!((&heard, &answer[..]), (b"question", &b"answer"[..]));
        }
    }

    #[test]
    fn one_direction_goes_on_after_the_other_has_ended() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let balancer = Balancer::start([server.local_addr().unwrap()]).unwrap();
        let mut near = TcpStream::connect(balancer.address).unwrap();
        let (mut far, _) = server.accept().unwrap();
        far.shutdown(Shutdown::Write).unwrap();
        assert_eq!(near.read(&mut [0]).unwrap(), 0, "the end");
        near.write_all(b"last").unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        far.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"last");
    }
}
