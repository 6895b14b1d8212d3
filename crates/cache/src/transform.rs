//! `drop_managed_fields`: a ready-made transform.
//!
//! A transform changes each object once, before it enters the store; informers and reflectors
//! accept any `Fn(&mut F)`. This one works on every stored form, including
//! [`Encoded`](crate::Encoded), whose bytes it cuts without decoding them.

use kubist_apimachinery::wire::Ingest;

/// Drops `metadata.managedFields` and the annotation
/// `kubectl.kubernetes.io/last-applied-configuration`; see [`Ingest::drop_managed_fields`].
///
/// ```
/// use kubist_api::core::v1::Pod;
/// use kubist_apimachinery::wire::{DecodeContext, Encoding, Ingest};
/// use kubist_cache::{Encoded, drop_managed_fields};
///
/// let json = br#"{"metadata":{"name":"a","managedFields":[{"manager":"kubectl"}]}}"#;
/// let cx = &mut DecodeContext::new();
/// let mut pod = Encoded::<Pod>::ingest(json.as_slice().into(), Encoding::Json, cx)?;
/// drop_managed_fields(&mut pod);
/// assert_eq!(pod.bytes(), br#"{"metadata":{"name":"a"}}"#);
/// # Ok::<(), kubist_apimachinery::wire::WireError>(())
/// ```
pub fn drop_managed_fields<F: Ingest>(object: &mut F) {
    object.drop_managed_fields();
}
