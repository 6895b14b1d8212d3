//! Kinds that the server does not serve yet, or no longer, and slow responses.

use super::recoveries;

recoveries! {
    // Contract INF-15.
    a_kind_that_is_not_served_yet_is_asked_for_now_and_then_and_picked_up: "
        stream rv=               -> refuse not-served
        after 1..2 stream rv=  -> refuse not-served
        after 2..4 stream rv=  -> refuse not-served
        after 4..8 stream rv=  -> +a@1 end@5
        store: a@1 rv=5
        events: Added(a@1, initial)
        reports: not served
        stats: not_served=3 failures=0
    "

    a_kind_that_is_not_served_for_long_is_asked_for_every_half_minute: "
        stream rv=               -> refuse not-served
        after 1..2 stream rv=    -> refuse not-served
        after 2..4 stream rv=    -> refuse not-served
        after 4..8 stream rv=    -> refuse not-served
        after 8..16 stream rv=   -> refuse not-served
        after 16..32 stream rv=  -> refuse not-served
        after 30..60 stream rv=  -> refuse not-served
        after 30..60 stream rv=  -> +a@1 end@5
        store: a@1 rv=5
        reports: not served
    "

    a_kind_that_is_not_served_yet_is_asked_for_by_lists_alike: "
        config: paged
        list rv=0 limit=500               -> refuse not-served
        after 1..2 list rv=0 limit=500  -> refuse not-served
        after 2..4 list rv=0 limit=500  -> a@1 rv=5
        watch rv=5                        ->
        store: a@1 rv=5
        reports: not served
    "

    a_kind_that_is_served_no_longer_keeps_its_objects_until_a_list_says_otherwise: "
        stream rv=               -> +a@1 +b@2 end@5 60s close
        watch rv=5               -> refuse not-served
        after 1..2 stream rv=5 -> refuse not-served
        after 2..4 stream rv=5 -> +b@2 end@9 60s close
        watch rv=9               -> fail not-served
        after 1..2 stream rv=9   -> refuse not-served
        after 2..4 stream rv=9   -> +b@2 end@9
        store: b@2 rv=9
        events: Added(a@1, initial) Added(b@2, initial) FinalStateUnknown(a)
        reports: not served, not served
    "

    other_troubles_of_a_kind_that_is_not_served_are_reported_as_ever: "
        stream rv=               -> refuse not-served
        after 1..2 stream rv=  -> refuse refused
        after 0.8..1.6 stream rv= -> refuse not-served
        after 2..4 stream rv=  -> +a@1 end@5
        reports: not served, watch failed (refused): Relist
    "
}
