//! The storage stack of the API server: every built-in resource with its verbs, over any engine.
//!
//! [`Registry`] makes the resources, [`Rest`] is one of them with the verbs that it has. Below lie
//! the store with the rules of the API (defaults, admission, checks, stages of deletion), which a
//! [`Strategy`] for each kind fills in, and [`storage`] over [`kubist_storage::Kv`].
//!
//! It is not a server: it knows no HTTP, decodes no bodies, authenticates and authorises nobody.
//!
//! ```
//! use kubist_api::core::v1::ConfigMap;
//! use kubist_apimachinery::{ListOptions, PostOptions};
//! use kubist_registry::{Created, Registry, RegistryConfig, User};
//! use kubist_storage::memory::MemoryKv;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), kubist_apimachinery::Status> {
//! let registry = Registry::new(RegistryConfig::new(Arc::new(MemoryKv::default())));
//! registry.start().await?;
//! let config_maps = registry.resource("", "v1", "configmaps").expect("it is built in");
//!
//! let cx = registry.request(User::default());
//! let mut object = ConfigMap::default();
//! object.metadata.generate_name = "settings-".into();
//! let options = PostOptions::default();
//! let created = config_maps
//!     .create(&cx, "default", "", Box::new(object), &options)
//!     .await?;
//! assert!(matches!(created, Created::Object(it) if it.revision() > 0));
//! let page = config_maps.list(&cx, "default", &ListOptions::default()).await?;
//! assert_eq!(page.items.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - Every error is the `Status` that upstream answers, message and causes included.
//! - A write that changes nothing keeps the resource version and causes no event.
//! - A list is one consistent state, also over several pages; a watch misses nothing or says so.
//! - A watch holds a position and one page of objects, however slowly it is read.
//! - Each version of an object is decoded, and encoded in each form, at most once while in use.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(
    clippy::result_large_err,
    reason = "the error is the answer itself; it is rare, and its callers match on it"
)]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

mod custom;
mod kinds;
mod registry;
mod rest;
mod store;
mod stored;

pub mod metrics;
pub use storage::cacher;
pub use stored::transformer;
pub mod storage;

pub use kinds::apps::claim_templates::add_template_kinds;
pub use kinds::convert::convert as convert_version;
pub use kinds::table::{
    column_descriptions, has_own_columns, scale_cells, scale_columns, scale_descriptions,
    table_cells, table_columns,
};
pub use registry::catalog::{ServedGroup, ServedResource, ServedVersion};
pub use registry::config::RegistryConfig;
pub use registry::runtime_config::{RuntimeConfig, RuntimeConfigError};
pub use registry::system_objects::Announcement;
pub use registry::{CacheState, ObjectCount, Registry};
pub use rest::capability::{
    CollectionDeleter, Creater, Deleter, Getter, Lister, RestStorage, Updater, Watcher,
};
pub use rest::context::{RequestContext, User};
pub use rest::{
    Created, Deleted, ListPage, Replacement, Rest, Updated, UpdatedObject, Verb, deprecation_of,
};
pub use storage::error::{Operation, StorageError};
pub use storage::key::{KeyLayout, NoPlace};
pub use storage::predicate::Predicate;
pub use storage::raw::RawStorage;
pub use storage::watch::EventStream;
pub use storage::watch_event::{INITIAL_EVENTS_END, WatchEvent};
pub use store::clock::{SystemClock, WallClock};
pub use store::hooks::{Begin, Begun, Hooks};
pub use store::kind_strategy::{ForKind, KindStrategy};
pub use store::name_rule::NameRule;
pub use store::object_fields::text_at;
pub use store::random::uuid_v4;
pub use store::strategy::{
    Admission, BoxFuture, Dependents, Generation, Lookup, MetadataRules, PlainStrategy,
    StatusKeeps, Strategy,
};
pub use store::{namespace_terminating, remove_duplicate_owners, remove_patched_duplicate_owners};
pub use stored::Stored;
pub use stored::codec::{StorageEncoding, StoredCodec};
