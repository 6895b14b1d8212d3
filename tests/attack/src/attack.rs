//! `Attack`: all attacks, with the objects they need and their durations.
//!
//! Each has a bounded number of clients, concurrent requests and seconds, and ends by itself; a run
//! cuts off what is late.

mod bodies;
mod closed_windows;
mod definitions;
mod foreign_bodies;
mod frames;
mod hungry;
mod in_flight;
mod patches;
mod rapid_reset;
mod selectors;
mod slow_clients;
mod small_requests;
mod tables;
mod unsent;
mod watches;

use crate::Outcome;
use crate::call::{Call, JSON, PROTOBUF, TABLE, YAML};
use crate::fill::{config_maps, fill_config_maps, fill_pods};
use crate::stage::{Stage, repeat};
use std::sync::Arc;
use std::time::Duration;

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attack {
    /// No attack: the baseline of the machine.
    Nobody,
    /// Lists as JSON that are never read.
    ClosedWindowsJson,
    /// The same in protobuf.
    ClosedWindowsProtobuf,
    /// The same as tables.
    ClosedWindowsTable,
    /// The same in indented JSON.
    ClosedWindowsPretty,
    /// The same in YAML.
    ClosedWindowsYaml,
    /// Large objects that are never read.
    ClosedWindowsGets,
    /// Connections that send almost nothing.
    SlowClients,
    /// Streams that are reset when they are opened.
    RapidReset,
    /// Many small concurrent requests.
    SmallRequests,
    /// Many watches.
    Watches,
    /// Long selectors over many objects.
    Selectors,
    /// Patches that are expensive for their size.
    Patches,
    /// Bodies that are expensive for their size.
    Bodies,
    /// Tables of many objects.
    Tables,
    /// Large definitions that are created and deleted.
    Definitions,
    /// A mix of everything that costs CPU time.
    Hungry,
    /// More requests than may be in flight.
    InFlight,
    /// Writes whose bodies are never sent.
    Unsent,
}

/// Config maps of 10 kB, which make a list of 10 MB.
const LIST_OBJECTS: usize = 1_000;
const LIST_OBJECT_BYTES: usize = 10_000;
/// Nearly the size limit of a config map.
const LARGE_OBJECT_BYTES: usize = 1_000_000;
/// Clients of an attack on CPU time.
const HUNGRY_CLIENTS: usize = 8;
/// Objects for selectors and tables, and in the short form.
const MANY_OBJECTS: usize = 30_000;
const MANY_OBJECTS_SHORT: usize = 3_000;

impl Attack {
    /// All attacks, in the order of a run.
    pub(crate) const ALL: [Self; 19] = [
        Self::Nobody,
        Self::ClosedWindowsJson,
        Self::ClosedWindowsProtobuf,
        Self::ClosedWindowsTable,
        Self::ClosedWindowsPretty,
        Self::ClosedWindowsYaml,
        Self::ClosedWindowsGets,
        Self::SlowClients,
        Self::RapidReset,
        Self::SmallRequests,
        Self::Watches,
        Self::Selectors,
        Self::Patches,
        Self::Bodies,
        Self::Tables,
        Self::Definitions,
        Self::Hungry,
        Self::InFlight,
        Self::Unsent,
    ];

