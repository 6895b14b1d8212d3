//! Tests kube and k8s-openapi with Kubist's crates, against Kubist's server.
//!
//! `kubist-interop-kube KUBECONFIG CHECK`: one check per run, in a namespace of its own; prints
//! nothing if it passes.

mod admission;
mod events;
mod held;
mod transport;
mod webhook;

use kubist_client::{Client, Config};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A failure.
pub type Failure = Box<dyn std::error::Error>;

/// The time limit of everything.
const LIMIT: Duration = Duration::from_secs(60);

/// One server, with both clients.
pub struct Both {
    /// Kubist's client.
    pub ours: Client,
    /// kube's client, over Kubist's transport.
    pub kube: kube::Client,
    /// The namespace of the check.
    pub namespace: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("which kubeconfig?")?;
    let check = arguments.next().ok_or("which check?")?;
    let both = connect(kubeconfig.clone().into(), &check).await?;
    let done = async {
        match check.as_str() {
            "k8s-openapi" => held::k8s_openapi(&both).await,
            "derived" => held::derived(&both).await,
            "transport" => transport::under_kube(&both).await,
            "reflector" => events::feed_reflector(&both).await,
            "controller" => events::feed_controller(&both).await,
            "admission" => admission::obeyed(&both, Path::new(&kubeconfig)).await,
            other => Err(format!("no check {other:?}").into()),
        }
    };
    tokio::time::timeout(LIMIT, done)
        .await
        .map_err(|_| format!("not done within {LIMIT:?}"))?
}

/// Creates the clients and the namespace.
async fn connect(kubeconfig: PathBuf, check: &str) -> Result<Both, Failure> {
    let options = Options {
        file: Some(kubeconfig),
        ..Options::default()
    };
    let config = infer(&options, &Environment::default())?;
    let transport = Transport::new(config.transport)?;
    let kube = kube::Client::new(transport.service(), "default");
    let ours = Client::new(transport, Config::default());
    let namespace = format!("kube-{check}");
    let made = serde_json::from_value(serde_json::json!({"metadata": {"name": namespace}}))?;
    kubist_client::Api::<k8s_openapi::api::core::v1::Namespace>::all(ours.clone())
        .create(&made)
        .await?;
    Ok(Both {
        ours,
        kube,
        namespace,
    })
}

/// Fails with the value, unless it is the expected one.
pub fn expect<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    expected: T,
) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}").into())
}
