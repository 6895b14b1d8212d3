//! The DER structures around keys that no dependency encodes.

use super::Algorithm;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
/// `ecPublicKey`, 1.2.840.10045.2.1; like the others with tag and length.
const EC_PUBLIC_KEY: [u8; 9] = [0x06, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
/// `prime256v1`, 1.2.840.10045.3.1.7.
const P256: [u8; 10] = [0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
/// `secp384r1`, 1.3.132.0.34.
const P384: [u8; 7] = [0x06, 5, 0x2b, 0x81, 4, 0, 0x22];
/// `rsaEncryption`, 1.2.840.113549.1.1.1, and the NULL that follows it.
const RSA: [u8; 13] = [6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];

/// A public key with its algorithm: X.509's `SubjectPublicKeyInfo`.
pub(super) fn public_key_info(algorithm: Algorithm, public: &[u8]) -> Vec<u8> {
    let key = element(BIT_STRING, &[&[0], public]);
    element(SEQUENCE, &[&identifier(algorithm), &key])
}

/// Wraps a SEC 1 private key as PKCS #8; `None` if it is not one.
pub(super) fn ec_in_pkcs8(algorithm: Algorithm, key: &[u8]) -> Option<Vec<u8>> {
    algorithm.ecdsa()?;
    let version = element(INTEGER, &[&[0]]);
    let key = element(OCTET_STRING, &[key]);
    Some(element(SEQUENCE, &[&version, &identifier(algorithm), &key]))
}

fn identifier(algorithm: Algorithm) -> Vec<u8> {
    match algorithm {
        Algorithm::Es256 => element(SEQUENCE, &[&EC_PUBLIC_KEY, &P256]),
        Algorithm::Es384 => element(SEQUENCE, &[&EC_PUBLIC_KEY, &P384]),
        Algorithm::Rs256 => element(SEQUENCE, &[&RSA]),
    }
}

fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut written = vec![tag];
    let length = content.len().to_be_bytes();
    let length = &length[length.iter().take_while(|it| **it == 0).count()..];
    match length {
        [] => written.push(0),
        [short] if *short < 0x80 => written.push(*short),
        long => {
            // A length has at most eight bytes.
            written.push(0x80 | u8::try_from(long.len()).unwrap_or(8));
            written.extend(long);
        }
    }
    written.extend(content);
    written
}
