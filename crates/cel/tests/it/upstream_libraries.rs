//! Compares the libraries with Kubernetes' own, which the program of `tests/interop/cel` links:
//! values, words of errors, types, costs and estimates, of expressions by library and of random
//! texts.

use crate::program;
use crate::upstream::{answer, class, nearest};
use kubist_cel::{Environment, Version};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The expressions of each library, one a line. Those behind `#` are left out.
const LIBRARIES: [(&str, &str); 11] = [
    ("cidr", include_str!("libraries/cidr.cel")),
    (
        "extended_lists",
        include_str!("libraries/extended_lists.cel"),
    ),
    ("format", include_str!("libraries/format.cel")),
    ("ip", include_str!("libraries/ip.cel")),
    ("lists", include_str!("libraries/lists.cel")),
    ("quantity", include_str!("libraries/quantity.cel")),
    ("regex", include_str!("libraries/regex.cel")),
    ("semver", include_str!("libraries/semver.cel")),
    ("sets", include_str!("libraries/sets.cel")),
    ("urls", include_str!("libraries/urls.cel")),
    ("versions", include_str!("libraries/versions.cel")),
];

fn question(expression: &str, minor: u32) -> Json {
    json!({
        "expression": expression,
        "minor": minor,
        "types": {
            "s": "string", "i": "int", "ints": "list(int)", "strings": "list(string)",
            "bytess": "list(bytes)", "doubles": "list(double)", "dyns": "list(dyn)", "d": "dyn",
            "none": "list(int)", "nested": "list(list(int))",
        },
        "values": {
            "s": {"string": "10.0.0.1"}, "i": {"int": "3"},
            "ints": {"list": [{"int": "3"}, {"int": "1"}, {"int": "2"}, {"int": "3"}]},
            "strings": {"list": [{"string": "b"}, {"string": "a long string"}, {"string": "b"}]},
            "bytess": {"list": [{"bytes": "AQID"}, {"bytes": ""}]},
            "doubles": {"list": [{"double": "1.5"}, {"double": "NaN"}, {"double": "-2"}]},
            "dyns": {"list": [{"int": "1"}, {"string": "a"}, {"list": [{"int": "2"}]}, {"null": true}]},
            "d": {"list": [{"int": "2"}, {"int": "1"}]},
            "none": {"list": []},
            "nested": {"list": [{"list": [{"int": "1"}]}, {"list": []}, {"list": [{"int": "2"}, {"int": "3"}]}]},
        },
    })
}

/// Asks both and reports each difference. Returns the numbers of expressions and of differences.
#[expect(clippy::print_stdout, reason = "the runner shows the differences")]
fn compare(questions: &[Json]) -> Option<(usize, usize)> {
    let answers = program::ask(questions)?;
    assert_eq!(answers.len(), questions.len(), "the program answers all");
    let mut environments = BTreeMap::new();
    let mut differ = 0;
    for (question, theirs) in questions.iter().zip(answers) {
        let minor = question["minor"]
            .as_u64()
            .and_then(|it| u32::try_from(it).ok());
        let minor = minor.expect("a version");
        let environment = environments
            .entry(minor)
            .or_insert_with(|| Environment::new(Version::minor(minor)));
        let ours = answer(question, environment);
        let theirs = match theirs.get("programError") {
            // Ours has no program, so neither type nor estimate.
            Some(error) => json!({"programError": error}),
            None => theirs,
        };
        let mut likened = theirs;
        likened["outcome"] = nearest(&ours["outcome"], &likened);
        let same = |key: &str| ours.get(key).unwrap_or(&Json::Null) == &likened[key];
        let keys = [
            "compileError",
            "programError",
            "type",
            "estimate",
            "outcome",
        ];
        if class(&ours) != class(&likened) || !keys.into_iter().all(same) {
            differ += 1;
            let theirs = keys.map(|key| &likened[key]);
            println!(
                "1.{minor} {}\n  ours   {ours}\n  theirs {theirs:?}",
                question["expression"]
            );
        }
    }
    Some((questions.len(), differ))
}

#[test]
fn libraries_answer_as_those_of_kubernetes() {
    let mut differ = 0;
    for (name, text) in LIBRARIES {
        let lines = text.lines().map(str::trim);
        let expressions = lines.filter(|it| !it.is_empty() && !it.starts_with('#'));
        let minors = if name == "versions" { 24..=37 } else { 36..=36 };
        let questions: Vec<_> = expressions
            .flat_map(|it| minors.clone().map(move |minor| question(it, minor)))
            .collect();
        let Some((all, differing)) = compare(&questions) else {
            return;
        };
        println!("{name}: {all} expressions, {differing} differ");
        differ += differing;
    }
    assert_eq!(differ, 0, "expressions differ");
}

/// Texts of which random ones are composed, and what is asked about them, `TEXT` being the text.
struct Random {
    fragments: &'static [&'static str],
    expressions: &'static [&'static str],
}

