//! Follows the stored `APIService`s.

use crate::aggregation::Aggregation;
use crate::aggregation::remote::Remote;
use crate::following::Followed;
use kubist_api::apiregistration::v1::APIService;

impl Aggregation {
    fn remote_of(&self, object: &APIService, before: Option<&Remote>) -> Option<Remote> {
        Remote::of(object, self.config.identity.as_ref(), before)
    }
}

impl Followed<Aggregation> for APIService {
    fn put(&self, to: &Aggregation) {
        let name = &*self.metadata.name;
        let before = to.table().and_then(|it| it.get(name).cloned());
        let remote = to.remote_of(self, before.as_deref());
        // Nothing changes with a local one, of which there are many.
        if remote.is_none() && before.is_none() {
            return;
        }
        to.change(|table| match remote {
            Some(remote) => table.put(remote),
            None => table.remove(name),
        });
    }

    fn remove(from: &Aggregation, _namespace: &str, name: &str) {
        if from.table().is_some_and(|it| it.has(name)) {
            from.change(|table| table.remove(name));
        }
    }

    fn replace(of: &Aggregation, all: &[&Self]) {
        let before = of.table();
        let remotes = all.iter().filter_map(|object| {
            let before = before.as_ref();
            let before = before.and_then(|it| it.get(&object.metadata.name));
            of.remote_of(object, before.map(|it| &**it))
        });
        let remotes: Vec<Remote> = remotes.collect();
        if remotes.is_empty() && before.is_none() {
            return;
        }
        of.change(|table| {
            *table = Default::default();
            for remote in remotes {
                table.put(remote);
            }
        });
    }
}
