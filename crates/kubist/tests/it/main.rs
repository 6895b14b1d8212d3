//! The command as its users run it: arguments in; output, exit code and files out.

mod command;
mod controllers;
mod convert;
mod demo;
mod durable;
mod serve;
mod server;
mod watch;
