//! `Place`: the place of a value or of a schema; a path is built only where there is an error. And
//! `Problems`: the errors so far, up to a limit.

use kubist_apimachinery::{FieldError, FieldPath};

/// The maximum size of all errors together, in bytes. A path is as long as all names in it.
const BYTES_MAX: usize = 1 << 20;

/// A place below a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Root(&'a FieldPath),
    Child(&'a Self, &'a str),
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl Place<'_> {
    pub(crate) fn path(&self) -> FieldPath {
        match self {
            Self::Root(path) => (*path).clone(),
            Self::Child(above, name) => above.path().child(name),
            Self::Key(above, name) => above.path().key(name),
            Self::Index(above, index) => above.path().index(*index),
        }
    }
}

/// The errors so far. Those beyond the limit are dropped, but never all of them.
#[derive(Debug)]
pub(crate) struct Problems {
    list: Vec<FieldError>,
    bytes_left: usize,
}

impl Default for Problems {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            bytes_left: BYTES_MAX,
        }
    }
}

impl Problems {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn into_list(self) -> Vec<FieldError> {
        self.list
    }

    /// Adds an error at a place.
    pub(crate) fn add(&mut self, at: &Place<'_>, make: impl FnOnce(&FieldPath) -> FieldError) {
        if self.bytes_left > 0 {
            self.push(make(&at.path()));
        }
    }

    /// Adds an error at a child of a place.
    pub(crate) fn add_child(
        &mut self,
        at: &Place<'_>,
        name: &str,
        make: impl FnOnce(&FieldPath) -> FieldError,
    ) {
        self.add(&Place::Child(at, name), make);
    }

    pub(crate) fn forbid(&mut self, at: &Place<'_>, name: &str, detail: &'static str) {
        self.add_child(at, name, |path| FieldError::forbidden(path, detail));
    }

    pub(crate) fn require(&mut self, at: &Place<'_>, name: &str, detail: &'static str) {
        self.add_child(at, name, |path| FieldError::required(path, detail));
    }

    pub(crate) fn extend(&mut self, errors: impl IntoIterator<Item = FieldError>) {
        for error in errors {
            if self.bytes_left == 0 {
                return;
            }
            self.push(error);
        }
    }

    fn push(&mut self, error: FieldError) {
        let size = error.to_string().len() + 64;
        self.bytes_left = self.bytes_left.saturating_sub(size);
        self.list.push(error);
    }
}
