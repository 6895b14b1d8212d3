//! The server's end of SPDY/3.1: streams to a process, and forwarded ports.
//!
//! kubectl speaks it for port-forward, within a WebSocket if it can, and for exec and attach if
//! WebSockets fail. Streams are answered one frame at a time, so what is held is bounded; a client
//! that does not read is not read from.

mod frame;
mod headers;
#[cfg(test)]
mod samples;

use self::frame::Frame;
use self::headers::{HeaderReader, HeaderWriter};
use super::process::{Output, Process};
use super::session::{IDLE_MAX, exit_status};
use super::target::Streams;
use std::collections::BTreeMap;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// The streams of a connection at a time.
const STREAMS_MAX: usize = 256;

/// A connection whose streams are not yet known.
struct Connection<S> {
    stream: S,
    reader: HeaderReader,
    writer: HeaderWriter,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn new(stream: S) -> Self {
        Self {
            stream,
            reader: HeaderReader::new(),
            writer: HeaderWriter::default(),
        }
    }

    async fn next(&mut self) -> io::Result<Option<Frame>> {
        match timeout(IDLE_MAX, Frame::read(&mut self.stream)).await {
            Ok(frame) => frame,
            Err(_) => Ok(None),
        }
    }

    async fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame).await?;
        self.stream.flush().await
    }

    /// Accepts a stream; returns its headers.
    async fn accept(&mut self, stream: u32, block: &[u8]) -> io::Result<BTreeMap<String, String>> {
        let headers = self.reader.read(block).map_err(io::Error::other)?;
        let empty = self.writer.empty();
        self.write(&frame::reply(stream, &empty)).await?;
        Ok(headers.into_iter().collect())
    }
}

/// What a forwarded stream is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Forwarded {
    /// Carries errors of the request with this id.
    Errors(String),
    Data(String),
}

/// Serves forwarded ports: whatever is sent to one comes back.
pub(super) async fn forward(stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut connection = Connection::new(stream);
    let mut streams: BTreeMap<u32, Forwarded> = BTreeMap::new();
    while let Some(frame) = connection.next().await? {
        match frame {
            Frame::Open { stream, headers } => {
                let headers = connection.accept(stream, &headers).await?;
                let of = |name: &str| headers.get(name).cloned().unwrap_or_default();
                let request = of("requestid");
                if streams.len() >= STREAMS_MAX {
                    connection
                        .write(&frame::reset(stream, frame::REFUSED))
                        .await?;
                } else if of("streamtype") == "error" {
                    streams.insert(stream, Forwarded::Errors(request));
                } else {
                    streams.insert(stream, Forwarded::Data(request));
                }
            }
            Frame::Data {
                stream,
                bytes,
                is_last,
            } => {
                let Some(Forwarded::Data(request)) = streams.get(&stream) else {
                    continue;
                };
                let errors = Forwarded::Errors(request.clone());
                if !bytes.is_empty() || is_last {
                    connection
                        .write(&frame::data(stream, &bytes, is_last))
                        .await?;
                }
                if is_last {
                    streams.remove(&stream);
                    let errors = streams.iter().find(|(_, it)| **it == errors);
                    if let Some(errors) = errors.map(|(id, _)| *id) {
                        streams.remove(&errors);
                        connection.write(&frame::data(errors, b"", true)).await?;
                    }
                }
            }
            Frame::Reset { stream } => {
                streams.remove(&stream);
            }
            Frame::Ping(id) => connection.write(&frame::pong(id)).await?,
            Frame::GoAway => break,
            Frame::Other => {}
        }
    }
    connection.stream.shutdown().await
}

/// The streams of a process.
#[derive(Debug, Default)]
struct Opened {
    stdin: Option<u32>,
    stdout: Option<u32>,
    stderr: Option<u32>,
    error: Option<u32>,
}

impl Opened {
    fn add(&mut self, kind: &str, stream: u32) {
        match kind {
            "stdin" => self.stdin = Some(stream),
            "stdout" => self.stdout = Some(stream),
            "stderr" => self.stderr = Some(stream),
            "error" => self.error = Some(stream),
            _ => {}
        }
    }

    fn has_all(&self, wanted: Streams) -> bool {
        let has = |wanted: bool, stream: Option<u32>| !wanted || stream.is_some();
        has(wanted.stdin, self.stdin)
            && has(wanted.stdout, self.stdout)
            && has(wanted.stderr, self.stderr)
            && self.error.is_some()
    }
}

/// Serves a process until it ends, the client leaves, or `ended` completes.
pub(super) async fn run(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    wanted: Streams,
    mut process: Process,
    begin: Vec<Output>,
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut connection = Connection::new(stream);
    let mut opened = Opened::default();
    let mut begin = Some(begin);
    let work = async {
        while let Some(frame) = connection.next().await? {
            let output = match frame {
                Frame::Open { stream, headers } => {
                    let headers = connection.accept(stream, &headers).await?;
                    let kind = headers.get("streamtype").map(String::as_str);
                    opened.add(kind.unwrap_or_default(), stream);
                    if opened.has_all(wanted) {
                        begin.take().unwrap_or_default()
                    } else {
                        Vec::new()
                    }
                }
                Frame::Data {
                    stream,
                    bytes,
                    is_last,
                } if opened.stdin == Some(stream) => {
                    let mut output = process.input(&bytes);
                    if is_last {
                        output.extend(process.end());
                    }
                    output
                }
                Frame::Ping(id) => {
                    connection.write(&frame::pong(id)).await?;
                    Vec::new()
                }
                Frame::GoAway => return Ok::<(), io::Error>(()),
                _ => Vec::new(),
            };
            if write(&mut connection, &opened, output).await? {
                return Ok(());
            }
        }
        Ok(())
    };
    let done = tokio::select! {
        done = work => Some(done),
        () = ended => None,
    };
    match done {
        Some(done) => done?,
        // What is being written may be cut: the connection ends with the container.
        None => {
            write(&mut connection, &opened, vec![Output::Exit(0)]).await?;
        }
    }
    connection.stream.shutdown().await
}

