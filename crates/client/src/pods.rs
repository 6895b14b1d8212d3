//! What happens inside of Pods: logs, exec, attach, port forwarding, and copying files.
//!
//! Logs are an ordinary response. The others are connections of their own over WebSocket, with the
//! kubelet's channels. SPDY, the protocol before it, is not spoken: a server that offers nothing
//! else is refused by name. The feature `ws` has everything but the logs and the copies, and
//! `cp` those.

#[cfg(feature = "cp")]
mod copy;
#[cfg(feature = "ws")]
mod exec;
mod logs;
#[cfg(feature = "ws")]
mod pod_stream_error;
#[cfg(feature = "ws")]
mod port_forward;
#[cfg(feature = "ws")]
mod process;
#[cfg(feature = "ws")]
mod session;
#[cfg(feature = "ws")]
mod socket;

#[cfg(feature = "cp")]
pub use copy::{Copied, CopyError, CopyOptions};
#[cfg(feature = "ws")]
pub use exec::ExecOptions;
pub use logs::{LOG_LINE_BYTES_MAX, LogLine, LogLines, LogOptions, LogSource, LogStream};
#[cfg(feature = "ws")]
pub use pod_stream_error::PodStreamError;
#[cfg(feature = "ws")]
pub use port_forward::{PortForwarder, PortStream};
#[cfg(feature = "ws")]
pub use process::{AttachedProcess, ExitStatus, Stderr, Stdin, Stdout, TerminalSize};