    /// Returns its name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::ClosedWindowsJson => "closed-windows-json",
            Self::ClosedWindowsProtobuf => "closed-windows-protobuf",
            Self::ClosedWindowsTable => "closed-windows-table",
            Self::ClosedWindowsPretty => "closed-windows-pretty",
            Self::ClosedWindowsYaml => "closed-windows-yaml",
            Self::ClosedWindowsGets => "closed-windows-gets",
            Self::SlowClients => "slow-clients",
            Self::RapidReset => "rapid-reset",
            Self::SmallRequests => "small-requests",
            Self::Watches => "watches",
            Self::Selectors => "selectors",
            Self::Patches => "patches",
            Self::Bodies => "bodies",
            Self::Tables => "tables",
            Self::Definitions => "definitions",
            Self::Hungry => "hungry",
            Self::InFlight => "in-flight",
            Self::Unsent => "unsent",
        }
    }

    /// Describes it in a sentence.
    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Nobody => "honest clients alone",
            Self::ClosedWindowsJson => "250 lists of 10 MB on one connection, never read",
            Self::ClosedWindowsProtobuf => "the same lists as protobuf",
            Self::ClosedWindowsTable => "the same lists as tables",
            Self::ClosedWindowsPretty => "the same lists, indented",
            Self::ClosedWindowsYaml => "the same lists as YAML",
            Self::ClosedWindowsGets => "an object of 1 MB, 250 times on 8 connections, never read",
            Self::SlowClients => "connections that send a byte now and then, or none",
            Self::RapidReset => "streams that are reset as soon as they are opened",
            Self::SmallRequests => "500 small requests at any time",
            Self::Watches => "thousands of watches, and a writer",
            Self::Selectors => "selectors of 62 kB over many objects, lists and watches",
            Self::Patches => "patches with thousands of steps, copies of copies, deep ones",
            Self::Bodies => "bodies of megabytes, of keys, of depth, of what is repeated",
            Self::Tables => "eight clients that list many objects as tables",
            Self::Definitions => "definitions with large schemas, created and deleted in turn",
            Self::Hungry => "eight clients with a mix of what costs CPU",
            Self::InFlight => "1,000 lists at once that are not read",
            Self::Unsent => "1,000 writes at once whose bodies come byte by byte, or never",
        }
    }

    /// Returns its duration.
    pub(crate) const fn time(self, short: bool) -> Duration {
        let (long, brief) = match self {
            Self::Nobody => (5_000, 1_000),
            Self::ClosedWindowsJson
            | Self::ClosedWindowsProtobuf
            | Self::ClosedWindowsTable
            | Self::ClosedWindowsPretty
            | Self::ClosedWindowsYaml
            | Self::ClosedWindowsGets => (10_000, 1_000),
            _ => (20_000, 1_800),
        };
        Duration::from_millis(if short { brief } else { long })
    }

    /// Creates the objects that it needs.
    pub(crate) async fn prepare(self, stage: &Stage) -> Outcome {
        let many = stage.many(MANY_OBJECTS, MANY_OBJECTS_SHORT);
        match self {
            Self::Nobody | Self::Bodies | Self::Definitions | Self::Unsent => Ok(()),
            Self::ClosedWindowsJson
            | Self::ClosedWindowsProtobuf
            | Self::ClosedWindowsTable
            | Self::ClosedWindowsPretty
            | Self::ClosedWindowsYaml
            | Self::InFlight => fill_config_maps(stage, LIST_OBJECTS, LIST_OBJECT_BYTES).await,
            Self::ClosedWindowsGets => fill_config_maps(stage, 1, LARGE_OBJECT_BYTES).await,
            Self::SlowClients | Self::RapidReset | Self::SmallRequests | Self::Watches => {
                fill_config_maps(stage, 1, 100).await
            }
            Self::Selectors | Self::Tables => fill_pods(stage, many).await,
            Self::Patches => patches::prepare(stage).await,
            Self::Hungry => {
                fill_pods(stage, many).await?;
                patches::prepare(stage).await
            }
        }
    }

    /// Attacks until the time is over.
    pub(crate) async fn run(self, stage: Arc<Stage>) -> Outcome {
        let list = |label| Call::get(label, config_maps());
        let stage = &stage;
        match self {
            Self::Nobody => {
                tokio::time::sleep_until(stage.until).await;
                Ok(())
            }
            Self::ClosedWindowsJson => {
                closed_windows::run(stage, 1, list("list").accept(JSON)).await
            }
            Self::ClosedWindowsProtobuf => {
                closed_windows::run(stage, 1, list("protobuf list").accept(PROTOBUF)).await
            }
            Self::ClosedWindowsTable => {
                closed_windows::run(stage, 1, list("table").accept(TABLE)).await
            }
            Self::ClosedWindowsPretty => {
                let call = Call::get("pretty list", config_maps() + "?pretty=true");
                closed_windows::run(stage, 1, call).await
            }
            Self::ClosedWindowsYaml => {
                closed_windows::run(stage, 1, list("YAML list").accept(YAML)).await
            }
            Self::ClosedWindowsGets => {
                let call = Call::get("get", config_maps() + "/m00000");
                closed_windows::run(stage, 8, call).await
            }
            Self::SlowClients => slow_clients::run(stage).await,
            Self::RapidReset => rapid_reset::run(stage).await,
            Self::SmallRequests => small_requests::run(stage).await,
            Self::Watches => watches::run(stage).await,
            Self::Selectors => repeat(stage, HUNGRY_CLIENTS, 1, selectors::calls()).await,
            Self::Patches => repeat(stage, HUNGRY_CLIENTS, 1, patches::calls()).await,
            Self::Bodies => repeat(stage, HUNGRY_CLIENTS, 1, all_bodies()).await,
            Self::Tables => repeat(stage, HUNGRY_CLIENTS, 1, tables::calls()).await,
            Self::Definitions => definitions::run(stage).await,
            Self::Hungry => repeat(stage, HUNGRY_CLIENTS, 1, hungry::calls()).await,
            Self::InFlight => in_flight::run(stage).await,
            Self::Unsent => unsent::run(stage).await,
        }
    }
}

/// Returns bodies in all formats.
fn all_bodies() -> Vec<Call> {
    let mut calls = bodies::calls();
    calls.extend(foreign_bodies::calls());
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_the_short_form_fits_into_a_minute() {
        let mut names: Vec<&str> = Attack::ALL.iter().map(|it| it.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Attack::ALL.len());
        let total: Duration = Attack::ALL.iter().map(|it| it.time(true)).sum();
        // The rest is for start, preparation, and waiting for memory to be released.
        assert!(total < Duration::from_secs(30), "{total:?}");
    }
}
