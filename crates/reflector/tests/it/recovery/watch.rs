//! Watches, and what follows their end.

use super::recoveries;

recoveries! {
    a_clean_end_resumes_at_once_from_the_last_version: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> ~a@6 60s close
        watch rv=6          -> mark@9 60s close
        watch rv=9          -> ~a@10
        store: a@10 rv=10
        reports:
        stats: lists=1 watches=3 bookmarks=1 failures=0
    "

    a_watch_of_nothing_but_bookmarks_is_healthy_and_moves_on: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> 60s mark@20 60s mark@30 60s fail cut
        watch rv=30         ->
        store: a@1 rv=30
        events: Added(a@1, initial)
    "

    a_very_short_watch_is_a_failure_and_three_of_them_list_again: "
        config: paged
        list rv=0 limit=500              -> a@1 rv=5
        watch rv=5                       -> 0.5s close
        after 0.8..1.6 watch rv=5        -> close
        after 1.6..3.2 watch rv=5        -> close
        after 3.2..6.4 list rv=5 limit=0 -> a@1 rv=7
        watch rv=7                       ->
        reports: WatchTooShort, WatchTooShort, WatchTooShort
    "

    // Contract REFL-9.
    a_watch_that_brought_something_is_resumed_at_once_when_it_ends_or_is_cut: "
        config: paged
        list rv=0 limit=500      -> a@1 rv=5
        watch rv=5               -> ~a@6 0.2s fail cut
        watch rv=6               -> mark@7 9s close
        watch rv=7               -> ~a@8 3s fail cut
        watch rv=8               ->
        store: a@8 rv=8
        reports: watch failed (cut): Resume, watch failed (cut): Resume
    "

    // Contract REFL-9.
    a_server_that_ends_each_watch_after_one_event_is_asked_once_a_second: "
        config: paged
        list rv=0 limit=500       -> a@1 rv=5
        watch rv=5                -> ~a@6 close
        watch rv=6                -> ~a@7 0.4s close
        after 0.5..0.7 watch rv=7 -> ~a@8 close
        after 0.9..1.1 watch rv=8        -> ~a@9
        reports:
    "

    // Contract REFL-9.
    a_server_that_cuts_each_watch_after_one_event_is_asked_once_a_second_and_never_lists_again: "
        config: paged
        list rv=0 limit=500       -> a@1 rv=5
        watch rv=5                -> ~a@6 fail cut
        watch rv=6                -> ~a@7 0.4s fail cut
        after 0.5..0.7 watch rv=7 -> ~a@8 fail cut
        after 0.9..1.1 watch rv=8        -> ~a@9 fail cut
        after 0.9..1.1 watch rv=9        -> ~a@10 fail cut
        after 0.9..1.1 watch rv=10       -> ~a@11 fail cut
        after 0.9..1.1 watch rv=11       ->
        stats: lists=1 failures=6
    "

    a_watch_that_the_server_ends_with_an_error_is_resumed_after_a_pause_though_it_brought_something: "
        config: paged
        list rv=0 limit=500       -> a@1 rv=5
        watch rv=5                -> ~a@6 fail internal
        after 0.8..1.6 watch rv=6 -> ~a@7 fail throttled:3
        after 3 watch rv=7        ->
        stats: lists=1
    "

    what_could_not_be_read_is_nothing_brought: "
        config: paged
        list rv=0 limit=500       -> a@1 rv=5
        watch rv=5                -> ?~a fail cut
        after 0.8..1.6 watch rv=5 ->
        reports: unreadable a, watch failed (cut): Resume
    "

    an_expired_version_at_the_start_of_a_watch_lists_again: "
        config: paged
        list rv=0 limit=500                -> a@1 rv=5
        watch rv=5                         -> refuse expired
        after 0.8..1.6 list rv=5 limit=0   -> a@1 b@6 rv=8
        watch rv=8                         ->
        store: a@1 b@6 rv=8
        reports: watch failed (expired): Relist
    "

    an_expired_version_in_mid_stream_lists_again_at_once_after_a_healthy_watch: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=5
        watch rv=5          -> ~a@6 60s fail expired
        list rv=6 limit=0   -> a@6 rv=20
        watch rv=20         ->
        store: a@6 rv=20
        events: Added(a@1, initial) Added(b@2, initial) Updated(a@1->6) FinalStateUnknown(b)
        reports: watch failed (expired): Relist
    "

    // Contract REFL-3.
    a_version_that_expires_at_every_watch_does_not_spin: "
        config: paged
        list rv=0 limit=500                -> a@1 rv=5
        watch rv=5                         -> refuse expired
        after 0.8..1.6 list rv=5 limit=0   -> a@1 rv=6
        watch rv=6                         -> refuse expired
        after 1.6..3.2 list rv=6 limit=0   -> a@1 rv=7
        watch rv=7                         ->
    "

    // Contract REFL-3.
    throttling_resumes_as_reported_and_never_lists_again: "
        config: paged
        list rv=0 limit=500          -> a@1 rv=5
        watch rv=5                   -> refuse throttled:2
        after 2 watch rv=5           -> refuse throttled
        after 1.6..3.2 watch rv=5    -> refuse throttled
        after 3.2..6.4 watch rv=5    -> refuse throttled
        after 6.4..12.8 watch rv=5   -> ~a@6 fail throttled:3
        after 3 watch rv=6           ->
        stats: lists=1
    "

    a_refused_connection_resumes_and_never_lists_again: "
        config: paged
        list rv=0 limit=500          -> a@1 rv=5
        watch rv=5                   -> refuse refused
        after 0.8..1.6 watch rv=5    -> refuse refused
        after 1.6..3.2 watch rv=5    -> refuse refused
        after 3.2..6.4 watch rv=5    -> refuse refused
        after 6.4..12.8 watch rv=5   -> ~a@6
        store: a@6 rv=6
    "

    a_cut_connection_resumes_and_three_watches_that_bring_nothing_list_again: "
        config: paged
        list rv=0 limit=500              -> a@1 rv=5
        watch rv=5                       -> ~a@6 60s fail cut
        watch rv=6                       -> fail cut
        after 0.8..1.6 watch rv=6        -> fail cut
        after 1.6..3.2 watch rv=6        -> fail cut
        after 3.2..6.4 list rv=6 limit=0 -> a@6 rv=9
        watch rv=9                       ->
        stats: failures=4
    "

    internal_errors_list_again_after_three_where_there_is_no_window: "
        config: paged
        list rv=0 limit=500              -> a@1 rv=5
        watch rv=5                       -> fail internal
        after 0.8..1.6 watch rv=5        -> fail internal
        after 1.6..3.2 watch rv=5        -> fail internal
        after 3.2..6.4 list rv=5 limit=0 -> a@1 rv=9
        watch rv=9                       ->
    "

    internal_errors_resume_within_their_window_and_then_list_again: "
        config: paged internal-window=6
        list rv=0 limit=500               -> a@1 rv=5
        watch rv=5                        -> fail internal
        after 0.8..1.6 watch rv=5         -> fail internal
        after 1.6..3.2 watch rv=5         -> fail internal
        after 3.2..6.4 watch rv=5         -> 6s fail internal
        after 6.4..12.8 list rv=5 limit=0 -> a@1 rv=9
        watch rv=9                        ->
    "

    one_good_watch_ends_the_trouble_with_internal_errors: "
        config: paged internal-window=6
        list rv=0 limit=500               -> a@1 rv=5
        watch rv=5                        -> fail internal
        after 0.8..1.6 watch rv=5         -> ~a@6 70s fail internal
        after 0.8..1.6 watch rv=6         ->
        store: a@6 rv=6
    "

    // Contract REFL-4.
    only_a_healthy_watch_starts_pauses_over: "
        config: paged
        list rv=0 limit=500                 -> refuse internal
        after 0.8..1.6 list rv=0 limit=500  -> refuse internal
        after 1.6..3.2 list rv=0 limit=500  -> a@1 rv=5
        watch rv=5                          -> ~a@6 9s fail cut
        watch rv=6                          -> fail cut
        after 3.2..6.4 watch rv=6           -> ~a@7 11s fail cut
        watch rv=7                          -> fail cut
        after 0.8..1.6 watch rv=7           ->
    "

    // Contract REFL-6.
    an_unreadable_event_is_skipped_counted_and_reported_and_the_watch_goes_on: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> ?~a@6 ~b@7 60s close
        watch rv=7          ->
        store: a@1 b@7 rv=7
        reports: unreadable a
        stats: invalid=1 events=1 failures=0
    "

    an_unreadable_event_moves_the_version_if_it_has_one: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> ?~a 60s close
        watch rv=5          -> ?~a@6 60s close
        watch rv=6          ->
    "

    // Contract REFL-10.
    an_object_that_is_gone_is_gone_whether_or_not_its_last_state_can_be_read: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=5
        watch rv=5          -> ?~a@6 ?-a@7 60s close
        watch rv=7          ->
        store: b@2 rv=7
        events: Added(a@1, initial) Added(b@2, initial) FinalStateUnknown(a)
        reports: unreadable a, unreadable a
    "

    // Contract REFL-10.
    what_an_event_was_about_that_cannot_be_read_at_all_is_found_out_by_a_list: "
        config: paged
        list rv=0 limit=500 -> a@1 b@2 rv=5
        watch rv=5          -> ?a ~b@7 60s close
        list rv=7 limit=0   -> b@7 rv=7
        watch rv=7          ->
        store: b@7 rv=7
        events: Added(a@1, initial) Added(b@2, initial) Updated(b@2->7) FinalStateUnknown(a)
    "

    a_table_is_refused: "
        config: paged
        list rv=0 limit=500              -> a@1 rv=5
        watch rv=5                       -> fail table
        after 0.8..1.6 watch rv=5        -> fail table
        after 1.6..3.2 watch rv=5        -> fail table
        after 3.2..6.4 list rv=5 limit=0 -> refuse table
        after 6.4..12.8 list rv=5 limit=0 -> a@1 rv=6
        watch rv=6                       ->
        store: a@1 rv=6
    "

    events_in_the_same_version_are_not_reported_again: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> ~a@6 ~a@6 +a@6
        events: Added(a@1, initial) Updated(a@1->6)
    "

    // Contract REFL-2.
    a_version_does_not_go_back_with_an_event: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> ~a@9 +b@7 60s close
        watch rv=9          ->
    "

    versions_that_are_no_numbers_are_followed_as_they_come: "
        config: paged
        list rv=0 limit=500 -> a@1 rv=x5
        watch rv=x5         -> ~a@k2 60s close
        watch rv=k2         ->
    "

    // Contract REFL-7.
    a_watch_that_is_not_answered_is_given_up: "
        config: paged
        list rv=0 limit=500          -> a@1 rv=5
        watch rv=5                   -> never
        after 90 watch rv=5          -> ~a@6
        store: a@6 rv=6
        reports: watch silent: Resume
    "

    // Contract REFL-7.
    a_watch_that_its_server_should_have_ended_long_ago_is_given_up: "
        config: paged
        list rv=0 limit=500          -> a@1 rv=5
        watch rv=5                   ->
        after 330..630 watch rv=5    -> ~a@6
        store: a@6 rv=6
        reports: watch silent: Resume
    "
}
