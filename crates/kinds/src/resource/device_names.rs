//! Names of devices: their pools, their identity, and the ids of shares.

use crate::shared::rules::{self, Errors};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use serde::Serialize;

/// The maximum length of the name of a pool in bytes.
const POOL_BYTES_MAX: usize = 253;
/// The length of a UUID in its usual form.
const UUID_BYTES: usize = 36;

/// A device, or a share of one, in upstream's form of errors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DeviceId<'a> {
    pub(super) driver: &'a str,
    pub(super) pool: &'a str,
    pub(super) device: &'a str,
    #[serde(rename = "ShareID")]
    pub(super) share: &'a str,
}

impl<'a> DeviceId<'a> {
    pub(super) fn new(
        (driver, pool, device): (&'a Str, &'a Str, &'a Str),
        share: Option<&'a Str>,
    ) -> Self {
        Self {
            driver,
            pool,
            device,
            share: share.map_or("", |it| it),
        }
    }
}

/// Checks the name of a pool: subdomains with slashes between them.
pub(super) fn check_pool(errors: &mut Errors, name: &str, path: &FieldPath) {
    if !rules::required(errors, name, path) {
        return;
    }
    if name.len() > POOL_BYTES_MAX {
        errors.push(FieldError::too_long(path, POOL_BYTES_MAX));
    }
    for part in name.split('/') {
        rules::text(errors, part, path, validate_name::dns1123_subdomain);
    }
}

/// Checks the id of a share.
pub(super) fn check_share(errors: &mut Errors, id: &str, path: &FieldPath) {
    if let Err(why) = uuid(id) {
        let detail = format!("error validating uid: {why}");
        errors.push(FieldError::invalid(path, id, detail));
    } else if id.len() != UUID_BYTES || id.bytes().any(|it| it.is_ascii_uppercase()) {
        let detail = "uid must be in RFC 4122 normalized form, \
                      `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
        errors.push(FieldError::invalid(path, id, detail));
    }
}

/// Checks the forms of UUIDs that upstream's library knows, in its words.
fn uuid(text: &str) -> Result<(), String> {
    const URN: &str = "urn:uuid:";
    let plain = |text: &str| {
        let fits = text.bytes().enumerate().all(|(place, it)| match place {
            8 | 13 | 18 | 23 => it == b'-',
            _ => it.is_ascii_hexdigit(),
        });
        fits.then_some(())
            .ok_or_else(|| "invalid UUID format".to_owned())
    };
    match text.len() {
        UUID_BYTES => plain(text),
        45 => {
            let (begin, rest) = text.split_at_checked(URN.len()).unwrap_or(("", ""));
            if !begin.eq_ignore_ascii_case(URN) {
                return Err(format!("invalid urn prefix: {begin:?}"));
            }
            plain(rest)
        }
        38 => {
            let inner = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            plain(inner.ok_or("invalid bracketed UUID format")?)
        }
        32 => {
            let fits = text.bytes().all(|it| it.is_ascii_hexdigit());
            fits.then_some(())
                .ok_or_else(|| "invalid UUID format".to_owned())
        }
        length => Err(format!("invalid UUID length: {length}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(check: impl Fn(&mut Errors, &FieldPath)) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, &FieldPath::new("x"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_share_has_a_uuid_in_its_usual_form() {
        let share = |id: &str| said(|errors, path| check_share(errors, id, path));
        let id = "0d3e2a4c-6d4a-4a7e-9a53-6a1b2f2c3d4e";
        assert_eq!(share(id), [""; 0]);
        assert_eq!(
            share("x"),
            ["x: Invalid value: \"x\": error validating uid: invalid UUID length: 1"]
        );
        for other in [
            id.to_uppercase(),
            format!("urn:uuid:{id}"),
            format!("{{{id}}}"),
        ] {
            let [why] = &share(&other)[..] else {
                panic!("{other}");
            };
            assert!(why.contains("must be in RFC 4122 normalized form"), "{why}");
        }
        let [why] = &share(&id.replace('-', "+"))[..] else {
            panic!("it is wrong");
        };
        assert!(why.ends_with("invalid UUID format"), "{why}");
    }

    #[test]
    fn a_pool_is_named_by_subdomains() {
        let pool = |name: &str| said(|errors, path| check_pool(errors, name, path));
        assert_eq!(pool("a.example.com/b"), [""; 0]);
        assert_eq!(pool(""), ["x: Required value"]);
        assert_eq!(pool("a//b").len(), 1);
    }
}
