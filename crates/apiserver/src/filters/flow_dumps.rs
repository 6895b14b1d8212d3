//! `/debug/api_priority_and_fairness`: what waits and what is handled, as upstream's tables.
//!
//! Upstream's option `includeRequestDetails` is not known here.

use crate::filters::flow_control::FlowDump;
use crate::response::{ApiResponse, TEXT};
use kubist_apimachinery::MicroTime;
use kubist_flow_control::RequestStats;
use std::time::Duration;

/// Below which the tables are.
pub(crate) const PREFIX: &str = "/debug/api_priority_and_fairness/";
/// The least width of a column.
const WIDTH_MIN: usize = 8;

const LEVELS: [&str; 10] = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
];
const QUEUES: [&str; 9] = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
];
/// One name is misspelt upstream, and scripts know it so.
const REQUESTS: [&str; 10] = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
];

/// Returns a table by the last part of its path. `now` is since the Unix epoch.
pub(crate) fn answer(name: &str, dump: &FlowDump, now: Duration) -> ApiResponse {
    let text = match name {
        "dump_priority_levels" => levels(dump),
        "dump_queues" => queues(dump),
        "dump_requests" => requests(dump, now),
        _ => return ApiResponse::page_not_found(),
    };
    ApiResponse::whole(TEXT, text)
}

fn levels(dump: &FlowDump) -> String {
    let mut levels: Vec<_> = dump.levels.iter().collect();
    levels.sort_by(|one, other| one.name.cmp(&other.name));
    let rows = levels.iter().map(|level| {
        let outcomes = dump.outcomes.get(&level.name).copied().unwrap_or_default();
        let [dispatched, rejected, timed_out, cancelled] = outcomes;
        vec![
            level.name.to_string(),
            level.active_queues.to_string(),
            level.is_idle.to_string(),
            level.is_quiescing.to_string(),
            level.waiting.to_string(),
            level.executing.to_string(),
            dispatched.to_string(),
            rejected.to_string(),
            timed_out.to_string(),
            cancelled.to_string(),
        ]
    });
    table(&LEVELS, rows)
}

fn queues(dump: &FlowDump) -> String {
    let mut queues: Vec<_> = dump.queues.iter().collect();
    queues.sort_by_key(|it| (&it.priority_level, it.index));
    let rows = queues.iter().map(|queue| {
        vec![
            queue.priority_level.to_string(),
            queue.index.to_string(),
            queue.waiting.to_string(),
            queue.executing.to_string(),
            queue.executing_seats.to_string(),
            seat_seconds(queue.next_begins),
            queue.waiting_seats.to_string(),
            queue.waiting_seats_max.to_string(),
            seat_seconds(queue.waiting_work),
        ]
    });
    table(&QUEUES, rows)
}

fn requests(dump: &FlowDump, now: Duration) -> String {
    let at = |time: Duration| shown(now.saturating_sub(dump.now.saturating_sub(time)));
    // As upstream: by level and queue, and by arrival in each.
    let mut requests: Vec<_> = dump.requests.iter().collect();
    let key = |it: &&RequestStats| (it.class.priority_level.clone(), it.queue);
    requests.sort_by_key(key);
    let index = |it: Option<usize>| it.map_or_else(|| "-1".to_owned(), |it| it.to_string());
    let rows = requests.iter().map(|request| {
        vec![
            request.class.priority_level.to_string(),
            request.class.flow_schema.to_string(),
            index(request.queue),
            index(request.place),
            request.distinguisher.to_string(),
            at(request.arrived),
            request.seats.to_string(),
            "0".to_owned(),
            "0s".to_owned(),
            request.began.map(at).unwrap_or_default(),
        ]
    });
    table(&REQUESTS, rows)
}

fn seat_seconds(value: f64) -> String {
    format!("{value:.8}ss")
}

fn shown(since_epoch: Duration) -> String {
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
    let nanos = i32::try_from(since_epoch.subsec_nanos()).unwrap_or_default();
    MicroTime::from_unix(seconds, nanos).to_string()
}

/// Returns lines whose columns end with a comma, and begin at the same places.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let head = head.iter().map(|it| (*it).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let longest = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(String::len);
        (longest.max().unwrap_or(0) + ", ".len()).max(WIDTH_MIN)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (at, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if at + 1 < row.len() {
                text.push(',');
                let blank = widths[at] - cell.len() - 1;
                text.extend(std::iter::repeat_n(' ', blank));
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_at_least_eight_wide() {
        let rows = [vec!["system".to_owned(), "0".to_owned(), "x".to_owned()]];
        let text = table(&["PriorityLevelName", "Index", "Last"], rows.into_iter());
        assert_eq!(
            text,
            "PriorityLevelName, Index,  Last\n\
             system,            0,      x\n"
        );
    }
}
