//! Paged lists.

use super::recoveries;

recoveries! {
    a_first_list_takes_any_state_and_a_watch_goes_on_from_it: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=9
        watch rv=9          -> ~a@10 +c@11 -b@12
        store: a@10 c@11 rv=12
        events: Added(a@1, initial) Added(b@2, initial) Updated(a@1->10) Added(c@11) Known(b)
        reports:
        stats: lists=1 watches=1 listed=2 events=3 failures=0
    "

    pages_follow_their_token_and_name_no_version: "
        config: paged
        list rv=0 limit=500             -> a@1 rv=9 more=t1
        list rv= limit=500 continue=t1  -> b@2 rv=9 more=t2
        list rv= limit=500 continue=t2  -> c@3 rv=9
        watch rv=9                      ->
        store: a@1 b@2 c@3 rv=9
        stats: lists=1 listed=3
    "

    a_relist_names_the_last_version_and_asks_for_no_pages: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=9
        watch rv=9          -> ~a@10 60s fail expired
        list rv=10 limit=0  -> a@10 rv=12
        watch rv=12         ->
        store: a@10 rv=12
    "

    a_server_that_splits_lists_of_version_0_has_no_cache_and_is_asked_for_pages: "
        config: paged
        list rv=0 limit=500            -> a@1 rv=9 more=t
        list rv= limit=500 continue=t  -> b@2 rv=9
        watch rv=9                     -> 60s fail expired
        list rv=9 limit=500            -> a@1 b@2 rv=12
        watch rv=12                    ->
    "

    a_page_size_that_was_asked_for_holds_for_every_list: "
        config: paged page-size=50
        list rv=0 limit=50  -> a@1 rv=9
        watch rv=9          -> 60s fail expired
        list rv=9 limit=50  -> a@1 rv=12
        watch rv=12         ->
    "

    a_page_size_of_0_asks_for_everything_at_once: "
        config: paged page-size=0
        list rv=0 limit=0   -> a@1 rv=9
        watch rv=9          ->
    "

    an_expired_version_at_a_list_asks_for_the_newest_state_at_once: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=9
        watch rv=9          -> 60s fail expired
        list rv=9 limit=0   -> refuse expired
        list rv= limit=500  -> a@20 rv=30
        watch rv=30         ->
        store: a@20 rv=30
        reports: watch failed (expired): Relist, list failed (expired)
    "

    an_expired_version_for_the_newest_state_too_pauses: "
        config: paged
        list rv=0 limit=500                  -> refuse expired
        list rv= limit=500                   -> refuse expired
        after 0.8..1.6 list rv= limit=500    -> refuse expired
        after 1.6..3.2 list rv= limit=500    -> a@20 rv=30
        watch rv=30                          ->
        store: a@20 rv=30
    "

    a_token_that_expires_on_page_2_lists_again_without_pages: "
        config: paged
        list rv=0 limit=500            -> a@1 rv=9 more=t
        list rv= limit=500 continue=t  -> refuse expired
        list rv=0 limit=0              -> b@2 rv=10
        watch rv=10                    ->
        store: b@2 rv=10
        events: Added(b@2, initial)
        reports: list failed (expired)
    "

    page_2_that_expires_in_its_middle_leaves_nothing_behind: "
        config: paged
        list rv=0 limit=500            -> a@1 rv=9 more=t
        list rv= limit=500 continue=t  -> x@2 fail expired
        list rv=0 limit=0              -> b@2 rv=10
        watch rv=10                    ->
        store: b@2 rv=10
    "

    a_version_that_is_too_large_asks_for_the_newest_state_at_once: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=100
        watch rv=100        -> 60s fail expired
        list rv=100 limit=0 -> refuse too-large:1
        list rv= limit=500  -> a@1 rv=90
        watch rv=90         -> +b@91
        store: a@1 b@91 rv=91
        reports: watch failed (expired): Relist, list failed (too-large)
    "

    // Contract REFL-2.
    a_list_older_than_what_was_asked_for_is_not_used: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=100
        watch rv=100        -> ~a@101 60s fail expired
        list rv=101 limit=0 -> a@1 rv=90
        list rv= limit=500  -> a@101 rv=102
        watch rv=102        ->
        store: a@101 rv=102
        events: Added(a@1, initial) Updated(a@1->101)
        reports: watch failed (expired): Relist, stale 101
        stats: stale=1 lists=2
    "

    // Contract REFL-2.
    the_newest_state_counts_even_where_it_is_older: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=100
        watch rv=100        -> 60s fail expired
        list rv=100 limit=0 -> a@1 rv=90
        list rv= limit=500  -> a@1 rv=90
        watch rv=90         ->
        store: a@1 rv=90
        events: Added(a@1, initial) Added(b@2, initial) FinalStateUnknown(b)
    "

    a_throttled_list_waits_as_long_as_it_is_reported: "
        config: paged
        list rv=0 limit=500             -> refuse throttled:7
        after 7 list rv=0 limit=500     -> refuse throttled
        after 1.6..3.2 list rv=0 limit=500 -> a@1 rv=9
        watch rv=9                      ->
        reports: list failed (throttled), list failed (throttled)
    "

    no_server_can_ask_for_more_than_an_hour: "
        config: paged
        list rv=0 limit=500             -> refuse throttled:18446744073709551615
        after 3600 list rv=0 limit=500  -> a@1 rv=9
        watch rv=9                      ->
    "

    // Contract REFL-3.
    a_refused_connection_and_internal_errors_pause_longer_each_time: "
        config: paged
        list rv=0 limit=500                  -> refuse refused
        after 0.8..1.6 list rv=0 limit=500   -> refuse internal
        after 1.6..3.2 list rv=0 limit=500   -> refuse forbidden
        after 3.2..6.4 list rv=0 limit=500   -> refuse cut
        after 6.4..12.8 list rv=0 limit=500  -> refuse table
        after 12.8..25.6 list rv=0 limit=500 -> refuse internal
        after 25.6..51.2 list rv=0 limit=500 -> refuse internal
        after 30..60 list rv=0 limit=500     -> refuse internal
        after 30..60 list rv=0 limit=500     -> a@1 rv=9
        watch rv=9                           ->
        store: a@1 rv=9
        stats: failures=8
    "

    // Contract REFL-1.
    a_list_that_breaks_or_ends_early_leaves_nothing_behind: "
        config: paged
        list rv=0 limit=500                -> x@1 fail cut
        after 0.8..1.6 list rv=0 limit=500 -> y@2 close
        after 1.6..3.2 list rv=0 limit=500 -> a@3 rv=9
        watch rv=9                         ->
        store: a@3 rv=9
        events: Added(a@3, initial)
        reports: list failed (cut), list failed (other)
    "

    a_list_that_is_not_answered_is_given_up: "
        config: paged
        list rv=0 limit=500                  -> never
        after 90.8..91.6 list rv=0 limit=500 -> a@1 rv=9
        watch rv=9                           ->
        reports: ListSilent
    "

    // Contract REFL-7.
    a_list_may_take_its_time_but_not_stall: "
        config: paged
        list rv=0 limit=500                  -> a@1 80s b@2 80s c@3
        after 90.8..91.6 list rv=0 limit=500 -> d@3 rv=9
        watch rv=9                           ->
        store: d@3 rv=9
    "

    // Contract REFL-6.
    an_unreadable_item_of_a_list_costs_only_itself_and_keeps_what_was_known_of_it: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 ?x rv=9
        watch rv=9          -> 60s fail expired
        list rv=9 limit=0   -> ?b c@10 rv=12
        watch rv=12         ->
        store: b@2 c@10 rv=12
        events: Added(a@1, initial) Added(b@2, initial) FinalStateUnknown(a) Added(c@10)
        reports: unreadable x, watch failed (expired): Relist, unreadable b
        stats: invalid=2
    "

    a_relist_says_nothing_of_objects_in_the_same_version: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=9
        watch rv=9          -> 60s fail expired
        list rv=9 limit=0   -> a@1 b@5 rv=12
        watch rv=12         ->
        store: a@1 b@5 rv=12
        events: Added(a@1, initial) Added(b@2, initial) Updated(b@2->5)
        stats: unchanged=1
    "

    an_object_deleted_by_force_while_unreadable_goes_with_the_next_list: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=9
        watch rv=9          -> ?b 60s fail expired
        list rv=9 limit=0   -> a@1 rv=12
        watch rv=12         ->
        store: a@1 rv=12
        events: Added(a@1, initial) Added(b@2, initial) FinalStateUnknown(b)
    "
}
