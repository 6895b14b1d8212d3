//! The servers that programs of other projects are run against: Kubist's, and a kube-apiserver in
//! the same surroundings.

use super::server::Server;
use crate::upstream::{Programs, Upstream, self_signed, service_account_key};
use kubist_test_support::process::Outcome;
use std::path::{Path, PathBuf};

/// The administrator's token on the kube-apiserver.
const TOKEN: &str = "conformance";

/// One of the two servers.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    /// The `kubist` binary.
    Kubist(&'a Path),
    Upstream(Programs<'a>),
}

/// What a server does besides serving objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    /// No controllers: an object is what its clients make of it. The kube-apiserver has no
    /// admission of service accounts, since nothing creates them; that is how envtest starts it.
    Alone,
    /// A kube-controller-manager is there.
    Controllers,
}

/// A running server. Dropping it stops it.
pub(super) struct Running {
    /// The path of its administrator's kubeconfig.
    pub(super) kubeconfig: PathBuf,
    /// The path of the key that signs service account tokens.
    pub(super) key: PathBuf,
    /// Whose certificates it believes.
    pub(super) authority: Authority,
    _server: Either,
}

/// An authority that a controller signs certificates of clients with.
pub(super) struct Authority {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Authority {
    fn new(folder: &Path) -> Outcome<Self> {
        let (certificate, key) = (folder.join("clients.pem"), folder.join("clients-key.pem"));
        self_signed((&certificate, &key), "/CN=clients", &[])?;
        Ok(Self { certificate, key })
    }
}

#[expect(dead_code, reason = "the server is only held until it is dropped")]
enum Either {
    Kubist(Server),
    Upstream(Upstream),
}

impl Subject<'_> {
    /// The name of its folders.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Kubist(_) => "kubist",
            Self::Upstream(_) => "upstream",
        }
    }

    /// Starts an empty server, with files in an emptied folder.
    pub(super) fn start(&self, surroundings: Surroundings, folder: &Path) -> Outcome<Running> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        let kubeconfig = folder.join("kubeconfig");
        let authority = Authority::new(folder)?;
        let clients = authority.certificate.display().to_string();
        match *self {
            Self::Kubist(binary) => {
                let key = service_account_key(folder)?;
                let file = key.display().to_string();
                let mut arguments = vec!["--controllers", "none"];
                arguments.extend(["--service-account-key-file", file.as_str()]);
                arguments.extend(["--service-account-signing-key-file", file.as_str()]);
                arguments.extend(["--client-ca-file", clients.as_str()]);
                if surroundings == Surroundings::Controllers {
                    arguments.extend(["--enable-admission-plugins", "ServiceAccount"]);
                }
                let server = Server::start(binary, &kubeconfig, &arguments)?;
                Ok(Running {
                    kubeconfig,
                    key,
                    authority,
                    _server: Either::Kubist(server),
                })
            }
            Self::Upstream(programs) => {
                // Webhooks are reached by the addresses of their Pods: there is no kube-proxy.
                let mut arguments = vec!["--authorization-mode", "RBAC"];
                arguments.push("--enable-aggregator-routing=true");
                arguments.extend(["--client-ca-file", clients.as_str()]);
                if surroundings == Surroundings::Alone {
                    arguments.extend(["--disable-admission-plugins", "ServiceAccount"]);
                }
                let server = Upstream::start(programs, folder, TOKEN, &arguments)?;
                server.write_kubeconfig(TOKEN, &kubeconfig)?;
                Ok(Running {
                    kubeconfig,
                    key: folder.join("key.pem"),
                    authority,
                    _server: Either::Upstream(server),
                })
            }
        }
    }
}
