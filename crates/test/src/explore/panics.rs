//! Panics of controllers under exploration: caught by a hook, noted, and not printed.
//!
//! The hook is put before the one that is there, once per process, and acts only on threads that
//! run worlds. Reconcilers that panic are caught by their controllers, so a hook is the only way to
//! see them.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

/// The most panics that are kept of one world.
const PANICS_MAX: usize = 16;

thread_local! {
    static PANICS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Collects the panics of this thread until it is dropped.
#[derive(Debug)]
pub(crate) struct Panics(());

impl Panics {
    /// Begins to collect.
    pub(crate) fn collect() -> Self {
        HOOK.call_once(|| {
            let others = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                let text = || {
                    let place = info.location();
                    let place = place.map_or_else(String::new, |it| format!(" at {it}"));
                    let payload = info.payload();
                    let message = payload.downcast_ref::<&str>().copied();
                    let message = message.or_else(|| payload.downcast_ref().map(String::as_str));
                    let message = message.unwrap_or("a value that is no text");
                    format!("{message}{place}")
                };
                let kept = PANICS.try_with(|it| match it.borrow_mut().as_mut() {
                    Some(panics) => {
                        if panics.len() < PANICS_MAX {
                            panics.push(text());
                        }
                        true
                    }
                    None => false,
                });
                if !kept.unwrap_or(false) {
                    others(info);
                }
            }));
        });
        PANICS.with(|it| *it.borrow_mut() = Some(Vec::new()));
        Self(())
    }

    /// Takes what was collected so far.
    pub(crate) fn take() -> Vec<String> {
        PANICS.with(|it| {
            it.borrow_mut()
                .as_mut()
                .map(std::mem::take)
                .unwrap_or_default()
        })
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        PANICS.with(|it| *it.borrow_mut() = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_collected_with_their_place() {
        let panics = Panics::collect();
        drop(panic::catch_unwind(|| panic!("by a test")));
        let taken = Panics::take();
        assert_eq!(taken.len(), 1);
        assert!(taken[0].starts_with("by a test at "), "{}", taken[0]);
        assert!(Panics::take().is_empty());
        drop(panics);
    }
}
