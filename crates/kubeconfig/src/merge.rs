//! Merging of several files: for each name the first file wins.

use crate::kubeconfig::Kubeconfig;

impl Kubeconfig {
    /// Adds the entries of `later` that are missing here. Entries are taken whole, never field by
    /// field; within one file, the first entry with a name wins.
    pub fn merge(&mut self, later: Self) {
        append(&mut self.clusters, later.clusters, |named| &named.name);
        append(&mut self.users, later.users, |named| &named.name);
        append(&mut self.contexts, later.contexts, |named| &named.name);
        if self.current_context.is_empty() {
            self.current_context = later.current_context;
        }
    }
}

fn append<T>(all: &mut Vec<T>, later: Vec<T>, name: impl Fn(&T) -> &String) {
    for entry in later {
        if all.iter().all(|known| name(known) != name(&entry)) {
            all.push(entry);
        }
    }
}
