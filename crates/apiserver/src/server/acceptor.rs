//! `Acceptor`: accepts connections from the listener and from this process up to the limit, and
//! evicts idle ones (`eviction.rs`) for a connection that waits.

use super::activity::Activity;
use super::connection::{Caller, Connections};
use super::eviction::Evictor;
use super::in_process;
use super::in_process_stream::InProcessStream;
use crate::authentication::peer::{Chain, Peer};
use crate::shutdown::Shutdown;
use socket2::{SockRef, TcpKeepalive};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Pause after the operating system refused to accept, for example for lack of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// Pause before eviction is tried again for a connection that waits.
const ROOM_RETRY: Duration = Duration::from_secs(1);

/// A connection that is accepted but not served yet.
enum PendingConnection {
    Tls(TcpStream, TlsAcceptor),
    Plain(InProcessStream),
}

/// Accepts connections and serves each in its own task.
pub(super) struct Acceptor {
    pub(super) listener: Option<(TcpListener, TlsAcceptor)>,
    pub(super) connections_max: usize,
    pub(super) connections: Arc<Connections>,
    pub(super) keep_alive: TcpKeepalive,
    pub(super) write_timeout: Duration,
    pub(super) waiting: mpsc::Receiver<InProcessStream>,
    /// From this process: they do not count towards the limit.
    pub(super) own_waiting: mpsc::Receiver<InProcessStream>,
    pub(super) evictor: Evictor,
    pub(super) tasks: JoinSet<()>,
    pub(super) own_tasks: JoinSet<()>,
}

impl Acceptor {
    /// Accepts until shutdown, then waits up to the drain timeout for the open connections.
    pub(super) async fn run(mut self, shutdown: Shutdown, drain_timeout: Duration) {
        // At most one waits here; the others wait in the backlog or the channel.
        let mut newcomer = None;
        // Whether eviction was tried for that connection since the last change.
        let mut looked = false;
        loop {
            if self.tasks.len() < self.connections_max {
                if let Some(newcomer) = newcomer.take() {
                    self.serve(newcomer);
                }
                looked = false;
            } else if newcomer.is_some() && !looked {
                self.evictor.evict_one();
                looked = true;
            }
            let nobody = newcomer.is_none();
            let own_room = self.own_tasks.len() < in_process::STREAMS_MAX;
            tokio::select! {
                // The order is fixed, so that simulations are deterministic.
                biased;
                () = shutdown.closing() => break,
                Some(_) = self.tasks.join_next() => looked = false,
                Some(_) = self.own_tasks.join_next() => {}
                Some(incoming) = self.own_waiting.recv(), if own_room => {
                    let activity = self.connections.open();
                    self.own_tasks.spawn(served(&self.connections, incoming, activity));
                }
                Some(incoming) = self.waiting.recv(), if nobody => {
                    newcomer = Some(PendingConnection::Plain(incoming));
                }
                accepted = accept(self.listener.as_ref()), if nobody => {
                    let (stream, tls) = accepted;
                    newcomer = Some(PendingConnection::Tls(stream, tls));
                }
                () = tokio::time::sleep(ROOM_RETRY), if !nobody => looked = false,
            }
        }
        drop((self.listener, newcomer));
        let (tasks, own_tasks) = (&mut self.tasks, &mut self.own_tasks);
        let drained = async {
            while tasks.join_next().await.is_some() {}
            while own_tasks.join_next().await.is_some() {}
        };
        // Dropping the set aborts what has not ended by then.
        drop(tokio::time::timeout(drain_timeout, drained).await);
    }

    fn serve(&mut self, newcomer: PendingConnection) {
        let activity = self.connections.open();
        self.evictor.track(&activity);
        match newcomer {
            PendingConnection::Tls(stream, tls) => self.serve_tls(stream, tls, activity),
            PendingConnection::Plain(incoming) => {
                let served = served(&self.connections, incoming, activity);
                self.tasks.spawn(served);
            }
        }
    }

    fn serve_tls(&mut self, stream: TcpStream, tls: TlsAcceptor, activity: Arc<Activity>) {
        let connections = Arc::clone(&self.connections);
        let source = stream.peer_addr().ok();
        // A delayed segment is a delayed event. The connection works even if the socket refuses an
        // option.
        drop(stream.set_nodelay(true));
        self.notice_end(&stream);
        self.tasks.spawn(async move {
            let handshake = tokio::time::timeout(connections.header_timeout(), tls.accept(stream));
            let shaken = tokio::select! {
                biased;
                shaken = handshake => shaken.ok().and_then(Result::ok),
                () = activity.evicted() => None,
            };
            // A client that does not speak TLS, or hangs, only affects itself.
            let Some(stream) = shaken else {
                connections.handshake_failed();
                return;
            };
            let peer = match stream.get_ref().1.peer_certificates() {
                Some(chain) if !chain.is_empty() => {
                    let owned = chain.iter().map(|it| it.clone().into_owned());
                    Peer::Certificates(Arc::new(Chain::new(owned.collect())))
                }
                _ => Peer::Unknown,
            };
            let caller = Caller { peer, source };
            connections.serve(stream, caller, activity).await;
        });
    }

    /// Makes the operating system detect clients that vanished, both on idle connections and when
    /// sent data is not acknowledged.
    fn notice_end(&self, stream: &TcpStream) {
        let socket = SockRef::from(stream);
        drop(socket.set_tcp_keepalive(&self.keep_alive));
        #[cfg(target_os = "linux")]
        drop(socket.set_tcp_user_timeout(Some(self.write_timeout)));
    }
}

/// Serves a stream from this process.
fn served(
    connections: &Arc<Connections>,
    incoming: InProcessStream,
    activity: Arc<Activity>,
) -> impl Future<Output = ()> + use<> {
    let connections = Arc::clone(connections);
    let caller = Caller {
        peer: Peer::Trusted(Arc::new(incoming.user)),
        source: None,
    };
    // Its user is known before the first request.
    activity.client_state().mark_authenticated();
    async move { connections.serve(incoming.stream, caller, activity).await }
}

/// Accepts the next connection; pending forever without a listener.
async fn accept(listener: Option<&(TcpListener, TlsAcceptor)>) -> (TcpStream, TlsAcceptor) {
    let Some((listener, tls)) = listener else {
        return std::future::pending().await;
    };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, tls.clone()),
            Err(_) => tokio::time::sleep(ACCEPT_RETRY).await,
        }
    }
}
