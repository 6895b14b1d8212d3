//! Admission: plugins that change and judge requests, beside the strategies of the kinds.
//!
//! An [`AdmissionPlugin`] sees a request as [`Attributes`]: who wants what, with the object before
//! and after. The [`AdmissionChain`] of a registry runs its plugins in their order: first all that
//! change the object, after its defaults and before its strategy prepares it; then, on the final
//! object and before the write, all that judge it. Both happen again on each attempt of an update.
//! What was judged is what is written.
//!
//! The server's own writes ([`ResourceStore`](crate::ResourceStore)) are not admitted. The plugins
//! of upstream are in `kubist-admission`.

pub(crate) mod attributes;
pub(crate) mod chain;
pub(crate) mod conversions;
pub(crate) mod operation;
pub(crate) mod options;
pub(crate) mod plugin;
pub(crate) mod reinvocation;
pub(crate) mod step_times;
pub(crate) mod target;

pub use attributes::Attributes;
pub use chain::AdmissionChain;
pub use conversions::Side;
pub use operation::Operation;
pub use options::Options;
pub use plugin::AdmissionPlugin;
pub use reinvocation::Reinvocation;
pub use step_times::{ADMISSION_SECONDS, Step, StepTimes};
pub use target::Target;
