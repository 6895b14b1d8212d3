//! Options of an etcd cluster, named as upstream's.

use clap::Args;
use kubist::EtcdServers;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(super) struct EtcdOptions {
    /// The members of the etcd cluster that stores everything
    #[arg(
        long = "etcd-servers",
        value_name = "URL",
        value_delimiter = ',',
        conflicts_with = "data_dir"
    )]
    servers: Vec<String>,
    /// The prefix of all keys in etcd
    #[arg(
        long = "etcd-prefix",
        value_name = "PREFIX",
        default_value = "/registry",
        requires = "servers"
    )]
    prefix: String,
    /// The certificate authorities of etcd, as PEM; by default the system's
    #[arg(long = "etcd-cafile", value_name = "FILE", requires = "servers")]
    ca_file: Option<PathBuf>,
    /// The client certificate for etcd, as PEM
    #[arg(long = "etcd-certfile", value_name = "FILE", requires_all = ["servers", "key_file"])]
    cert_file: Option<PathBuf>,
    /// The key of that certificate, as PEM
    #[arg(long = "etcd-keyfile", value_name = "FILE", requires_all = ["servers", "cert_file"])]
    key_file: Option<PathBuf>,
}

impl EtcdOptions {
    pub(super) fn servers(self) -> Option<EtcdServers> {
        (!self.servers.is_empty()).then_some(EtcdServers {
            servers: self.servers,
            prefix: self.prefix,
            ca_file: self.ca_file,
            cert_file: self.cert_file,
            key_file: self.key_file,
        })
    }
}
