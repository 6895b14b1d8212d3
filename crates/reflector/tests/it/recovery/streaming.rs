//! Streaming lists, and the fallback from them.

use super::recoveries;

recoveries! {
    // Contract REFL-1.
    a_streaming_list_asks_for_the_newest_state_and_is_applied_whole_at_its_end: "
        stream rv= -> +a@7 +b@3 ~a@8 -b@9 end@9 +c@10
        store: a@8 c@10 rv=10
        events: Added(a@8, initial) Added(c@10)
        reports:
        stats: lists=1 watches=1 events=1
    "

    what_went_away_and_came_back_while_it_streamed_is_there: "
        stream rv= -> +a@1 -a@2 +a@3 end@4
        store: a@3 rv=4
        events: Added(a@3, initial)
    "

    the_same_stream_goes_on_as_the_watch_and_resumes_like_one: "
        stream rv= -> +a@1 end@4 60s mark@20 60s close
        watch rv=20 -> 60s fail expired
        stream rv=20 -> +a@1 end@30
        store: a@1 rv=30
        events: Added(a@1, initial)
        stats: unchanged=1
    "

    // Contract REFL-5.
    a_server_that_refuses_streaming_lists_is_remembered_once_it_lists_by_pages: "
        stream rv=          -> refuse invalid
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> 60s fail expired
        list rv=5 limit=0   -> a@1 rv=9
        watch rv=9          ->
        reports: watch failed (invalid): FallBack, watch failed (expired): Relist
    "

    a_request_that_is_wrong_in_itself_says_nothing_about_streaming: "
        stream rv=                 -> refuse invalid
        list rv=0 limit=500        -> refuse invalid
        after 0.8..1.6 stream rv=  -> +a@1 end@5
        store: a@1 rv=5
    "

    any_other_error_falls_back_for_this_time_only: "
        stream rv=          -> +x@1 fail internal
        list rv=0 limit=500 -> a@1 rv=5
        watch rv=5          -> 60s fail expired
        stream rv=5         -> +a@1 end@9
        store: a@1 rv=9
        events: Added(a@1, initial)
    "

    throttling_and_refused_connections_do_not_fall_back: "
        stream rv=                 -> refuse throttled:7
        after 7 stream rv=         -> refuse refused
        after 1.6..3.2 stream rv=  -> +x@1 fail throttled:3
        after 3 stream rv=         -> +a@1 end@5
        store: a@1 rv=5
        stats: lists=1
    "

    an_expired_or_too_large_version_asks_for_the_newest_state_at_once: "
        stream rv=                -> +a@1 end@100 60s fail expired
        stream rv=100             -> refuse expired
        stream rv=                -> refuse too-large:3
        after 3 stream rv=        -> +a@1 end@90
        store: a@1 rv=90
    "

    a_streaming_list_older_than_what_was_asked_for_is_not_used: "
        stream rv=    -> +a@1 end@100 ~a@101 60s fail expired
        stream rv=101 -> +a@1 end@90
        stream rv=    -> +a@101 end@102
        store: a@101 rv=102
        events: Added(a@1, initial) Updated(a@1->101)
        reports: watch failed (expired): Relist, stale 101
    "

    a_bookmark_without_the_annotation_is_not_the_end: "
        stream rv= -> +a@1 mark@5 +b@6 end@7
        store: a@1 b@6 rv=7
        events: Added(a@1, initial) Added(b@6, initial)
        stats: lists=1 bookmarks=0
    "

    an_end_that_never_comes_falls_back_though_changes_and_bookmarks_come: "
        stream rv=                   -> +a@1 50s ~a@5 mark@5
        after 10 list rv=0 limit=500 -> a@5 rv=6
        watch rv=6                   ->
        store: a@5 rv=6
        events: Added(a@5, initial)
        reports: watch silent: FallBack
    "

    three_streaming_lists_without_an_end_are_enough_for_ever: "
        stream rv=                   ->
        after 60 list rv=0 limit=500 -> a@1 rv=6
        watch rv=6                   -> 60s fail expired
        stream rv=6                  -> +a@1 30s close
        list rv=6 limit=0            -> a@1 rv=8
        watch rv=8                   -> 60s fail expired
        stream rv=8                  ->
        after 60 list rv=8 limit=0   -> a@1 rv=9
        watch rv=9                   -> 60s fail expired
        list rv=9 limit=0            -> a@1 rv=10
        watch rv=10                  ->
    "

    a_stream_that_ends_before_its_end_begins_again_from_nothing_once: "
        stream rv=          -> +x@1 2s close
        stream rv=          -> +a@1 end@5
        store: a@1 rv=5
        events: Added(a@1, initial)
        reports:
    "

    streams_that_end_before_their_end_are_no_tight_loop_and_fall_back: "
        stream rv=                  -> close
        after 0.8..1.6 stream rv=   -> +a@1 close
        after 0.9..1 list rv=0 limit=500 -> a@1 rv=5
        watch rv=5                  ->
    "

    a_long_streaming_list_may_take_its_time: "
        stream rv= -> +a@1 50s +b@2 50s +c@3 50s ?x 50s end@9
        store: a@1 b@2 c@3 rv=9
        reports: unreadable x
    "

    a_streaming_list_that_is_not_answered_falls_back: "
        stream rv=                   -> never
        after 90 list rv=0 limit=500 -> a@1 rv=6
        watch rv=6                   ->
    "

    an_unreadable_object_of_a_streaming_list_keeps_what_was_known_of_it: "
        stream rv=    -> +a@1 +b@2 end@9 60s fail expired
        stream rv=9   -> ?a ?b -b@10 +c@11 end@12
        store: a@1 c@11 rv=12
        reports: watch failed (expired): Relist, unreadable a, unreadable b
    "
}
