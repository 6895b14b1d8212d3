//! Rows of Events in both groups.

use super::age::{since, since_micro};
use super::cells;
use super::listing::text_or;
use kubist_api::core::v1::Event;
use kubist_apimachinery::Time;
use serde_json::Value;

pub(super) fn event(object: &Event, now: Time) -> Vec<Value> {
    let first = match object.first_timestamp.filter(|it| !it.is_zero()) {
        None => since_micro(object.event_time, now),
        first => since(first, now),
    };
    let last = match (
        &object.series,
        object.last_timestamp.filter(|it| !it.is_zero()),
    ) {
        (Some(series), _) => since_micro(series.last_observed_time, now),
        (None, None) => first.clone(),
        (None, last) => since(last, now),
    };
    let count = match &object.series {
        Some(series) => series.count,
        None => object.count.max(1),
    };
    let about = &object.involved_object;
    let kind = about.kind.to_lowercase();
    let target = match &*about.name {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    cells![
        last,
        &*object.type_,
        &*object.reason,
        target,
        &*about.field_path,
        source(object),
        object.message.trim(),
        first,
        count,
        &*object.metadata.name,
    ]
}

fn source(event: &Event) -> String {
    let component = text_or(&event.source.component, &event.reporting_component);
    let host = text_or(&event.source.host, &event.reporting_instance);
    match host {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    }
}
