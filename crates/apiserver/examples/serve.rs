//! Runs an in-memory API server until Ctrl-C: `cargo run -p kubist-apiserver --example serve --
//! PATH`.
//!
//! It writes a kubeconfig of the administrator to PATH (by default `kubeconfig` in the temporary
//! directory), and prints a line when it is ready. The second argument is the listen address, the
//! third a bearer token of the administrator. It demonstrates the library and is not the `kubist`
//! command.

#![expect(clippy::print_stdout, reason = "its one line of output")]

use kubist_apiserver::{ApiServer, Config, MASTERS_GROUP, RunningServer, StaticToken};
use kubist_registry::{Registry, RegistryConfig, User};
use kubist_storage::memory::MemoryKv;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .map_or_else(|| std::env::temp_dir().join("kubeconfig"), PathBuf::from);
    let mut config = Config::default();
    if let Some(address) = arguments.next() {
        config.listen = Some(address.parse()?);
    }
    config
        .tokens
        .extend(arguments.next().map(|token| StaticToken {
            token,
            user: User {
                name: "admin".into(),
                uid: "admin".into(),
                groups: vec![MASTERS_GROUP.into()],
                ..User::default()
            },
        }));

    let registry = Registry::new(RegistryConfig::new(
        Arc::new(MemoryKv::default()),
        kubist_kinds::BuiltIn::shared(),
    ));
    registry.start().await?;
    let server = ApiServer::bind(config, registry).await?;
    write_kubeconfig(&server, &path)?;
    println!("ready {} kubeconfig={}", server.url(), path.display());

    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}

/// JSON is valid YAML; PEM is base64 in it.
fn write_kubeconfig(server: &RunningServer, path: &Path) -> Result<(), Box<dyn Error>> {
    use base64::Engine;
    let admin = server.admin().ok_or("the server does not listen")?;
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let config = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kubist", "cluster": {
            "server": server.url(),
            "certificate-authority-data": base64(&server.ca_pem()),
        }}],
        "users": [{"name": "admin", "user": {
            "client-certificate-data": base64(&admin.certificate_pem),
            "client-key-data": base64(&admin.key_pem),
        }}],
        "contexts": [{"name": "kubist", "context": {"cluster": "kubist", "user": "admin"}}],
        "current-context": "kubist",
    });
    std::fs::write(path, serde_json::to_vec_pretty(&config)?)?;
    Ok(())
}
