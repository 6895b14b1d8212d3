//! The rules against a table that upstream's own functions made.

use super::*;
use crate::upstream_table::read;
use serde::Deserialize;

type Rule = fn(&str) -> Vec<String>;

const RULES: [(&str, Rule); 13] = [
    ("dns1123_label", dns1123_label),
    ("dns1123_subdomain", dns1123_subdomain),
    ("dns1035_label", dns1035_label),
    ("wildcard_dns1123_subdomain", wildcard_dns1123_subdomain),
    ("qualified_name", qualified_name),
    ("label_value", label_value),
    ("config_map_key", config_map_key),
    ("env_var_name", env_var_name),
    ("relaxed_env_var_name", relaxed_env_var_name),
    ("c_identifier", c_identifier),
    ("port_name", port_name),
    ("percent", percent),
    ("http_header_name", http_header_name),
];

/// Values by rule, each with the numbers of its messages.
#[derive(Deserialize)]
struct Table {
    messages: Vec<String>,
    cases: Vec<(String, Vec<Case>)>,
}

type Case = (String, Vec<usize>);

#[test]
fn rules_say_what_upstreams_say() {
    let table: Table = read(include_str!("../../testdata/names.json"));
    assert_eq!(table.cases.len(), RULES.len());
    for (name, cases) in &table.cases {
        let (_, rule) = RULES
            .iter()
            .find(|(it, _)| it == name)
            .expect("every rule is listed");
        for (value, messages) in cases {
            let expected: Vec<_> = messages
                .iter()
                .map(|&it| table.messages[it].clone())
                .collect();
            assert_eq!(rule(value), expected, "{name}: {value:?}");
        }
    }
}

#[test]
fn lengths_are_limited() {
    let table: [(Rule, usize, &str); 7] = [
        (dns1123_label, 63, "must be no more than 63 characters"),
        (
            dns1123_subdomain,
            253,
            "must be no more than 253 characters",
        ),
        (dns1035_label, 63, "must be no more than 63 characters"),
        (
            qualified_name,
            63,
            "name part must be no more than 63 bytes",
        ),
        (label_value, 63, "must be no more than 63 bytes"),
        (config_map_key, 253, "must be no more than 253 characters"),
        (port_name, 15, "must be no more than 15 characters"),
    ];
    for (rule, max, message) in table {
        assert_eq!(rule(&"a".repeat(max)), [""; 0], "{message}");
        assert_eq!(rule(&"a".repeat(max + 1)), [message]);
    }
    let key = format!("{}/a", "a".repeat(254));
    assert_eq!(
        qualified_name(&key),
        ["prefix part must be no more than 253 bytes"]
    );
}

#[test]
fn a_prefix_may_end_with_a_hyphen() {
    let table = [
        ("a-", true),
        ("a", true),
        ("-", false),
        ("ab-", true),
        ("a_-", true),
        ("A-", true),
        ("A_-", false),
    ];
    for (prefix, fine) in table {
        assert_eq!(
            name_prefix(prefix, dns1123_subdomain).is_empty(),
            fine,
            "{prefix}"
        );
    }
    assert!(!name_prefix("é-", dns1123_subdomain).is_empty());
}

#[test]
fn numbers_have_ranges() {
    assert_eq!(port_number(0), ["must be between 1 and 65535, inclusive"]);
    assert_eq!(port_number(65_535), [""; 0]);
    assert_eq!(in_range(5, 1, 4), ["must be between 1 and 4, inclusive"]);
}
