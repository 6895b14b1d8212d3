//! The certificates of a webhook: an authority that signs, and what it signed. Pure: it takes the
//! time and does no I/O.

use super::CertificateError;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::time::Duration;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// How long an authority is valid: ten years.
const AUTHORITY_LIFETIME: Duration = Duration::from_secs(3_650 * 24 * 3_600);
/// Certificates begin this long before they are made, for clocks that are behind.
const CLOCK_SKEW: Duration = Duration::from_secs(3_600);

/// What is stored: PEM texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bundle {
    /// The authorities to trust: the current one first, then those before it that are still valid.
    pub(super) authorities: String,
    /// The key of the current authority.
    pub(super) authority_key: String,
    /// The serving certificate.
    pub(super) certificate: String,
    /// Its key.
    pub(super) key: String,
}

/// What is to be done with a stored bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is good for now.
    Keep,
    /// The serving certificate is made anew, by the same authority.
    Renew,
    /// Both are made anew.
    Replace,
}

/// The life of a certificate, in seconds since the Unix epoch.
struct Validity {
    from: i64,
    until: i64,
}

impl Validity {
    /// Reports whether two thirds of its life are over.
    fn is_due(&self, now: i64) -> bool {
        now < self.from || now >= self.until - (self.until - self.from) / 3
    }
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    let all = CertificateDer::pem_slice_iter(pem.as_bytes());
    all.filter_map(Result::ok).collect()
}

fn validity(certificate: &CertificateDer<'_>) -> Option<Validity> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(Validity {
        from: parsed.validity().not_before.timestamp(),
        until: parsed.validity().not_after.timestamp(),
    })
}

/// Reports whether a certificate is for all of these names.
fn is_for(certificate: &CertificateDer<'_>, names: &[String]) -> bool {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
        return false;
    };
    let Ok(Some(found)) = parsed.subject_alternative_name() else {
        return false;
    };
    let found: Vec<String> = found
        .value
        .general_names
        .iter()
        .filter_map(|name| match name {
            x509_parser::extensions::GeneralName::DNSName(name) => Some((*name).to_owned()),
            x509_parser::extensions::GeneralName::IPAddress(bytes) => address(bytes),
            _ => None,
        })
        .collect();
    names.iter().all(|name| found.contains(name))
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(|it| std::net::Ipv4Addr::from(it).to_string());
    let v6 = || <[u8; 16]>::try_from(bytes).map(|it| std::net::Ipv6Addr::from(it).to_string());
    v4.or_else(|_| v6()).ok()
}

/// Decides about a stored bundle.
pub(super) fn decide(bundle: &Bundle, names: &[String], now: Duration) -> Decision {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let authorities = certificates(&bundle.authorities);
    let authority = authorities.first().and_then(validity);
    let authority_is_good = authority.is_some_and(|it| !it.is_due(now))
        && authorities
            .first()
            .is_some_and(|it| issuer(it, &bundle.authority_key).is_ok());
    if !authority_is_good {
        return Decision::Replace;
    }
    let served = certificates(&bundle.certificate);
    let Some(served) = served.first() else {
        return Decision::Renew;
    };
    let is_good = validity(served).is_some_and(|it| !it.is_due(now))
        && is_for(served, names)
        && authorities
            .first()
            .is_some_and(|it| is_signed_by(served, it))
        && super::ServingCertificate::new(&bundle.certificate, &bundle.key).is_ok();
    if is_good {
        Decision::Keep
    } else {
        Decision::Renew
    }
}

fn is_signed_by(certificate: &CertificateDer<'_>, authority: &CertificateDer<'_>) -> bool {
    let parse = |it| X509Certificate::from_der(it).map(|(_, parsed)| parsed);
    match (parse(certificate), parse(authority)) {
        (Ok(certificate), Ok(authority)) => certificate
            .verify_signature(Some(authority.public_key()))
            .is_ok(),
        _ => false,
    }
}

fn issuer(
    certificate: &CertificateDer<'static>,
    key: &str,
) -> Result<Issuer<'static, KeyPair>, CertificateError> {
    let key = KeyPair::from_pem(key).map_err(CertificateError::Make)?;
    let (_, parsed) = X509Certificate::from_der(certificate).map_err(CertificateError::unusable)?;
    if *parsed.public_key().subject_public_key.data != *rcgen::PublicKeyData::der_bytes(&key) {
        return Err(CertificateError::unusable(
            "the key is not that of the authority",
        ));
    }
    Issuer::from_ca_cert_der(certificate, key).map_err(CertificateError::Make)
}

/// Makes what is decided. Authorities before that are still valid stay trusted, so that API servers
/// with either bundle trust either certificate while it is passed on.
pub(super) fn make(
    before: &Bundle,
    decision: Decision,
    names: &[String],
    lifetime: Duration,
    now: Duration,
) -> Result<Bundle, CertificateError> {
    let mut bundle = before.clone();
    if decision == Decision::Keep {
        return Ok(bundle);
    }
    if decision == Decision::Replace {
        let (certificate, key) = new_authority(now)?;
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let still_valid = certificates(&before.authorities);
        let still_valid = still_valid.iter().take(1);
        let still_valid =
            still_valid.filter(|it| validity(it).is_some_and(|it| seconds < it.until));
        let old: String = still_valid.map(|it| pem_of(it)).collect();
        bundle.authorities = certificate + &old;
        bundle.authority_key = key;
    }
    let authority = certificates(&bundle.authorities);
    let authority = authority.first();
    let authority = authority.ok_or_else(|| CertificateError::unusable("there is no authority"))?;
    let issuer = issuer(authority, &bundle.authority_key)?;
    let key = KeyPair::generate().map_err(CertificateError::Make)?;
    let params = serving_params(names, lifetime, now)?;
    let certificate = params
        .signed_by(&key, &issuer)
        .map_err(CertificateError::Make)?;
    bundle.certificate = certificate.pem();
    bundle.key = key.serialize_pem();
    Ok(bundle)
}