/// Writes output; true after the exit code.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    connection: &mut Connection<S>,
    opened: &Opened,
    output: Vec<Output>,
) -> io::Result<bool> {
    for part in output {
        let (stream, bytes) = match part {
            Output::Stdout(bytes) => (opened.stdout, bytes),
            Output::Stderr(bytes) => (opened.stderr.or(opened.stdout), bytes),
            Output::Exit(code) => {
                for stream in [opened.stdout, opened.stderr].into_iter().flatten() {
                    connection.write(&frame::data(stream, b"", true)).await?;
                }
                if let Some(error) = opened.error {
                    let status = exit_status(code);
                    let frame = frame::data(error, status.as_bytes(), true);
                    connection.write(&frame).await?;
                }
                return Ok(true);
            }
        };
        if let Some(stream) = stream {
            connection
                .write(&frame::data(stream, &bytes, false))
                .await?;
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::process::Named;
    use super::samples::{FIRST, SECOND, bytes};
    use super::*;
    use kubist_api::core::v1::Pod;
    use tokio::io::{AsyncReadExt as _, DuplexStream};

    /// A frame that opens a stream.
    fn open(stream: u32, headers: &[u8]) -> Vec<u8> {
        let length = u32::try_from(10 + headers.len()).expect("it is short");
        let mut frame = vec![0x80, 3, 0, 1, 0];
        frame.extend(&length.to_be_bytes()[1..]);
        frame.extend(stream.to_be_bytes());
        frame.extend([0; 6]);
        frame.extend(headers);
        frame
    }

    async fn send(client: &mut DuplexStream, frame: &[u8]) {
        client.write_all(frame).await.expect("it reads");
    }

    async fn next(client: &mut DuplexStream) -> Frame {
        let frame = Frame::read(client).await.expect("a frame");
        frame.expect("it goes on")
    }

    fn data(stream: u32, bytes: &[u8], is_last: bool) -> Frame {
        Frame::Data {
            stream,
            bytes: bytes.to_vec(),
            is_last,
        }
    }

    #[tokio::test]
    async fn a_forwarded_stream_echoes_and_ends_with_its_errors() {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let served = forward(server);
        let talk = async {
            send(&mut client, &open(1, &bytes(FIRST))).await;
            assert_eq!(next(&mut client).await, Frame::Other, "a reply");
            send(&mut client, &frame::data(1, b"", true)).await;
            send(&mut client, &open(3, &bytes(SECOND))).await;
            assert_eq!(next(&mut client).await, Frame::Other, "a reply");
            send(&mut client, &frame::pong(9)).await;
            assert_eq!(next(&mut client).await, Frame::Ping(9));
            send(&mut client, &frame::data(3, b"hello", false)).await;
            assert_eq!(next(&mut client).await, data(3, b"hello", false));
            send(&mut client, &frame::data(3, b"", true)).await;
            assert_eq!(next(&mut client).await, data(3, b"", true));
            assert_eq!(next(&mut client).await, data(1, b"", true));
            client.shutdown().await.expect("it is open");
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).await.expect("it ends");
            assert_eq!(rest, b"");
        };
        let (served, ()) = tokio::join!(served, talk);
        served.expect("no error");
    }

    #[tokio::test]
    async fn a_process_begins_when_its_streams_are_open() {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let named = Named::new(&Pod::default(), "main");
        let (process, begin) = Process::start(named, &["false".to_owned()], false, false);
        let served = run(
            server,
            Streams::default(),
            process,
            begin,
            std::future::pending(),
        );
        let talk = async {
            send(&mut client, &open(1, &bytes(FIRST))).await;
            assert_eq!(next(&mut client).await, Frame::Other, "a reply");
            let expected = data(1, exit_status(1).as_bytes(), true);
            assert_eq!(next(&mut client).await, expected);
        };
        let (served, ()) = tokio::join!(served, talk);
        served.expect("no error");
    }

    #[tokio::test]
    async fn streams_are_limited() {
        let (client, server) = tokio::io::duplex(1 << 10);
        let served = forward(server);
        let talk = async {
            let (mut reader, mut writer) = tokio::io::split(client);
            let write = async {
                let mut headers = HeaderWriter::default();
                for number in 0..=u32::try_from(STREAMS_MAX).expect("it is small") {
                    let stream = open(1 + 2 * number, &headers.empty());
                    writer.write_all(&stream).await.expect("it reads");
                }
                writer.shutdown().await.expect("it is open");
            };
            let read = async {
                let mut refused = 0;
                while let Some(frame) = Frame::read(&mut reader).await.expect("a frame") {
                    refused += u32::from(matches!(frame, Frame::Reset { .. }));
                }
                refused
            };
            let ((), refused) = tokio::join!(write, read);
            refused
        };
        let (served, refused) = tokio::join!(served, talk);
        served.expect("no error");
        assert_eq!(refused, 1);
    }
}
