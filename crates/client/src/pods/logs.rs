//! Logs of containers, as bytes or as lines.

use crate::Api;
use crate::error::ApiError;
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_util::stream::SelectAll;
use http::Method;
use http_body::Body as _;
use kubist_apimachinery::{MicroTime, Object, QueryPairs, Str, Time};
use kubist_transport::ResponseBody;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The longest line that is returned whole: 1 MiB. A longer one arrives in pieces, as several
/// lines.
pub const LOG_LINE_BYTES_MAX: usize = 1 << 20;

/// Which part of a log to read. The default is what a container has written so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct LogOptions {
    /// The containers. Empty: the only one, or the one that the annotation
    /// `kubectl.kubernetes.io/default-container` names. [`Api::log_lines`] merges several;
    /// [`Api::logs`] takes one.
    pub containers: Vec<Str>,
    /// Whether to go on with what is written from now on, until the container ends.
    pub follow: bool,
    /// Whether to read the log of the previous run of the container.
    pub previous: bool,
    /// Whether each line begins with its time. [`Api::log_lines`] then separates the two.
    pub timestamps: bool,
    /// Only what was written in this many seconds before now. Excludes `since_time`.
    pub since_seconds: Option<i64>,
    /// Only what was written from this time on.
    pub since_time: Option<Time>,
    /// Only this many lines from the end.
    pub tail_lines: Option<i64>,
    /// At most this many bytes; the last line may be cut.
    pub limit_bytes: Option<i64>,
    /// Only one of the two streams. It needs Kubernetes 1.32, and excludes `tail_lines`.
    pub stream: Option<LogSource>,
    /// Whether the API server may read from a kubelet whose certificate it cannot verify.
    pub insecure_skip_tls_verify_backend: bool,
}

/// One of a container's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a container has two")]
pub enum LogSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl LogOptions {
    fn to_query(&self, container: Option<&Str>) -> QueryPairs {
        let mut query = QueryPairs::new();
        let mut push = |key, value: Option<String>| query.extend(value.map(|it| (key, it)));
        let flag = |set: bool| set.then(|| "true".to_owned());
        let number = |value: Option<i64>| value.map(|it| it.to_string());
        push("container", container.map(ToString::to_string));
        push("follow", flag(self.follow));
        push("previous", flag(self.previous));
        push("timestamps", flag(self.timestamps));
        push("sinceSeconds", number(self.since_seconds));
        push("sinceTime", self.since_time.map(|it| it.to_string()));
        push("tailLines", number(self.tail_lines));
        push("limitBytes", number(self.limit_bytes));
        push(
            "stream",
            self.stream.map(|it| match it {
                LogSource::Stdout => "Stdout".to_owned(),
                LogSource::Stderr => "Stderr".to_owned(),
            }),
        );
        push(
            "insecureSkipTLSVerifyBackend",
            flag(self.insecure_skip_tls_verify_backend),
        );
        query
    }
}

impl<K: Object> Api<K> {
    /// Reads the log of one container of a Pod as bytes, as they arrive. For other kinds the server
    /// answers 404.
    ///
    /// Cancel safety: dropping the future or the stream cancels the request.
    ///
    /// # Errors
    /// [`is_bad_request`](ApiError::is_bad_request) if the container is not known or has not
    /// started, or if the Pod has several and none is named; the message lists them.
    pub async fn logs(&self, name: &str, options: &LogOptions) -> Result<LogStream, ApiError> {
        self.log_of(name, options, options.containers.first()).await
    }

    /// Reads the logs of one or several containers of a Pod as lines, merged as they arrive.
    ///
    /// ```
    /// # use futures_util::StreamExt as _;
    /// # use kubist_api::core::v1::Pod;
    /// # use kubist_client::{Api, ApiError, LogOptions};
    /// # async fn example(pods: Api<Pod>) -> Result<(), ApiError> {
    /// let options = LogOptions {
    ///     containers: vec!["web".into(), "proxy".into()],
    ///     follow: true,
    ///     timestamps: true,
    ///     ..LogOptions::default()
    /// };
    /// let mut lines = pods.log_lines("web-0", &options).await?;
    /// while let Some(line) = lines.next().await {
    ///     let line = line?;
    ///     println!("{} {}", line.container, line.text);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// Cancel safety: dropping the future or the stream cancels the requests.
    ///
    /// # Errors
    /// The first error of [`Self::logs`]; later ones are items of the stream, and end the lines of
    /// their container only.
    pub async fn log_lines(&self, name: &str, options: &LogOptions) -> Result<LogLines, ApiError> {
        let mut containers: Vec<Option<&Str>> = options.containers.iter().map(Some).collect();
        if containers.is_empty() {
            containers.push(None);
        }
        let mut all = SelectAll::new();
        for container in containers {
            let stream = self.log_of(name, options, container).await?;
            all.push(LinesOfOne {
                stream,
                container: container.cloned().unwrap_or_default(),
                timestamps: options.timestamps,
                buffer: BytesMut::new(),
                searched: 0,
                is_over: false,
            });
        }
        Ok(LogLines { all })
    }