fn pem_of(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(certificate);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    let mut rest = &*text;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        pem.extend([line, "\n"]);
        rest = after;
    }
    pem + "-----END CERTIFICATE-----\n"
}

fn new_authority(now: Duration) -> Result<(String, String), CertificateError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named("kubist-webhook-ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::DigitalSignature,
        KeyUsagePurpose::KeyCertSign,
    ];
    set_validity(&mut params, now, AUTHORITY_LIFETIME)?;
    let key = KeyPair::generate().map_err(CertificateError::Make)?;
    let certificate = params.self_signed(&key).map_err(CertificateError::Make)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

/// The certificate of a server with these names.
pub(super) fn serving_params(
    names: &[String],
    lifetime: Duration,
    now: Duration,
) -> Result<CertificateParams, CertificateError> {
    let mut params = CertificateParams::new(names).map_err(CertificateError::Make)?;
    params.distinguished_name = named("kubist-webhook");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    set_validity(&mut params, now, lifetime)?;
    Ok(params)
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn set_validity(
    params: &mut CertificateParams,
    now: Duration,
    lifetime: Duration,
) -> Result<(), CertificateError> {
    let date = |it: Duration| {
        let seconds = i64::try_from(it.as_secs()).unwrap_or(i64::MAX);
        OffsetDateTime::from_unix_timestamp(seconds).map_err(CertificateError::unusable)
    };
    params.not_before = date(now.saturating_sub(CLOCK_SKEW))?;
    params.not_after = date(now.saturating_add(lifetime))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3_600);
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn names() -> Vec<String> {
        vec!["hooks.op.svc".to_owned(), "127.0.0.1".to_owned()]
    }

    fn made() -> Bundle {
        let empty = Bundle::default();
        assert_eq!(decide(&empty, &names(), NOW), Decision::Replace);
        make(&empty, Decision::Replace, &names(), YEAR, NOW).expect("it is made")
    }

    #[test]
    fn what_was_made_is_kept_for_two_thirds_of_its_life() {
        let bundle = made();
        assert_eq!(decide(&bundle, &names(), NOW), Decision::Keep);
        assert_eq!(decide(&bundle, &names(), NOW + 240 * DAY), Decision::Keep);
        assert_eq!(decide(&bundle, &names(), NOW + 250 * DAY), Decision::Renew);
        let renewed = make(&bundle, Decision::Renew, &names(), YEAR, NOW + 250 * DAY);
        let renewed = renewed.expect("it is made");
        assert_eq!(renewed.authorities, bundle.authorities);
        assert_ne!(renewed.certificate, bundle.certificate);
        assert_eq!(decide(&renewed, &names(), NOW + 250 * DAY), Decision::Keep);
    }

    #[test]
    fn an_old_authority_stays_trusted_while_it_is_valid() {
        let bundle = made();
        let later = NOW + 2_500 * DAY;
        assert_eq!(decide(&bundle, &names(), later), Decision::Replace);
        let replaced = make(&bundle, Decision::Replace, &names(), YEAR, later).expect("made");
        assert_eq!(certificates(&replaced.authorities).len(), 2);
        let old = certificates(&bundle.authorities);
        assert_eq!(certificates(&replaced.authorities)[1], old[0]);
        assert_eq!(decide(&replaced, &names(), later), Decision::Keep);
        let much_later = NOW + 4_000 * DAY;
        let again = make(&bundle, Decision::Replace, &names(), YEAR, much_later).expect("made");
        assert_eq!(certificates(&again.authorities).len(), 1);
    }

    #[test]
    fn other_names_and_broken_parts_are_made_again() {
        let bundle = made();
        let more = vec!["other.op.svc".to_owned()];
        assert_eq!(decide(&bundle, &more, NOW), Decision::Renew);
        let broken = |change: fn(&mut Bundle)| {
            let mut bundle = bundle.clone();
            change(&mut bundle);
            decide(&bundle, &names(), NOW)
        };
        assert_eq!(broken(|it| it.key = made().key), Decision::Renew);
        assert_eq!(
            broken(|it| it.certificate = "x".to_owned()),
            Decision::Renew
        );
        assert_eq!(
            broken(|it| it.authority_key = made().key),
            Decision::Replace
        );
        assert_eq!(
            broken(|it| it.authorities = made().authorities),
            Decision::Replace
        );
        let foreign = made();
        let mixed = Bundle {
            certificate: foreign.certificate,
            key: foreign.key,
            ..bundle.clone()
        };
        assert_eq!(decide(&mixed, &names(), NOW), Decision::Renew);
    }
}
