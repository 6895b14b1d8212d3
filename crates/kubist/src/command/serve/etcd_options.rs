//! Options of an etcd cluster, named as upstream's.

use clap::Args;
use kubist::{EtcdOverrides, EtcdServers};
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
    /// Built-in resources that other etcd clusters store, such as /events#http://10.0.0.7:2379; the
    /// certificates and the prefix are the same
    #[arg(
        long = "etcd-servers-overrides",
        value_name = "GROUP/RESOURCE#URL;URL,...",
        default_value = "",
        hide_default_value = true,
        requires = "servers"
    )]
    overrides: EtcdOverrides,
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
            overrides: self.overrides,
        })
    }
}
