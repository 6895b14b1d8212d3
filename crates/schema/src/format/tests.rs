//! Texts that have a format, and texts that do not.

use super::*;

#[track_caller]
fn check(name: &str, accepted: &[&str], refused: &[&str]) {
    let format = KnownFormat::named(name).expect("it is known");
    for text in accepted {
        assert!(format.accepts(text), "{name}: {text:?}");
    }
    for text in refused {
        assert!(!format.accepts(text), "{name}: {text:?}");
    }
}

#[test]
fn the_expressions_compile() {
    assert!(RGB_COLOR.is_some());
    check(
        "hostname",
        &["a", "a.example", "日本"],
        &["", "-a", "a..b", "a.1"],
    );
    check("creditcard", &["4111-1111-1111-1111"], &["4111", ""]);
    check(
        "date-time",
        &["2014-12-15T19:30:20.5Z"],
        &["2014-12-15", "2014-12-15T24:00:00Z"],
    );
    check(
        "duration",
        &["1h", "3 days", "0", "xx 4 ms"],
        &["", "3", "days", "1x"],
    );
}

#[test]
fn texts_have_their_formats() {
    check(
        "bsonobjectid",
        &["507f1f77bcf86cd799439011"],
        &["507f1f77", ""],
    );
    check(
        "byte",
        &["aGk=", "abcd", "YQ=="],
        &["", "abc", "ab=c", "a==="],
    );
    check(
        "cidr",
        &["10.0.0.0/8", "010.0.0.0/08", "::/0"],
        &["10.0.0.0", "10.0.0.0/33", "::/129"],
    );
    check(
        "date",
        &["2024-02-29"],
        &["2023-02-29", "2024-13-01", "2024-1-1", "2024-00-01"],
    );
    check(
        "email",
        &[
            "a@b",
            "A <a@b.c>",
            "\"a b\"@c",
            "a@[127.0.0.1]",
            "g: a@b;",
            "a@b (c)",
        ],
        &[
            "",
            "a",
            "@b",
            "a@",
            "a..b@c",
            "a@b c",
            "g: a@b, c@d;",
            "\"\"@b",
        ],
    );
    check("hexcolor", &["#fff", "FFFFFF"], &["#ff", "ffg"]);
}

#[test]
fn addresses_numbers_and_names_have_their_formats() {
    check(
        "ipv4",
        &["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"],
        &["1.2.3", "1.2.3.256", "::1"],
    );
    check(
        "ipv6",
        &["::1", "1:2:3:4:5:6:7:8", "::1.2.3.4"],
        &["1.2.3.4", "::1%eth0", ":::"],
    );
    check(
        "isbn",
        &["0321751043", "978-0321751041"],
        &["0321751044", "978"],
    );
    check("k8s-short-name", &["a-b"], &["A", "a.b", "-a", ""]);
    check("k8s-long-name", &["a.b-c"], &["a..b", "A", ""]);
    check(
        "mac",
        &["01:23:45:67:89:ab", "0123.4567.89ab", "0123456789ab"],
        &["01:23", "01-23:45:67:89:ab"],
    );
    check(
        "rgbcolor",
        &["rgb(0, 10,255)"],
        &["rgb(256,0,0)", "rgb(0,0)"],
    );
    check(
        "ssn",
        &["111-22-3333", "111 22 3333"],
        &["111223333", "111-22-333a"],
    );
    check(
        "uri",
        &["http://a.b/c?d", "/a", "mailto:a", "http://[::1]:80/", "*"],
        &["", "a", ":a", "http://[::1", "http://a:b/", "/%zz", "a b"],
    );
    check(
        "uuid",
        &["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
        &["6ba7b810"],
    );
    check(
        "uuid4",
        &["6ba7b8109dad41d180b400c04fd430c8"],
        &["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],
    );
}
