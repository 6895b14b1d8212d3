//! `Settings`: what a `PriorityLevelConfiguration` says, as numbers.

use kubist_api::flowcontrol::v1::PriorityLevelConfiguration;

/// What upstream fills in where a level says nothing.
const SHARES: i32 = 30;

/// What a level does with requests for which it has no seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// It has seats for all: it is exempt.
    Exempt,
    Reject,
    Queue(Queuing),
}

/// The queues of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queuing {
    pub(crate) queues: usize,
    pub(crate) hand: usize,
    pub(crate) length_max: usize,
}

/// What a level is configured to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) response: Response,
    pub(crate) shares: u32,
    /// The share of its seats that it lends.
    pub(crate) lendable: f64,
    /// How many seats it borrows at most, as a share of its own; none: any number.
    pub(crate) borrowing: Option<f64>,
}

impl Settings {
    pub(crate) fn of(level: &PriorityLevelConfiguration) -> Self {
        let spec = &level.spec;
        if &*spec.type_ == "Exempt" {
            let exempt = spec.exempt.as_deref();
            return Self {
                response: Response::Exempt,
                shares: count(
                    exempt
                        .and_then(|it| it.nominal_concurrency_shares)
                        .unwrap_or(0),
                ),
                lendable: percent(exempt.and_then(|it| it.lendable_percent).unwrap_or(0)),
                borrowing: None,
            };
        }
        let Some(limited) = spec.limited.as_deref() else {
            // It cannot be stored without; then it lets nothing through beside its one seat.
            return Self {
                response: Response::Reject,
                shares: 0,
                lendable: 0.0,
                borrowing: Some(0.0),
            };
        };
        let queuing = limited.limit_response.queuing.as_deref();
        let response = match queuing.filter(|_| &*limited.limit_response.type_ == "Queue") {
            None => Response::Reject,
            Some(queuing) => Response::Queue(Queuing {
                queues: usize_of(queuing.queues).max(1),
                hand: usize_of(queuing.hand_size).max(1),
                length_max: usize_of(queuing.queue_length_limit).max(1),
            }),
        };
        Self {
            response,
            shares: count(limited.nominal_concurrency_shares.unwrap_or(SHARES)),
            lendable: percent(limited.lendable_percent.unwrap_or(0)),
            borrowing: limited.borrowing_limit_percent.map(percent),
        }
    }
}

fn count(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

fn usize_of(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

fn percent(number: i32) -> f64 {
    f64::from(number.max(0)) / 100.0
}
