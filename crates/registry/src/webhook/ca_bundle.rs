//! Validation of CA bundles, with upstream's messages.
//!
//! A bundle is valid if it has at least one certificate. Only the outer structure of a certificate
//! is checked here; the TLS library of the webhook caller decodes the rest.

use super::pem_blocks::{PemBlock, PemBlocks};

const CERTIFICATE: &str = "CERTIFICATE";
/// The tag of a sequence, and of a bit string, in DER.
const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 0x03;

/// Returns the error of a CA bundle that is not empty; `None` if it is valid.
pub fn validate_ca_bundle(bundle: &[u8]) -> Option<String> {
    if bundle.is_empty() {
        return None;
    }
    let failed = |why: &str| Some(format!("unable to load root certificates: {why}"));
    let text = String::from_utf8_lossy(bundle);
    let is_valid = |it: &PemBlock<'_>| is_labelled(it) && is_certificate(&it.content);
    if PemBlocks::new(&text).any(|it| is_valid(&it)) {
        return None;
    }
    let mut blocks = PemBlocks::new(&text);
    while !blocks.rest().is_empty() {
        let Some(block) = blocks.next() else {
            return failed("unable to parse bytes as PEM block");
        };
        if is_labelled(&block) && !is_certificate(&block.content) {
            return failed("failed to parse certificate: x509: malformed certificate");
        }
    }
    failed("no valid certificate authority data seen")
}

fn is_labelled(block: &PemBlock<'_>) -> bool {
    block.label == CERTIFICATE && !block.has_headers
}

/// Reports whether DER has the outer structure of a certificate: a sequence of two sequences and a
/// bit string.
fn is_certificate(der: &[u8]) -> bool {
    let parts = || {
        let (content, rest) = value(der, SEQUENCE)?;
        let (_, content) = value(content, SEQUENCE)?;
        let (_, content) = value(content, SEQUENCE)?;
        let (_, content) = value(content, BIT_STRING)?;
        Some(rest.is_empty() && content.is_empty())
    };
    parts().unwrap_or(false)
}

/// Splits DER into the content of its first value and the rest, if the value has this tag.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let digits = usize::from(*first & 0x7f);
        let (length, rest) = rest.split_at_checked(digits).filter(|_| digits <= 4)?;
        let length = length
            .iter()
            .fold(0, |all, digit| all << 8 | usize::from(*digit));
        (length, rest)
    };
    rest.split_at_checked(length).filter(|_| *found == tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine as _};

    fn pem(label: &str, content: &[u8]) -> String {
        let encoded = BASE64_STANDARD.encode(content);
        format!("-----BEGIN {label}-----\n{encoded}\n-----END {label}-----\n")
    }

    #[test]
    fn one_certificate_is_enough() {
        let certificate = [SEQUENCE, 8, SEQUENCE, 0, SEQUENCE, 0, BIT_STRING, 2, 0, 1];
        let good = pem("CERTIFICATE", &certificate);
        let cut = pem("CERTIFICATE", &certificate[..9]);
        let key = pem("PRIVATE KEY", b"key");
        let check = |bundle: &str| validate_ca_bundle(bundle.as_bytes());
        assert_eq!(check(""), None);
        assert_eq!(check(&good), None);
        assert_eq!(check(&format!("text {cut}{key}{good}")), None);
        let why = |why: &str| Some(format!("unable to load root certificates: {why}"));
        assert_eq!(check("x"), why("unable to parse bytes as PEM block"));
        assert_eq!(check(" \n"), why("unable to parse bytes as PEM block"));
        assert_eq!(check(&key), why("no valid certificate authority data seen"));
        let malformed = "failed to parse certificate: x509: malformed certificate";
        assert_eq!(check(&cut), why(malformed));
        assert_eq!(check(&format!("{key}{cut}")), why(malformed));
        for end in 0..good.len() - 2 {
            assert!(good.is_char_boundary(end) && (end == 0) == check(&good[..end]).is_none());
        }
    }
}
