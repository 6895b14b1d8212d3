//! What an operator tells about itself: metrics, health, and figures for people.
//!
//! [`Diagnostics`] collects what to tell: controllers and informers of a manager, a client, health
//! checks, and metrics of the program's own. [`Diagnostics::handle`] answers a request without a
//! socket; [`DiagnosticsServer`] serves it over HTTP.
//!
//! | path | what it has |
//! |---|---|
//! | `/metrics` | `OpenMetrics`, under the names of client-go and controller-runtime |
//! | `/healthz`, `/livez` | whether the process works; the liveness checks |
//! | `/readyz` | whether it is ready; the readiness checks |
//! | `/debug/controllers`, `/debug/informers` | figures as JSON |
//!
//! Health is told as by upstream's servers: `ok`, or 500 and the checks that fail; `?verbose` lists
//! all, `?exclude=NAME` leaves one out, and `/readyz/NAME` is one alone.
//!
//! Nothing is counted here: the figures are read when they are asked for. It is not a security
//! boundary: whoever reaches the port reads everything, so it listens on loopback by default.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod diagnostics;
mod figures;
mod health;
mod metrics;
mod server;

pub use diagnostics::Diagnostics;
pub use health::CheckResult;
pub use prometheus_client;
pub use server::{DiagnosticsServer, ServeError};
