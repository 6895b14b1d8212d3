//! What Go accepts and what it refuses, with its errors.

use super::*;

#[track_caller]
fn matches(pattern: &str, accepted: &[&str], refused: &[&str]) {
    let compiled = compile(pattern).expect("Go accepts it");
    for text in accepted {
        assert!(compiled.is_match(text), "{pattern}: {text:?}");
    }
    for text in refused {
        assert!(!compiled.is_match(text), "{pattern}: {text:?}");
    }
}

#[test]
fn expressions_match_as_in_go() {
    matches(r"^\d+$", &["12"], &["a", "", "٣"]);
    matches(r"^[[a]+$", &["[a"], &["b"]);
    matches(r"^[a&&b]+$", &["a&b"], &["c"]);
    matches(r"^a{,2}$", &["a{,2}"], &["aa"]);
    matches(r"^a{2$", &["a{2"], &["aa"]);
    matches(r"^\Qa.b\E$", &["a.b"], &["axb"]);
    matches(r"(?i)^straße$", &["STRAßE"], &["x"]);
    matches(r"^\w\s\S\W\D$", &["a b-x"], &["é b-x"]);
    matches(r"^(?:a|b)*$", &["", "ab"], &["c"]);
    matches(r"^\x41\x{1F600}\101$", &["A😀A"], &["AA"]);
    matches(r"^\p{Greek}\pL\P{Lu}\p{^Lu}$", &["αaaa"], &["aaaa"]);
    matches(r"^[\p{letter}\d]+$", &["aé1"], &["-"]);
    matches(r"^[[:alpha:]_]+$", &["a_"], &["1"]);
    matches(r"\bfoo\b", &["a foo b", "éfoo"], &["afoo"]);
    matches(r"(?s)a.b", &["a\nb"], &[]);
    matches(r"a.b", &["axb"], &["a\nb"]);
    matches(r"(?m)^b$", &["a\nb"], &["ab"]);
    matches(r"^[^\x{D800}-\x{DFFF}]$", &["a"], &["ab"]);
    matches(r"^(|a)$", &["", "a"], &["b"]);
    matches(r"^[]a]$", &["]", "a"], &["b"]);
    matches(r"\<a\>", &["<a>"], &["a"]);
    matches(r"^(?P<n>a)(?<m>b)$", &["ab"], &["a"]);
    matches(r"^[a-]$", &["a", "-"], &["b"]);
    matches(r"^a*(?i)*$", &["aa"], &["b"]);
    for accepted in [
        r"[\d-z]",
        "(?P<n>a)(?P<n>b)",
        "(?-i)a",
        "[[:^alpha:]]",
        "^*",
        "$+",
        r"\b*",
        r"\p{any}",
        r"\p{Cs}",
        "a{,5}*",
        r"\pZ\PN",
        "a??",
        r"\QA",
        r"\07",
        r"\400",
        "(a{0}){1000}",
    ] {
        assert!(compile(accepted).is_ok(), "{accepted}");
    }
    matches(r"^\B$", &[""], &["a"]);
}

#[test]
fn errors_are_those_of_go() {
    for (pattern, error) in [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("[a", "missing closing ]: `[a`"),
        ("[", "missing closing ]: `[`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a*+", "invalid nested repetition operator: `*+`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("(*)", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("\\", "trailing backslash at end of expression: ``"),
        (r"\8", r"invalid escape sequence: `\8`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\xZ1", r"invalid escape sequence: `\xZ1`"),
        (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
        (r"[\b]", r"invalid escape sequence: `\b`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?i", "invalid or unsupported Perl syntax: `(?i`"),
        ("(?P<a", "invalid named capture: `(?P<a`"),
        ("(?P<a->b)", "invalid named capture: `(?P<a->`"),
        (r"\p{Foo}", r"invalid character class range: `\p{Foo}`"),
        (r"\p{Grek}", r"invalid character class range: `\p{Grek}`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        (r"\x", r"invalid escape sequence: `\x`"),
        (r"\xA", r"invalid escape sequence: `\xA`"),
        (r"\x{}", r"invalid escape sequence: `\x{}`"),
        (r"\x{1", r"invalid escape sequence: `\x{1`"),
        (r"\p", r"invalid character class range: `\p`"),
        (r"[\p", r"invalid character class range: `\p`"),
        (r"\p{^", r"invalid character class range: `\p{^`"),
        (
            r"\p{IsGreek}",
            r"invalid character class range: `\p{IsGreek}`",
        ),
        (r"[a-\d]", r"invalid escape sequence: `\d`"),
        ("a{0}{2}", "invalid nested repetition operator: `{0}{2}`"),
        ("a{2}*", "invalid nested repetition operator: `{2}*`"),
        ("a???", "invalid nested repetition operator: `???`"),
        (
            "x{2,}?{3}",
            "invalid nested repetition operator: `{2,}?{3}`",
        ),
        ("(?i)*", "missing argument to repetition operator: `*`"),
        ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
        ("[a-", "missing closing ]: `[a-`"),
        ("[]", "missing closing ]: `[]`"),
        ("[^]", "missing closing ]: `[^]`"),
        ("(((a{10}){10}){10}){2}", "invalid repeat count: `{2}`"),
        ("(a{10,}){101}", "invalid repeat count: `{101}`"),
    ] {
        let found = compile(pattern).expect_err(pattern).to_string();
        assert_eq!(found, format!("error parsing regexp: {error}"), "{pattern}");
    }
    assert!(compile(&"(".repeat(100_000)).is_err());
}
