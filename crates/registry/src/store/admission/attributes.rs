//! `Attributes`: a request, as admission plugins see it.

use super::conversions::{Side, Tree};
use super::options::Options;
use super::reinvocation::Reinvocation;
use super::target::Target;
use crate::store::Store;
use crate::store::hooks::Begun;
use crate::store::stores::Stores;
use crate::strategy::admission::Lookup;
use crate::strategy::context::{RequestContext, User};
use kubist_api::ResourceFacts;
use kubist_apimachinery::wire::Message;
use kubist_apimachinery::{AnyObject, KubeObject, Status, Str};
use parking_lot::Mutex;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A request, as admission plugins see it. Objects are in the storage version of their kind (those
/// of custom resources in the version of the request); [`json`](Self::json) has them in any.
pub struct Attributes<'a> {
    target: Target<'a>,
    cx: &'a RequestContext,
    stores: &'a Arc<Stores>,
    options: Options<'a>,
    object: Object<'a>,
    old: Option<&'a dyn AnyObject>,
    /// The store of the objects; none if they are stored nowhere.
    pub(super) store: Option<&'a Store>,
    equivalents: &'a [&'static ResourceFacts],
    reinvocation: Reinvocation,
    pub(super) trees: Mutex<Vec<Tree>>,
    reserved: Mutex<Vec<Box<dyn Begun>>>,
    /// Whether a plugin may have changed the new object.
    changed: bool,
}

