//! [`Opaque`]: values of the types of libraries, such as quantities.

use crate::cel_type::Type;
use crate::error::EvalError;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A value of a library's type.
pub trait OpaqueValue: Any + fmt::Debug + Send + Sync {
    /// Returns the type, an object or opaque type.
    fn runtime_type(&self) -> Type;

    /// Compares with another value, which may be of another type. Fails if they cannot be compared.
    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError>;

    /// Returns the size, if the type has one.
    fn size(&self) -> Option<u64> {
        None
    }

    /// Reports whether this is the type's zero value.
    fn is_zero(&self) -> bool {
        false
    }

    /// Formats the value as `%s` and error messages do.
    fn text(&self) -> Option<String> {
        None
    }
}

/// A shared [`OpaqueValue`].
#[derive(Debug, Clone)]
pub struct Opaque(Arc<dyn OpaqueValue>);

impl Opaque {
    /// Wraps a value.
    pub fn new(value: impl OpaqueValue) -> Self {
        Self(Arc::new(value))
    }

    /// Returns the value if it is of a Rust type.
    pub fn downcast<T: OpaqueValue>(&self) -> Option<&T> {
        let value: &dyn Any = &*self.0;
        value.downcast_ref()
    }

    pub(crate) fn value(&self) -> &dyn OpaqueValue {
        &*self.0
    }

    pub(crate) fn runtime_type(&self) -> Type {
        self.0.runtime_type()
    }

    pub(crate) fn size(&self) -> Option<u64> {
        self.0.size()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    pub(crate) fn text(&self) -> Option<String> {
        self.0.text()
    }
}
