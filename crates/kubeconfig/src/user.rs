//! Conversion of a user entry into a transport's credentials.

use crate::error::KubeconfigError;
use crate::exec;
use crate::kubeconfig::{NamedCluster, NamedUser, User};
use crate::select::Entry;
use kubist_transport::{Auth, Config, Identity, Impersonate};

impl NamedUser {
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry {
            list: "users",
            name: &self.name,
            origin: &self.origin,
        }
    }
}

pub(crate) fn configure(
    transport: &mut Config,
    named: &NamedUser,
    cluster: &NamedCluster,
) -> Result<(), KubeconfigError> {
    let user = &named.user;
    transport.tls.identity = identity(named)?;
    transport.auth = auth(transport, named, cluster)?;
    transport.impersonate = impersonate(named.entry(), user)?;
    Ok(())
}

fn identity(named: &NamedUser) -> Result<Option<Identity>, KubeconfigError> {
    let (entry, user) = (named.entry(), &named.user);
    let certificate = entry.pem(
        "client-certificate",
        &user.client_certificate_data,
        &user.client_certificate,
    )?;
    let key = entry.pem(
        "client-key",
        user.client_key_data.reveal(),
        &user.client_key,
    )?;
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(Identity { certificate, key })),
        (Some(_), None) => Err(entry.invalid("client-key", "is missing beside a certificate")),
        (None, Some(_)) => {
            Err(entry.invalid("client-certificate", "is missing beside a private key"))
        }
        (None, None) => Ok(None),
    }
}

fn auth(
    transport: &Config,
    named: &NamedUser,
    cluster: &NamedCluster,
) -> Result<Auth, KubeconfigError> {
    let (entry, user) = (named.entry(), &named.user);
    let has_token = !user.token.reveal().is_empty() || !user.token_file.is_empty();
    let has_basic = !user.username.is_empty() || !user.password.reveal().is_empty();
    if has_token && has_basic {
        return Err(entry.invalid("token", "cannot stand beside username and password"));
    }
    if let Some(provider) = &user.auth_provider {
        let name = provider
            .get("name")
            .and_then(serde_json::Value::as_str)
            .unwrap_or("");
        let problem = format!("{name:?} is not supported: such providers are now exec plugins");
        return Err(entry.invalid("auth-provider", problem));
    }
    if !user.token_file.is_empty() {
        return Ok(Auth::TokenFile(entry.path(&user.token_file)));
    }
    if has_token {
        return Ok(Auth::Bearer(user.token.clone()));
    }
    if has_basic {
        let (username, password) = (user.username.clone(), user.password.clone());
        return Ok(Auth::Basic { username, password });
    }
    match &user.exec {
        Some(exec) if transport.tls.identity.is_none() => {
            exec::plugin(entry, exec, cluster).map(|plugin| Auth::Exec(Box::new(plugin)))
        }
        _ => Ok(Auth::None),
    }
}

fn impersonate(entry: Entry<'_>, user: &User) -> Result<Option<Impersonate>, KubeconfigError> {
    if user.impersonate.is_empty() {
        let alone = !user.impersonate_uid.is_empty()
            || !user.impersonate_groups.is_empty()
            || !user.impersonate_extra.is_empty();
        return if alone {
            Err(entry.invalid("as", "is missing beside as-uid, as-groups or as-user-extra"))
        } else {
            Ok(None)
        };
    }
    let extra = &user.impersonate_extra;
    Ok(Some(Impersonate {
        user: user.impersonate.clone(),
        uid: user.impersonate_uid.clone(),
        groups: user.impersonate_groups.clone(),
        extra: extra
            .iter()
            .map(|(key, values)| (key.clone(), values.clone()))
            .collect(),
    }))
}