const RANDOM: [Random; 6] = [
    Random {
        fragments: &[
            "0",
            "00",
            "1",
            "7",
            "12",
            "999999",
            "1234567890",
            ".",
            ".",
            "-",
            "+",
            "n",
            "u",
            "m",
            "k",
            "M",
            "G",
            "T",
            "P",
            "E",
            "Ki",
            "Mi",
            "Gi",
            "Ti",
            "Pi",
            "Ei",
            "e3",
            "E-6",
            "e9",
            "e",
        ],
        expressions: &[
            "quantity(TEXT).asApproximateFloat()",
            "quantity(TEXT).asInteger()",
            "quantity(TEXT).add(quantity('1500m')).sub(7).asApproximateFloat()",
            "quantity(TEXT).compareTo(quantity('1Ki'))",
        ],
    },
    Random {
        fragments: &[
            "0",
            "1",
            "01",
            "10",
            "127",
            "169.254.",
            "224.0.0.",
            "255",
            "256",
            ".",
            ".",
            ".",
            ":",
            ":",
            "::",
            "fe80::",
            "ff02::",
            "ffff:",
            "a",
            "12345",
            "%",
            "eth0",
            "/",
            "8",
            "/24",
            "/129",
            "/032",
            " ",
            "g",
            "::ffff:1.2.3.4",
            "2001:db8::",
        ],
        expressions: &[
            "string(ip(TEXT))",
            "string(cidr(TEXT))",
            "string(cidr(TEXT).masked())",
            "ip.isCanonical(TEXT)",
            "[ip(TEXT)].map(x, [x.isLoopback(), x.isGlobalUnicast(), x.isLinkLocalUnicast(), x.isLinkLocalMulticast(), x.isUnspecified(), x == ip('::1')])",
        ],
    },
    Random {
        fragments: &[
            "http", "https", "ftp", ":", ":", "/", "/", "//", "//", "@", "user", "host", "[", "]",
            "::1", "?", "&", "=", "a", "b=c", "#", "%", "%20", "%zz", "%C3%A9", "é", " ", "+", ";",
            "*", ".", "8080", "%25",
        ],
        expressions: &[
            "[url(TEXT)].map(x, [x.getScheme(), x.getHost(), x.getHostname(), x.getPort(), x.getEscapedPath()])",
            "url(TEXT).getQuery()",
            "url(TEXT) == url('http://host/a')",
            "isURL(TEXT)",
            "format.uri().validate(TEXT)",
        ],
    },
    Random {
        fragments: &[
            "0",
            "1",
            "2",
            "10",
            "01",
            "v",
            ".",
            ".",
            ".",
            "-",
            "+",
            "alpha",
            "beta",
            "x-y",
            "_",
            "é",
            "18446744073709551616",
            "1.2.3",
            "1.2.3-",
        ],
        expressions: &[
            "semver(TEXT).compareTo(semver('1.2.3-alpha.1'))",
            "semver(TEXT, true).major()",
            "[isSemver(TEXT), isSemver(TEXT, true)]",
            "semver(TEXT, true).compareTo(semver('1.2.3'))",
        ],
    },
    Random {
        fragments: &[
            "2024",
            "-",
            "-",
            "-",
            "02",
            "29",
            "30",
            "T",
            "t",
            ":",
            ":",
            "23",
            "59",
            "60",
            "00",
            ".5",
            "z",
            "Z",
            "+",
            "01:00",
            "a",
            "b-c",
            ".",
            "/",
            "A",
            "_",
            "=",
            "==",
            "abcd",
            "example.com/",
            "01234567",
            "89ab-",
            "cdef01234567",
        ],
        expressions: &[
            "format.date().validate(TEXT)",
            "format.datetime().validate(TEXT)",
            "format.uuid().validate(TEXT)",
            "format.byte().validate(TEXT)",
            "format.qualifiedName().validate(TEXT)",
            "format.labelValue().validate(TEXT)",
            "format.dns1123Label().validate(TEXT)",
            "format.dns1123SubdomainPrefix().validate(TEXT)",
            "format.dns1035LabelPrefix().validate(TEXT)",
        ],
    },
    Random {
        fragments: &["a", "b", "ab", "1", "é", " ", "A", "_", "aa"],
        expressions: &[
            "TEXT.findAll('a*')",
            "TEXT.findAll('[a-b]+|[0-9]', 3)",
            "TEXT.find('(a|ab)(1|b)')",
            "TEXT.findAll('\\\\b')",
        ],
    },
];

/// A sequence of numbers that looks random and is the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("64 bits") % end
    }
}

#[test]
fn random_texts_are_parsed_as_kubernetes_parses_them() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut questions = Vec::new();
    for at in 0..program::count() {
        let random = &RANDOM[at % RANDOM.len()];
        let length = 1 + numbers.below(9);
        let text: String = (0..length)
            .map(|_| random.fragments[numbers.below(random.fragments.len())])
            .collect();
        let expression = random.expressions[numbers.below(random.expressions.len())];
        // Upstream computes powers of ten however large they are.
        if text.contains(['e', 'E']) && text.len() > 12 && expression.starts_with("quantity") {
            continue;
        }
        let quoted = Json::from(text).to_string();
        questions.push(question(&expression.replace("TEXT", &quoted), 36));
    }
    if let Some((all, differ)) = compare(&questions) {
        println!("{all} random texts, {differ} differ");
        assert_eq!(differ, 0, "texts differ");
    }
}
