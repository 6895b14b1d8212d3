//! Webhooks: the plugins `MutatingAdmissionWebhook` and `ValidatingAdmissionWebhook`.
//!
//! Whoever follows the configurations puts them into a [`WebhookTable`], where each is compiled
//! once. The plugins find in it which webhooks a request is sent to; what no rule names costs a
//! look into its index. Requests are sent through the registry's
//! [`WebhookCaller`](kubist_registry::WebhookCaller).

mod answer;
mod call;
mod endpoint;
mod hook;
mod metrics;
mod mutating;
mod mutation;
mod rejection;
mod table;
mod validating;

pub use self::call::WebhookParts;
pub use self::metrics::WebhookMetrics;
pub use self::mutating::MutatingWebhooks;
pub use self::table::WebhookTable;
pub use self::validating::ValidatingWebhooks;
