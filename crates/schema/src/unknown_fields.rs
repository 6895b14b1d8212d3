//! `UnknownFields`: the paths of pruned fields.

/// The maximum size of all paths together, in bytes. A path is as long as all names in it, and an
/// object can have as many unknown fields as bytes.
const PATHS_BYTES_MAX: usize = 1 << 20;

/// The paths of the fields that pruning removed, for strict validation and warnings.
#[derive(Clone, Debug, Default)]
pub struct UnknownFields {
    at: String,
    paths: Vec<String>,
    bytes: usize,
}

impl UnknownFields {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the paths in order, such as `spec.items[0].x`: at most a mebibyte of them.
    pub fn into_paths(mut self) -> Vec<String> {
        self.paths.sort();
        self.paths
    }

    /// Returns upstream's messages, such as `unknown field "spec.x"`.
    pub fn into_messages(self) -> Vec<String> {
        let paths = self.into_paths().into_iter();
        paths.map(|it| format!("unknown field \"{it}\"")).collect()
    }

    pub(crate) fn add(&mut self, path: String) {
        self.bytes = self.bytes.saturating_add(path.len() + 1);
        if self.bytes <= PATHS_BYTES_MAX {
            self.paths.push(path);
        }
    }

    /// Records a member of the current object.
    fn record(&mut self, name: &str) {
        if self.bytes.saturating_add(self.at.len() + name.len()) > PATHS_BYTES_MAX {
            self.bytes = usize::MAX;
            return;
        }
        let length = self.enter(name);
        let path = self.at.clone();
        self.leave(length);
        self.add(path);
    }

    fn enter(&mut self, name: &str) -> usize {
        let length = self.at.len();
        if length > 0 {
            self.at.push('.');
        }
        self.at.push_str(name);
        length
    }

    fn enter_item(&mut self, index: usize) -> usize {
        let length = self.at.len();
        self.at.extend(["[", &index.to_string(), "]"]);
        length
    }

    fn leave(&mut self, length: usize) {
        self.at.truncate(length);
    }
}

/// The optional list of unknown fields, with the current path.
#[derive(Debug)]
pub(crate) struct Tracker<'a>(pub(crate) Option<&'a mut UnknownFields>);

impl Tracker<'_> {
    pub(crate) fn is_at_root(&self) -> bool {
        self.0.as_ref().is_none_or(|it| it.at.is_empty())
    }

    pub(crate) fn record(&mut self, name: &str) {
        if let Some(fields) = &mut self.0 {
            fields.record(name);
        }
    }

    /// Runs `work` with the path of a member.
    pub(crate) fn within(&mut self, name: &str, work: impl FnOnce(&mut Self)) {
        let length = self.0.as_mut().map(|it| it.enter(name));
        work(self);
        self.leave(length);
    }

    /// Runs `work` with the path of an item.
    pub(crate) fn within_item(&mut self, index: usize, work: impl FnOnce(&mut Self)) {
        let length = self.0.as_mut().map(|it| it.enter_item(index));
        work(self);
        self.leave(length);
    }

    fn leave(&mut self, length: Option<usize>) {
        if let (Some(fields), Some(length)) = (&mut self.0, length) {
            fields.leave(length);
        }
    }
}
