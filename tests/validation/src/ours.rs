//! `Ours`: cases under Kubist's rules.

use crate::{Answer, Case, Cause};
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json_value};
use kubist_apimachinery::{AnyObject, Status};
use kubist_registry::{Registry, RegistryConfig, Rest, SystemClock, User, WallClock};
use kubist_storage::memory::MemoryKv;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The registry, over a store that stays empty.
#[derive(Debug)]
pub struct Ours {
    registry: Registry,
}

/// The creation time, so that a case is reproducible.
#[derive(Debug)]
struct Stopped(Duration);

impl WallClock for Stopped {
    fn now(&self) -> Duration {
        self.0
    }
}

impl Default for Ours {
    fn default() -> Self {
        let mut config = RegistryConfig::new(
            Arc::new(MemoryKv::default()),
            kubist_kinds::BuiltIn::shared(),
        );
        config.seed = Some(1);
        config.clock = Arc::new(Stopped(SystemClock.now()));
        Self {
            registry: Registry::new(config),
        }
    }
}

impl Ours {
    /// Returns the answer to a case.
    pub fn answer(&self, case: &Case) -> Answer {
        let api_version = case.text("/apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let Some(mut rest) = self.registry.resource(group, version, &case.resource) else {
            return fault("Unknown", &case.resource);
        };
        if !case.subresource.is_empty() {
            match rest.subresource(case.subresource) {
                Some(part) => rest = Arc::new(part),
                None => return fault("Unknown", case.subresource),
            }
        }
        let decoded = decode(&rest, &case.object).and_then(|new| {
            let old = case.old.as_ref().map(|old| decode(&rest, old));
            Ok((new, old.transpose()?))
        });
        match decoded {
            Ok((new, old)) => self.checked(&rest, new, old),
            Err(why) => fault("Decode", &why),
        }
    }

    fn checked(
        &self,
        rest: &Rest,
        new: Box<dyn AnyObject>,
        old: Option<Box<dyn AnyObject>>,
    ) -> Answer {
        let cx = self.registry.request(User::default());
        let defaulted = match rest.apply_defaults(new.boxed_clone()) {
            Ok(object) => to_json_value(&*object),
            Err(status) => return fault("Encode", &status.message),
        };
        let prepared = match old {
            Some(old) => rest.prepare_update(&cx, new, old),
            None => rest.prepare_create(&cx, new),
        };
        let mut answer = match prepared {
            Ok(object) => Answer {
                prepared: Some(to_json_value(&*object)),
                ..Answer::default()
            },
            Err(status) => refused(&status),
        };
        answer.defaulted = Some(defaulted);
        answer
    }
}

fn decode(rest: &Rest, value: &Value) -> Result<Box<dyn AnyObject>, String> {
    let mut object = rest.new_object().ok_or("it is no object")?;
    let mut cx = DecodeContext::new();
    let decoded = merge_json(&mut *object, value.to_string().as_bytes(), &mut cx);
    decoded.map_err(|error| error.to_string())?;
    Ok(object)
}

fn refused(status: &Status) -> Answer {
    if status.reason != *"Invalid" {
        return fault(&status.reason, &status.message);
    }
    let causes = status.causes().iter().map(|cause| Cause {
        field: cause.field.to_string(),
        reason: cause.reason.to_string(),
        message: cause.message.to_string(),
    });
    Answer {
        causes: causes.collect(),
        ..Answer::default()
    }
}

fn fault(fault: &str, message: &str) -> Answer {
    Answer {
        fault: Some(fault.to_owned()),
        message: Some(message.to_owned()),
        ..Answer::default()
    }
}
