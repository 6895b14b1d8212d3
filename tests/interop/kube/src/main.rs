//! kube and k8s-openapi on our crates, against a server of ours.
//!
//! `kubist-interop-kube KUBECONFIG CHECK`: one check a run, in a namespace of its own; silent if it
//! passes.

mod events;
mod held;
mod transport;

use kubist_client::{Client, Config};
use kubist_kubeconfig::{Environment, Options, infer};
use kubist_transport::Transport;
use std::path::PathBuf;
use std::time::Duration;

/// What went wrong.
pub type Failure = Box<dyn std::error::Error>;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);

/// One server, seen from both sides.
pub struct Both {
    /// Our client.
    pub ours: Client,
    /// kube's, over our transport.
    pub kube: kube::Client,
    /// Where the check works.
    pub namespace: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("which kubeconfig?")?;
    let check = arguments.next().ok_or("which check?")?;
    let both = connect(kubeconfig.into(), &check).await?;
    let done = async {
        match check.as_str() {
            "k8s-openapi" => held::k8s_openapi(&both).await,
            "derived" => held::derived(&both).await,
            "transport" => transport::under_kube(&both).await,
            "reflector" => events::feed_reflector(&both).await,
            "controller" => events::feed_controller(&both).await,
            other => Err(format!("no check {other:?}").into()),
        }
    };
    tokio::time::timeout(LIMIT, done)
        .await
        .map_err(|_| format!("not done within {LIMIT:?}"))?
}

/// Clients of the server, and the namespace.
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

/// Fails with what was found, unless it is as expected.
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