    async fn log_of(
        &self,
        name: &str,
        options: &LogOptions,
        container: Option<&Str>,
    ) -> Result<LogStream, ApiError> {
        let mut target = self.endpoint.target(Some(name));
        target.subresource = "log";
        let uri = target.uri(&options.to_query(container))?;
        // Not only text: a server without the log answers with a Status.
        let request = crate::request::build(Method::GET, &uri, "*/*", None)?;
        let request_name = crate::request::name_of(&request);
        let client = self.client();
        let response = client
            .send_to(request, Some(target), client.retries_max())
            .await?;
        Ok(LogStream {
            body: response.into_body(),
            request: request_name,
        })
    }
}

/// A log as bytes, as they arrive. It ends when the log does, which for a followed log is when the
/// container ends.
#[derive(Debug)]
pub struct LogStream {
    body: ResponseBody,
    request: Str,
}

impl LogStream {
    /// Returns the next bytes; `None` at the end.
    ///
    /// Cancel safety: dropping the future loses nothing.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let chunk = self.body.chunk().await;
        chunk.map_err(|error| ApiError::transport(&self.request, error))
    }

    /// Reads to the end and returns it as text; bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The connection broke, or there are more than `bytes_max` bytes.
    pub async fn text(self, bytes_max: usize) -> Result<String, ApiError> {
        let bytes = self.body.bytes(bytes_max).await;
        let bytes = bytes.map_err(|error| ApiError::transport(&self.request, error))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ApiError>>> {
        loop {
            return match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => Poll::Ready(Some(Ok(data))),
                    Err(_) => continue,
                },
                Poll::Ready(Some(Err(error))) => {
                    Poll::Ready(Some(Err(ApiError::transport(&self.request, error))))
                }
            };
        }
    }
}

/// One line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogLine {
    /// The container, if one was named.
    pub container: Str,
    /// When it was written, if times were requested; to the microsecond.
    pub time: Option<MicroTime>,
    /// The line without its end; bytes that are not UTF-8 are replaced.
    pub text: String,
}

impl LogLine {
    fn read(container: &Str, timestamps: bool, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let timed = timestamps.then(|| text.split_once(' ').unwrap_or((&text, "")));
        let timed = timed.and_then(|(time, rest)| Some((time_of(time)?, rest)));
        let (time, text) = match timed {
            Some((time, rest)) => (Some(time), rest.to_owned()),
            None => (None, text.into_owned()),
        };
        Self {
            container: container.clone(),
            time,
            text,
        }
    }
}

/// Reads a time with any number of digits after the second: kubelets write nine, without zeros at
/// the end.
fn time_of(text: &str) -> Option<MicroTime> {
    let is_digit = |it: &char| it.is_ascii_digit();
    let (second, rest) = text.split_at_checked("2006-01-02T15:04:05".len())?;
    let digits = rest.strip_prefix('.').unwrap_or_default().chars();
    let digits = digits.take_while(is_digit);
    let zone = rest.trim_start_matches(|it: char| it == '.' || it.is_ascii_digit());
    let micros: String = digits.chain("000000".chars()).take(6).collect();
    format!("{second}.{micros}{zone}").parse().ok()
}

/// The lines of one or several logs, in the order in which they arrive.
pub struct LogLines {
    all: SelectAll<LinesOfOne>,
}

impl Stream for LogLines {
    type Item = Result<LogLine, ApiError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Pin::new(&mut self.all).poll_next(cx)
    }
}

impl fmt::Debug for LogLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.all.len();
        f.debug_struct("LogLines").field("open", &open).finish()
    }
}

struct LinesOfOne {
    stream: LogStream,
    container: Str,
    timestamps: bool,
    buffer: BytesMut,
    /// The first bytes of the buffer, in which there is no line end.
    searched: usize,
    is_over: bool,
}

impl LinesOfOne {
    /// Takes a complete line, or as much as one may have.
    fn take(&mut self) -> Option<LogLine> {
        let end = self.buffer[self.searched..]
            .iter()
            .position(|it| *it == b'\n');
        let (line, skip) = match end.map(|it| it + self.searched) {
            Some(end) if end <= LOG_LINE_BYTES_MAX => (end, 1),
            None if self.buffer.len() <= LOG_LINE_BYTES_MAX => {
                self.searched = self.buffer.len();
                return None;
            }
            _ => (LOG_LINE_BYTES_MAX, 0),
        };
        let bytes = self.buffer.split_to(line + skip);
        self.searched = 0;
        let line = bytes[..line].strip_suffix(b"\r").unwrap_or(&bytes[..line]);
        Some(LogLine::read(&self.container, self.timestamps, line))
    }
}

impl Stream for LinesOfOne {
    type Item = Result<LogLine, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(line) = this.take() {
                return Poll::Ready(Some(Ok(line)));
            }
            if this.is_over {
                let rest = this.buffer.split();
                let line = || LogLine::read(&this.container, this.timestamps, &rest);
                this.searched = 0;
                return Poll::Ready((!rest.is_empty()).then(|| Ok(line())));
            }
            match this.stream.poll_chunk(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(chunk))) => this.buffer.extend_from_slice(&chunk),
                Poll::Ready(None) => this.is_over = true,
                Poll::Ready(Some(Err(error))) => {
                    this.is_over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}
