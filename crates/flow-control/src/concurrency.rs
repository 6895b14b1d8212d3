//! The seats of priority levels: what each has by its shares, and what they lend each other.

use crate::demand::Period;
use crate::settings::{Response, Settings};

/// The seats of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seats {
    /// By its shares.
    pub(crate) nominal: u32,
    /// What it keeps however little it needs.
    pub(crate) min: u32,
    /// What it has at most; none: no limit.
    pub(crate) max: Option<u32>,
}

/// Returns the seats of levels of a server that has `total`.
pub(crate) fn nominal<'a>(
    total: u32,
    levels: impl Iterator<Item = &'a Settings> + Clone,
) -> Vec<Seats> {
    let shares: u64 = levels.clone().map(|it| u64::from(it.shares)).sum();
    let seats = levels.map(|level| {
        let product = u64::from(total) * u64::from(level.shares);
        let nominal = u32::try_from(product.div_ceil(shares.max(1))).unwrap_or(u32::MAX);
        let lends = rounded(f64::from(nominal) * level.lendable);
        let borrows = level.borrowing;
        let borrows = borrows.map(|it| rounded(f64::from(nominal) * it));
        Seats {
            nominal,
            min: nominal.saturating_sub(lends),
            max: match level.response {
                Response::Exempt => None,
                _ => borrows.map(|it| nominal.saturating_add(it)),
            },
        }
    });
    seats.collect()
}

/// A level, as the lending of seats sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borrower {
    pub(crate) seats: Seats,
    pub(crate) demand: Period,
    pub(crate) is_exempt: bool,
}

impl Borrower {
    /// What it gets in any case: what it needs of its own seats.
    fn floor(&self) -> f64 {
        let own = f64::from(self.seats.nominal).min(self.demand.peak);
        own.max(f64::from(self.seats.min))
    }

    fn target(&self) -> f64 {
        self.floor().max(self.demand.smoothed)
    }

    fn share(&self, fraction: f64) -> f64 {
        let wanted = (self.target() * fraction).max(self.floor());
        self.seats
            .max
            .map_or(wanted, |max| wanted.min(f64::from(max)))
    }
}

/// Returns the seats that each level has until the next adjustment: all seats are given out, each
/// level gets the same fraction of what it has wanted lately, within its bounds. Exempt levels take
/// what they need, and the others share the rest.
pub(crate) fn lend(total: u32, levels: &[Borrower]) -> Vec<u32> {
    let exempt = levels
        .iter()
        .filter(|it| it.is_exempt)
        .map(Borrower::target);
    let rest = (f64::from(total) - exempt.sum::<f64>()).max(0.0);
    let limited = || levels.iter().filter(|it| !it.is_exempt);
    let given = |fraction: f64| limited().map(|it| it.share(fraction)).sum::<f64>();
    let fraction = fraction(rest, given);
    let seats = levels.iter().map(|level| {
        if level.is_exempt {
            return rounded(level.target()).max(level.seats.nominal);
        }
        rounded(level.share(fraction)).max(level.seats.min).max(1)
    });
    seats.collect()
}

/// Returns the fraction at which `given`, which grows with it, is `rest`; or the ends of the range
/// if it is less or more everywhere.
fn fraction(rest: f64, given: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // A level with a target of one seat would get a million.
    while given(high) < rest && high < 1e6 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if given(middle) < rest {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

fn rounded(number: f64) -> u32 {
    // Casts of floats saturate.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the bounds are applied here"
    )]
    let whole = number.round().clamp(0.0, f64::from(u32::MAX)) as u32;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn level(shares: u32, lendable: f64, borrowing: Option<f64>) -> Settings {
        Settings {
            response: Response::Reject,
            shares,
            lendable,
            borrowing,
        }
    }

    fn borrower(seats: Seats, demand: f64) -> Borrower {
        Borrower {
            seats,
            demand: Period {
                peak: demand,
                smoothed: demand,
            },
            is_exempt: false,
        }
    }

    #[test]
    fn seats_are_given_by_shares_and_rounded_up() {
        let levels = [
            level(30, 0.33, None),
            level(40, 0.25, Some(0.5)),
            level(5, 0.0, Some(0.0)),
        ];
        let seats = nominal(600, levels.iter());
        assert_eq!(
            seats.iter().map(|it| it.nominal).collect::<Vec<_>>(),
            [240, 320, 40]
        );
        assert_eq!(
            seats.iter().map(|it| it.min).collect::<Vec<_>>(),
            [161, 240, 40]
        );
        assert_eq!(
            seats.iter().map(|it| it.max).collect::<Vec<_>>(),
            [None, Some(480), Some(40)]
        );
        assert_eq!(nominal(600, [level(0, 0.0, None)].iter())[0].nominal, 0);
    }

    #[test]
    fn a_busy_level_borrows_what_an_idle_one_lends() {
        let levels = [level(50, 0.5, None), level(50, 0.0, None)];
        let seats = nominal(100, levels.iter());
        let idle = lend(100, &[borrower(seats[0], 0.0), borrower(seats[1], 0.0)]);
        assert_eq!(idle, [33, 67], "without demand by what each keeps");
        let busy = lend(100, &[borrower(seats[0], 0.0), borrower(seats[1], 200.0)]);
        assert_eq!(busy, [25, 75]);
        let both = lend(100, &[borrower(seats[0], 100.0), borrower(seats[1], 100.0)]);
        assert_eq!(both, [50, 50]);
        let back = lend(100, &[borrower(seats[0], 80.0), borrower(seats[1], 0.0)]);
        assert_eq!(back, [50, 50], "the other lends nothing");
    }

    #[test]
    fn exempt_requests_count_against_the_seats_of_the_others() {
        let exempt = Borrower {
            is_exempt: true,
            ..borrower(Seats::default(), 40.0)
        };
        let own = Seats {
            nominal: 100,
            min: 50,
            max: None,
        };
        assert_eq!(lend(100, &[exempt, borrower(own, 0.0)]), [40, 60]);
    }

    proptest! {
        #[test]
        fn levels_stay_within_their_bounds(
            of in proptest::collection::vec((1_u32..100, 0.0..1.0_f64, 0.0..3.0_f64, 0.0..500.0_f64), 1..8),
        ) {
            let settings: Vec<Settings> =
                of.iter().map(|it| level(it.0, it.1, Some(it.2))).collect();
            let seats = nominal(600, settings.iter());
            let demands = seats.iter().zip(&of);
            let levels: Vec<Borrower> = demands.map(|(it, of)| borrower(*it, of.3)).collect();
            let lent = lend(600, &levels);
            for ((seats, level), lent) in seats.iter().zip(&levels).zip(&lent) {
                prop_assert!(*lent >= seats.min);
                prop_assert!(f64::from(*lent) + 1.0 >= level.floor().min(f64::from(seats.nominal)));
                prop_assert!(seats.max.is_none_or(|max| *lent <= max.max(1)));
            }
            // Rounding and the rounding up of shares are less than one seat for each level.
            let given: u32 = lent.iter().sum();
            prop_assert!(given as usize <= 600 + 2 * levels.len());
        }
    }
}
