//! Serves the webhooks; `manifests` prints what makes an API server ask them.

mod manifests;
#[cfg(test)]
mod tests;
mod v1;
mod v2;
mod webhooks;

use crate::manifests::{NAME, NAMESPACE};
use kubist::apimachinery::wire::to_manifest;
use kubist::codec::yaml::to_yaml;
use kubist::controller::shutdown_on_signal;
use kubist::custom_resource::CustomResource as _;
use kubist::webhook::{
    CertificateConfig, CertificateManager, InjectInto, ServerConfig, WebhookServer,
};
use std::error::Error;
use std::io::Write as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("manifests") {
        let documents = [
            to_yaml(&to_manifest(&manifests::definition()?)),
            to_yaml(&to_manifest(&manifests::validating())),
            to_yaml(&to_manifest(&manifests::mutating())),
        ];
        return Ok(std::io::stdout().write_all(documents.join("---\n").as_bytes())?);
    }
    tracing_subscriber::fmt().init();
    let mut config = CertificateConfig::new(NAMESPACE, NAME, NAME);
    config.inject_into = vec![
        InjectInto::Validating(NAME.into()),
        InjectInto::Mutating(NAME.into()),
        InjectInto::Conversion(v2::Website::definition_name().into()),
    ];
    let certificates = CertificateManager::start(kubist::infer()?, config).await?;
    let certificate = certificates.certificate();
    let webhooks = webhooks::webhooks();
    let server = WebhookServer::bind(webhooks, certificate, ServerConfig::default()).await?;
    let token = shutdown_on_signal()?;
    tokio::join!(certificates.run(token.clone()), server.serve(token));
    Ok(())
}