/// The new object.
enum Object<'a> {
    None,
    Final(&'a dyn AnyObject),
    Changing(&'a mut Box<dyn AnyObject>),
    /// The options of a connection, which have no metadata.
    Connection(&'a dyn Message),
}

impl<'a> Attributes<'a> {
    /// Describes a request without objects or options.
    pub fn new(target: Target<'a>, cx: &'a RequestContext, stores: &'a Arc<Stores>) -> Self {
        Self {
            target,
            cx,
            stores,
            options: Options::None,
            object: Object::None,
            old: None,
            store: None,
            equivalents: &[],
            reinvocation: Reinvocation::default(),
            trees: Mutex::default(),
            reserved: Mutex::default(),
            changed: false,
        }
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    /// Sets a new object that plugins may change.
    #[must_use]
    pub fn with_changing(mut self, object: &'a mut Box<dyn AnyObject>) -> Self {
        self.object = Object::Changing(object);
        self
    }

    /// Sets the new object as it will be stored.
    #[must_use]
    pub fn with_final(mut self, object: Option<&'a dyn AnyObject>) -> Self {
        self.object = object.map_or(Object::None, Object::Final);
        self
    }

    /// Sets the options of a connection, which stand for the new object.
    #[must_use]
    pub fn with_connection(mut self, options: &'a dyn Message) -> Self {
        self.object = Object::Connection(options);
        self
    }

    /// Sets the old object.
    #[must_use]
    pub fn with_old(mut self, old: Option<&'a dyn AnyObject>) -> Self {
        self.old = old;
        self
    }

    /// Sets the store that the objects are in.
    pub(crate) fn in_store(mut self, store: &'a Store, objects: bool) -> Self {
        self.equivalents = &store.served_as;
        self.store = objects.then_some(store);
        self
    }

    /// Returns the names in the request.
    pub fn target(&self) -> Target<'a> {
        self.target
    }

    /// Returns the context of the request: warnings and audit annotations are added to it.
    pub fn cx(&self) -> &'a RequestContext {
        self.cx
    }

    /// Returns the requesting user.
    pub fn user(&self) -> &'a User {
        &self.cx.user
    }

    /// Returns the stored objects, for reading: all that was written through this server, and with
    /// a watch cache what others wrote up to a moment ago.
    pub fn objects(&self) -> &'a dyn Lookup {
        self.stores.known()
    }

    /// Returns all stored resources. Writes through them are not admitted.
    pub fn stores(&self) -> &'a Arc<Stores> {
        self.stores
    }

    /// Returns the options of the request.
    pub fn options(&self) -> Options<'a> {
        self.options
    }

    /// Returns the new object; `None` for deletions and connections.
    pub fn object(&self) -> Option<&dyn AnyObject> {
        match &self.object {
            Object::None | Object::Connection(_) => None,
            Object::Final(object) => Some(*object),
            Object::Changing(object) => Some(&***object),
        }
    }

    /// Returns the new object for changes; `None` unless plugins may change it. Fields that they
    /// leave out get their defaults again before the object is judged.
    pub fn object_mut(&mut self) -> Option<&mut dyn AnyObject> {
        self.forget_new();
        match &mut self.object {
            Object::Changing(object) => Some(&mut ***object),
            _ => None,
        }
    }

    /// Replaces the new object, if plugins may change it.
    pub(super) fn put(&mut self, new: Box<dyn AnyObject>) {
        self.forget_new();
        if let Object::Changing(object) = &mut self.object {
            **object = new;
        }
    }

    /// Returns the object before an update, or the object that a deletion is about.
    pub fn old_object(&self) -> Option<&'a dyn AnyObject> {
        self.old
    }

    /// Returns the options of a connection.
    pub fn connection(&self) -> Option<&'a dyn Message> {
        match &self.object {
            Object::Connection(options) => Some(*options),
            _ => None,
        }
    }

    /// Returns the new object, if it is a `K`.
    pub fn typed<K: KubeObject>(&self) -> Option<&K> {
        let object: &dyn Any = self.object()?;
        object.downcast_ref()
    }

    /// Returns the new object for changes, if it is a `K`.
    pub fn typed_mut<K: KubeObject>(&mut self) -> Option<&mut K> {
        let object: &mut dyn Any = self.object_mut()?;
        object.downcast_mut()
    }

    /// Returns the old object, if it is a `K`.
    pub fn old_typed<K: KubeObject>(&self) -> Option<&'a K> {
        let object: &dyn Any = self.old?;
        object.downcast_ref()
    }

    /// Returns all served resources with the same objects in other versions or groups, the
    /// requested one included; empty if the objects are stored nowhere.
    pub fn equivalents(&self) -> &'a [&'static ResourceFacts] {
        self.equivalents
    }

    /// Returns whether the changing plugins run again.
    pub fn reinvocation(&self) -> &Reinvocation {
        &self.reinvocation
    }

    /// Returns the same for changes.
    pub fn reinvocation_mut(&mut self) -> &mut Reinvocation {
        &mut self.reinvocation
    }

    /// Keeps a transaction open until the result of the write is known: then it is committed, or
    /// rolled back if nothing was written. That of a deletion or of a request that writes no object
    /// is rolled back at once.
    pub fn reserve(&self, begun: Box<dyn Begun>) {
        self.reserved.lock().push(begun);
    }

    /// Reports whether a plugin may have changed the new object.
    pub(crate) fn changed(&self) -> bool {
        self.changed
    }

    /// Takes the open transactions.
    pub(crate) fn take_reserved(&self) -> Vec<Box<dyn Begun>> {
        std::mem::take(&mut self.reserved.lock())
    }

    /// Returns 403 with upstream's message: about the requested name, that of the new object, or
    /// the prefix of a name that is not generated yet.
    pub fn forbidden(&self, why: impl fmt::Display) -> Status {
        Status::forbidden(&self.target.group_resource(), &self.name(), why.to_string())
    }

    fn name(&self) -> Str {
        if !self.target.name.is_empty() {
            return self.target.name.into();
        }
        let meta = match &self.object {
            Object::Connection(_) => return "Unknown/errorGettingName".into(),
            _ => self.object().map(AnyObject::meta),
        };
        let names = meta.map(|meta| [&meta.name, &meta.generate_name]);
        let mut names = names.into_iter().flatten();
        let name = names.find(|it| !it.is_empty());
        name.cloned().unwrap_or_else(|| "Unknown".into())
    }

    /// Forgets the forms of the new object, which is about to change.
    fn forget_new(&mut self) {
        self.changed = true;
        self.trees.get_mut().retain(|it| it.side != Side::New);
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
