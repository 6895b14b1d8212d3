//! Options of a proxy that names its users in headers, under upstream's names.

use super::{WrongUsage, pem_files};
use clap::Args;
use kubist::apiserver::{CertificateDer, RequestHeader, read_certificates};
use kubist::authentication::RequestHeaders;
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "they are the names of the options"
)]
pub(super) struct ProxyOptions {
    /// The authorities of proxies that name users in headers, as PEM
    #[arg(long, value_name = "FILE")]
    requestheader_client_ca_file: Option<PathBuf>,
    /// The common names of these proxies; by default all
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    requestheader_allowed_names: Vec<String>,
    /// The headers of user names, such as X-Remote-User
    #[arg(
        long,
        value_name = "HEADER,...",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    requestheader_username_headers: Vec<String>,
    /// The headers of uids, such as X-Remote-Uid
    #[arg(
        long,
        value_name = "HEADER,...",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    requestheader_uid_headers: Vec<String>,
    /// The headers of groups, such as X-Remote-Group
    #[arg(
        long,
        value_name = "HEADER,...",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    requestheader_group_headers: Vec<String>,
    /// The prefixes of the headers of extra fields, such as X-Remote-Extra-
    #[arg(
        long,
        value_name = "PREFIX,...",
        value_delimiter = ',',
        requires = "requestheader_client_ca_file"
    )]
    requestheader_extra_headers_prefix: Vec<String>,
}

impl ProxyOptions {
    /// Returns the proxies, if there are any. `users_ca_file` are the authorities of users.
    ///
    /// # Errors
    /// A name is empty, a file cannot be used, or any user could be a proxy.
    pub(super) fn request_header(
        &self,
        users_ca_file: Option<&Path>,
    ) -> Result<Option<RequestHeader>, Box<dyn Error>> {
        let Some(path) = &self.requestheader_client_ca_file else {
            return Ok(None);
        };
        for (flag, names) in [
            (
                "requestheader-username-headers",
                &self.requestheader_username_headers,
            ),
            (
                "requestheader-group-headers",
                &self.requestheader_group_headers,
            ),
            (
                "requestheader-extra-headers-prefix",
                &self.requestheader_extra_headers_prefix,
            ),
            (
                "requestheader-allowed-names",
                &self.requestheader_allowed_names,
            ),
            ("requestheader-uid-headers", &self.requestheader_uid_headers),
        ] {
            if names.iter().any(|it| it.trim().is_empty()) {
                return Err(WrongUsage(format!("empty value in {flag:?}")).into());
            }
        }
        let (authorities_pem, authorities) = authorities(path)?;
        if let Some(users) = users_ca_file
            && self.requestheader_allowed_names.is_empty()
            && authorities_of(users)?
                .iter()
                .any(|it| authorities.contains(it))
        {
            let why = "--requestheader-client-ca-file and --client-ca-file contain overlapping \
                       certificates; --requestheader-allowed-names must be specified to ensure \
                       regular client certificates cannot set authenticating proxy headers for \
                       arbitrary users";
            return Err(WrongUsage(why.to_owned()).into());
        }
        Ok(Some(RequestHeader {
            authorities,
            authorities_pem,
            allowed_names: self.requestheader_allowed_names.clone(),
            headers: RequestHeaders {
                username: self.requestheader_username_headers.clone(),
                uid: self.requestheader_uid_headers.clone(),
                group: self.requestheader_group_headers.clone(),
                extra_prefix: self.requestheader_extra_headers_prefix.clone(),
            },
        }))
    }
}

fn authorities_of(path: &Path) -> Result<Vec<CertificateDer<'static>>, Box<dyn Error>> {
    Ok(authorities(path)?.1)
}

fn authorities(path: &Path) -> Result<(String, Vec<CertificateDer<'static>>), Box<dyn Error>> {
    let shown = path.display();
    let text = pem_files::read(path)?;
    let certificates = read_certificates(&text).map_err(|error| format!("{shown}: {error}"))?;
    Ok((text, certificates))
}
