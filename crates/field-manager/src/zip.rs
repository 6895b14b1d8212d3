//! Two sorted sequences, side by side.

use std::cmp::Ordering;

/// Visits two sequences in their order: each element of either, with its equal in the other.
pub(crate) fn zip_sorted<T>(
    left: impl IntoIterator<Item = T>,
    right: impl IntoIterator<Item = T>,
    order: impl Fn(&T, &T) -> Ordering,
    mut visit: impl FnMut(Option<T>, Option<T>),
) {
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some(left), Some(right)) => order(left, right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let take_left = order.is_le().then(|| left.next()).flatten();
        let take_right = order.is_ge().then(|| right.next()).flatten();
        visit(take_left, take_right);
    }
}
