//! `AdmissionPlugin`: one rule about requests.

use super::attributes::Attributes;
use super::target::Target;
use crate::strategy::BoxFuture;
use kubist_apimachinery::Status;
use std::fmt;
use std::future::ready;

/// One rule about requests: it may change objects ([`admit`](Self::admit)), and judge them
/// ([`validate`](Self::validate)).
///
/// ```
/// use kubist_api::core::v1::ConfigMap;
/// use kubist_apimachinery::Status;
/// use kubist_registry::BoxFuture;
/// use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
///
/// /// Lets nobody create empty config maps.
/// #[derive(Debug)]
/// struct NotEmpty;
///
/// impl AdmissionPlugin for NotEmpty {
///     fn name(&self) -> &'static str {
///         "NotEmpty"
///     }
///     fn handles(&self, target: &Target<'_>) -> bool {
///         target.operation == Operation::Create && target.is_object("", "configmaps")
///     }
///     fn validate<'a>(
///         &'a self,
///         attributes: &'a Attributes<'_>,
///     ) -> BoxFuture<'a, Result<(), Status>> {
///         Box::pin(async move {
///             match attributes.typed::<ConfigMap>() {
///                 Some(it) if it.data.is_empty() => Err(attributes.forbidden("it is empty")),
///                 _ => Ok(()),
///             }
///         })
///     }
/// }
/// ```
pub trait AdmissionPlugin: fmt::Debug + Send + Sync + 'static {
    /// Returns its name, as in `--enable-admission-plugins`.
    fn name(&self) -> &'static str;

    /// Returns the resources that it takes part in, by group and plural; the others pay nothing.
    /// Asked once. Default: `None`, any resource.
    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        None
    }

    /// Reports whether it takes part in a request. Must be cheap: it is asked for each write.
    fn handles(&self, target: &Target<'_>) -> bool;

    /// Reports whether it ever changes objects: otherwise [`admit`](Self::admit) is not called.
    /// Asked once. Default: yes.
    fn admits(&self) -> bool {
        true
    }

    /// Reports whether it ever judges objects: otherwise [`validate`](Self::validate) is not
    /// called. Asked once. Default: yes.
    fn validates(&self) -> bool {
        true
    }

    /// Reports whether it may [reserve](Attributes::reserve) something for a request. Then the
    /// write runs to completion even if its client is gone. Default: no.
    fn reserves(&self, target: &Target<'_>) -> bool {
        let _ = target;
        false
    }

    /// Changes the object, or refuses it. A deletion has no object to change. Runs before the
    /// object is prepared and validated, and again on each attempt of an update. Default: neither.
    ///
    /// # Errors
    /// The error for the client.
    ///
    /// # Cancel safety
    /// The future is dropped with the request.
    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = attributes;
        Box::pin(ready(Ok(())))
    }

    /// Judges the object as it will be stored. Runs on each attempt of a write, just before it.
    /// Default: accepts it.
    ///
    /// # Errors
    /// The error for the client.
    ///
    /// # Cancel safety
    /// The future is dropped with the request.
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let _ = attributes;
        Box::pin(ready(Ok(())))
    }
}
