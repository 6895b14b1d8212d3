//! `kubist kube-apiserver`: `serve` with the flags and the defaults of a kube-apiserver, for
//! programs that start one: envtest, kubeadm, kind, kwokctl.

mod flags;

use self::flags::OfKubeApiserver;
use super::foreign_flags::ForeignFlags;
use super::{Outcome, serve, usage};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser};
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};

/// The flags as they are; they are parsed with other defaults than those of `serve`.
#[derive(Args, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct Options {
    #[arg(
        value_name = "FLAGS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        num_args = 0..
    )]
    flags: Vec<OsString>,
}

/// The flags of a kube-apiserver: those that `serve` has too, and a few more.
#[derive(Debug, Parser)]
#[command(
    name = "kube-apiserver",
    display_name = "Kubernetes",
    version = concat!("v1.36.0+kubist-", env!("CARGO_PKG_VERSION")),
    about = "Kubist's API server, with the flags and the defaults of a kube-apiserver",
    after_help = "\
Flags of a kube-apiserver that mean nothing here are accepted, and logged with --log-level info;
those without which the server would be another one are refused by name. There are no
controllers of workloads, as in a kube-apiserver, and no kubeconfig is written. Without --etcd-servers everything is in memory."
)]
struct Flags {
    /// The IP address to listen on
    #[arg(long, value_name = "IP", default_value = "0.0.0.0")]
    bind_address: IpAddr,
    /// The port to listen on
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    #[command(flatten)]
    foreign: ForeignFlags<OfKubeApiserver>,
    #[command(flatten)]
    serve: serve::Options,
}

/// The defaults of a kube-apiserver that differ from those of `serve`.
const DEFAULTS: [(&str, &str); 4] = [
    ("kubeconfig", ""),
    ("controllers", "local-apiservices"),
    ("authorization_mode", "AlwaysAllow"),
    ("allow_privileged", "false"),
];

impl Flags {
    fn parse_as_upstream(flags: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        for (name, value) in DEFAULTS {
            command = command.mut_arg(name, |arg| arg.default_value(value));
        }
        let program = OsString::from("kube-apiserver");
        let flags = flags.into_iter().map(long_verbosity);
        let matches = command.try_get_matches_from([program].into_iter().chain(flags))?;
        Self::from_arg_matches(&matches)
    }
}

/// Returns Go's short flag of how much is logged, `-v`, as the long one: here `-v` is another.
fn long_verbosity(flag: OsString) -> OsString {
    let short = flag.to_str().and_then(|it| it.strip_prefix("-v"));
    let level = short.map(|it| it.strip_prefix('=').unwrap_or(it));
    match level {
        Some("") => "--v".into(),
        Some(level) => format!("--v={level}").into(),
        None => flag,
    }
}

pub(crate) async fn run(options: Options) -> Outcome {
    let flags = match Flags::parse_as_upstream(options.flags) {
        Ok(flags) => flags,
        Err(error) => return Ok(usage::refuse(&error)),
    };
    let Flags {
        bind_address,
        secure_port,
        foreign,
        mut serve,
    } = flags;
    let listen = SocketAddr::new(bind_address, secure_port);
    serve.be_upstream(listen);
    serve::run_after(serve, || foreign.say()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(flags: &[&str]) -> Result<Flags, clap::Error> {
        Flags::parse_as_upstream(flags.iter().map(OsString::from).collect())
    }

    #[test]
    fn flags_of_envtest_kubeadm_kind_and_kwokctl_are_understood() {
        for flags in flags::USED {
            if let Err(error) = parsed(flags) {
                panic!("{flags:?}: {error}");
            }
        }
    }

    #[test]
    fn how_much_is_logged_is_said_as_in_go() {
        for flags in [&["-v=2"][..], &["-v2"], &["-v", "2"], &["--v=2"]] {
            let parsed = parsed(flags);
            assert!(parsed.is_ok(), "{flags:?}: {}", parsed.unwrap_err());
        }
        let error = parsed(&["-v=abc"]).unwrap_err().to_string();
        assert!(
            error.contains("--v=abc is not supported: it is a number"),
            "{error}"
        );
    }

    #[test]
    fn flag_that_would_make_another_server_is_refused_by_name() {
        for (flags, expected) in [
            (
                ["--egress-selector-config-file", "a.yaml"],
                "--egress-selector-config-file is not supported",
            ),
            (
                ["--no-such-flag", "1"],
                "unexpected argument '--no-such-flag'",
            ),
            (
                ["--service-cluster-ip-range", "x"],
                "must be an IPv4 network",
            ),
        ] {
            let error = parsed(&flags).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
