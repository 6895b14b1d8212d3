//! A proxy on the way to an etcd, which can cut its connections, hold them up, and be closed.

use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    /// Bytes are taken and not passed on.
    Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    mode: Mode,
    /// How often connections were cut.
    cuts: u64,
}

pub(crate) struct Proxy {
    address: SocketAddr,
    state: watch::Sender<State>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = Mode::Open;
        let (state, seen) = watch::channel(State { mode, cuts: 0 });
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                if let Ok(far) = TcpStream::connect(target).await {
                    connections.spawn(carry(near, far, seen.clone()));
                }
            }
        });
        Self {
            address,
            state,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Ends every connection that there is. New ones work.
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// From now on no byte comes through.
    pub(crate) fn hold(&self) {
        self.state.send_modify(|state| state.mode = Mode::Held);
    }

    /// Bytes come through again.
    pub(crate) fn open(&self) {
        self.state.send_modify(|state| state.mode = Mode::Open);
    }
}

async fn carry(near: TcpStream, far: TcpStream, mut seen: watch::Receiver<State>) {
    let cuts = seen.borrow().cuts;
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    let mut pipes = JoinSet::new();
    pipes.spawn(pipe(near_read, far_write, seen.clone()));
    pipes.spawn(pipe(far_read, near_write, seen.clone()));
    tokio::select! {
        _ = pipes.join_next() => {}
        _ = seen.wait_for(|state| state.cuts != cuts) => {}
    }
}

async fn pipe(
    mut from: impl AsyncReadExt + Unpin + Send,
    mut to: impl AsyncWriteExt + Unpin + Send,
    mut seen: watch::Receiver<State>,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let open = seen
            .wait_for(|state| state.mode == Mode::Open)
            .await
            .is_ok();
        if !open || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
