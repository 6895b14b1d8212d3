//! The storage stack of the API server: resources with their verbs, over any storage engine.
//!
//! [`Registry`] builds the resources; [`Rest`] is one resource with its verbs. Below it, the store
//! applies the generic API rules (defaults, admission, validation, the deletion stages), which a
//! per-kind [`Strategy`] completes, and [`storage`] persists objects in a [`kubist_storage::Kv`].
//! The registry is independent of the kinds: a set of [`Kinds`] supplies strategies and
//! conversions. `kubist-kinds` has upstream's; [`PlainKinds`] stores objects unchanged.
//!
//! It is not a server: it has no HTTP, body decoding, authentication or authorization.
//!
//! ```
//! use kubist_api::core::v1::Namespace;
//! use kubist_apimachinery::{ListOptions, PostOptions};
//! use kubist_registry::{Created, PlainKinds, Registry, RegistryConfig, User};
//! use kubist_storage::memory::MemoryKv;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), kubist_apimachinery::Status> {
//! let kv = Arc::new(MemoryKv::default());
//! let registry = Registry::new(RegistryConfig::new(kv, Arc::new(PlainKinds)));
//! registry.start().await?;
//! let namespaces = registry.resource("", "v1", "namespaces").expect("it is served");
//!
//! let cx = registry.request(User::default());
//! let mut object = Namespace::default();
//! object.metadata.generate_name = "team-".into();
//! let options = PostOptions::default();
//! let created = namespaces
//!     .create(&cx, "", "", Box::new(object), &options)
//!     .await?;
//! assert!(matches!(created, Created::Object(it) if it.revision() > 0));
//! let page = namespaces.list(&cx, "", &ListOptions::default()).await?;
//! assert_eq!(page.items.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Contracts
//!
//! - Every error is the `Status` that upstream returns, message and causes included.
//! - A write that changes nothing keeps the resource version and causes no event.
//! - A list is one consistent snapshot, even over several pages. A watch delivers every event or
//!   ends with an error.
//! - A watch holds a position and one page of objects, however slowly it is read.
//! - Each version of an object is decoded, and encoded in each form, at most once while in use.

#![cfg_attr(doctest, doc = include_str!("../README.md"))]
#![expect(
    clippy::result_large_err,
    reason = "the error is the answer itself; it is rare, and its callers match on it"
)]
#![allow(clippy::doc_markdown, reason = "kinds are names here, not code")]

pub mod custom;
mod finishing;
mod registry;
mod rest;
mod store;
mod stored;
mod strategy;
mod webhook;

pub mod metrics;
pub use storage::cacher;
pub use stored::transformer;
pub mod storage;

pub use custom::version_rank::rank as version_rank;
pub use finishing::{Finishing, Place};
pub use registry::catalog::{ServedGroup, ServedResource, ServedVersion};
pub use registry::config::RegistryConfig;
pub use registry::runtime_config::{RuntimeConfig, RuntimeConfigError};
pub use registry::{CacheState, ObjectCount, Registry, storage_version};
pub use rest::apply::AppliedConfig;
pub use rest::capability::{
    Applier, CollectionDeleter, Creater, Deleter, Getter, Lister, RestStorage, Updater, Watcher,
};
pub use rest::{Deleted, ListPage, Rest, Updated, Verb, deprecation_of};
pub use storage::error::{Operation, StorageError};
pub use storage::index::IndexConfig;
pub use storage::predicate::Predicate;
pub use storage::raw::RawStorage;
pub use storage::watch::EventStream;
pub use storage::watch_event::{INITIAL_EVENTS_END, WatchEvent};
pub use store::GroupRules;
pub use store::action::{Action, ActionCall, Created};
pub use store::admission;
pub use store::announcement::{AnnouncedProxies, Announcement};
pub use store::clock::{SystemClock, WallClock};
pub use store::create::{
    remove_duplicate_owners, remove_patched_duplicate_owners, remove_system_fields,
};
pub use store::delete::IGNORE_READ_ERROR;
pub use store::deletion::check_preconditions;
pub use store::hooks::{Begin, Begun, Hooks};
pub use store::kept_metadata::{changes_only_ownership, keep_most};
pub use store::kinds::{ClusterObjects, Kinds, PlainKinds, RegistryParts};
pub use store::random::{Random, uuid_v4};
pub use store::reset_filter::reset_filter;
pub use store::resource_store::{ResourceStore, UpdatePath};
pub use store::stores::Stores;
pub use store::updated_object::{Replacement, UpdatedObject};
pub use store::write_guards::namespace_terminating;
pub use stored::Stored;
pub use stored::codec::{StorageEncoding, StoredCodec};
pub use stored::key::{InvalidKey, KeyLayout, NoPlace};
pub use stored::scheme::{AddEmbeddedKinds, Replicas, Scheme, StoredKind};
pub use strategy::admission::{Admission, Lookup};
pub use strategy::context::{RequestContext, User};
pub use strategy::facts::{
    Dependents, Generation, MetadataRules, MetadataUpdate, StatusKeeps, StrategyFacts,
};
pub use strategy::kind_strategy::{ForKind, KindStrategy};
pub use strategy::name_rule::NameRule;
pub use strategy::object_fields::text_at;
pub use strategy::object_write::{ObjectChange, ObjectWrite};
pub use strategy::reset_fields::ResetFields;
pub use strategy::validate_metadata::{
    validate_finalizer, validate_metadata, validate_metadata_change, validate_named,
};
pub use strategy::{BoxFuture, PlainStrategy, Strategy};
pub use webhook::{
    PemBlock, PemBlocks, WebhookCall, WebhookCaller, WebhookClient, WebhookConfig, WebhookError,
    WebhookService, WebhookTarget, validate_ca_bundle,
};
