//! Kubeconfig files: parsed, merged with themselves, and each context followed to a transport.

#![no_main]

use kubist_kubeconfig::{Environment, Kubeconfig, Selection};
use libfuzzer_sys::fuzz_target;

/// Contexts that are followed; more are more of the same.
const CONTEXTS_MAX: usize = 4;

fuzz_target!(|text: &str| {
    let Ok(one) = Kubeconfig::parse(text, "fuzz/config".as_ref()) else {
        return;
    };
    let environment = Environment::default();
    let mut names: Vec<_> = one.contexts.iter().map(|it| it.name.clone()).collect();
    names.truncate(CONTEXTS_MAX);
    let mut merged = one.clone();
    merged.merge(one.clone());
    for name in names {
        let selection = || {
            let mut selection = Selection::default();
            selection.context = Some(name.clone());
            selection
        };
        let followed = one.select(&selection(), &environment);
        let after_merge = merged.select(&selection(), &environment);
        assert_eq!(followed.is_ok(), after_merge.is_ok());
    }
});
