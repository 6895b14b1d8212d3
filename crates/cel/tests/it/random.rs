//! Random expressions over variables of all types, with values for them.

use serde_json::{Value as Json, json};

/// A generator of random numbers, so that a failure can be reproduced from its seed.
#[derive(Debug)]
pub(crate) struct Random(u64);

/// The variables with their types.
const VARIABLES: [(&str, &str); 18] = [
    ("i", "int"),
    ("j", "int"),
    ("u", "uint"),
    ("d", "double"),
    ("s", "string"),
    ("p", "string"),
    ("b", "bool"),
    ("y", "bytes"),
    ("l", "list(int)"),
    ("k", "list(string)"),
    ("m", "map(string, int)"),
    ("g", "map(int, string)"),
    ("t", "google.protobuf.Timestamp"),
    ("r", "google.protobuf.Duration"),
    ("x", "dyn"),
    ("z", "dyn"),
    ("o", "optional_type(int)"),
    ("q", "list(list(int))"),
];

/// The types of expressions.
const KINDS: [&str; 13] = [
    "int", "uint", "double", "string", "bool", "bytes", "ints", "strings", "map", "time", "span",
    "dyn", "optional",
];

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % count
    }

    pub(crate) fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Returns a question: an expression with its variables.
    pub(crate) fn question(&mut self) -> Json {
        let kind = self.pick(&KINDS);
        let depth = 1 + self.below(4);
        let expression = self.expression(kind, depth);
        let mut question = json!({"expression": expression, "types": {}, "values": {}});
        for (name, kind) in VARIABLES {
            if expression.contains(name) {
                question["types"][name] = kind.into();
                question["values"][name] = self.value(kind);
            }
        }
        question
    }

    fn value(&mut self, kind: &str) -> Json {
        match kind {
            "int" => {
                json!({"int": self.pick(&["0", "1", "-1", "5", "9223372036854775807", "-9223372036854775808"])})
            }
            "uint" => json!({"uint": self.pick(&["0", "1", "7", "18446744073709551615"])}),
            "double" => {
                json!({"double": self.pick(&["0e+00", "1e+00", "-2.5e+00", "1e+300", "9.223372036854776e+18"])})
            }
            "string" => {
                json!({"string": self.pick(&["", "a", "ab", "été", "a,b,c", "12", "true", "2020-01-01T00:00:00Z", "1h", "a longer text than the others, with words"])})
            }
            "bool" => json!({"bool": self.below(2) == 0}),
            "bytes" => json!({"bytes": self.pick(&["", "YQ==", "AP8=", "YWJj"])}),
            "list(int)" => {
                let count = self.below(4);
                json!({"list": (0..count).map(|_| self.value("int")).collect::<Vec<_>>()})
            }
            "list(list(int))" => {
                let count = self.below(3);
                json!({"list": (0..count).map(|_| self.value("list(int)")).collect::<Vec<_>>()})
            }
            "list(string)" => {
                let count = self.below(4);
                json!({"list": (0..count).map(|_| self.value("string")).collect::<Vec<_>>()})
            }
            // Go visits entries in random order, so there is one at most.
            "map(string, int)" if self.below(4) > 0 => {
                json!({"map": [[{"string": "a"}, self.value("int")]]})
            }
            "map(int, string)" if self.below(4) > 0 => {
                json!({"map": [[{"int": "1"}, self.value("string")]]})
            }
            "map(string, int)" | "map(int, string)" => json!({"map": []}),
            "google.protobuf.Timestamp" => {
                json!({"timestamp": self.pick(&["2009-02-13T23:31:30Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.5Z"])})
            }
            "google.protobuf.Duration" => {
                json!({"duration": self.pick(&["0", "1000000000", "-90000000000", "9223372036854775807", "5500000000"])})
            }
            "optional_type(int)" if self.below(2) == 0 => json!({"optional": null}),
            "optional_type(int)" => json!({"optional": self.value("int")}),
            _ => {
                let kind = self.pick(&[
                    "int",
                    "uint",
                    "double",
                    "string",
                    "bool",
                    "list(int)",
                    "map(string, int)",
                    "google.protobuf.Duration",
                ]);
                if self.below(8) == 0 {
                    json!({"null": true})
                } else {
                    self.value(kind)
                }
            }
        }
    }

    /// Returns an expression that is of a type, most of the time.
    pub(crate) fn expression(&mut self, kind: &str, depth: usize) -> String {
        let kind = if self.below(40) == 0 {
            self.pick(&KINDS)
        } else {
            kind
        };
        if depth == 0 {
            return self.leaf(kind).to_owned();
        }
        if self.below(12) == 0 {
            let condition = self.expression("bool", depth - 1);
            let (a, b) = (
                self.expression(kind, depth - 1),
                self.expression(kind, depth - 1),
            );
            return format!("({condition} ? {a} : {b})");
        }
        if self.below(20) == 0 {
            return format!("dyn({})", self.expression(kind, depth - 1));
        }
        let template = self.template(kind);
        self.filled(template, depth)
    }

    /// Fills `#i` with an integer, `#s` with a string and so on.
    fn filled(&mut self, template: &str, depth: usize) -> String {
        let mut out = String::new();
        let mut parts = template.split('#');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let kind = match &part[..1] {
                "i" => "int",
                "u" => "uint",
                "d" => "double",
                "s" => "string",
                "b" => "bool",
                "y" => "bytes",
                "l" => "ints",
                "k" => "strings",
                "m" => "map",
                "t" => "time",
                "r" => "span",
                "o" => "optional",
                _ => "dyn",
            };
            out.push_str(&self.expression(kind, depth - 1));
            out.push_str(&part[1..]);
        }
        out
    }

    fn leaf(&mut self, kind: &str) -> &'static str {
        match kind {
            "int" => self.pick(&[
                "i",
                "j",
                "0",
                "1",
                "-1",
                "3",
                "0x10",
                "9223372036854775807",
                "-9223372036854775808",
                "o.value()",
            ]),
            "uint" => self.pick(&["u", "0u", "3u", "0xFFu", "18446744073709551615u"]),
            "double" => self.pick(&["d", "0.0", "1.5", "-2.5e3", ".5", "1e308"]),
            "string" => self.pick(&[
                "s", "p", "''", "'a'", "\"b\\n\"", "'é'", "r'\\d'", "'a,b'", "'12'", "'1.5'",
            ]),
            "bool" => self.pick(&["b", "true", "false"]),
            "bytes" => self.pick(&["y", "b'ab'", "b'\\xff'", "b''"]),
            "ints" => self.pick(&["l", "[]", "[1, 2, 3]", "[i]", "[i, 2, j]", "[?o, 1]"]),
            "strings" => self.pick(&["k", "['a', 'b']", "[s]", "[s, p, 'a']"]),
            "map" => self.pick(&[
                "m",
                "{'a': 1}",
                "{'a': i}",
                "{}",
                "{s: 1}",
                "{'b': 2, 'a': 1}",
                "{?'a': o}",
            ]),
            "time" => self.pick(&[
                "t",
                "timestamp('2023-12-25T00:00:00Z')",
                "timestamp(0)",
                "timestamp('2023-12-25T00:00:00.5+02:00')",
            ]),
            "span" => self.pick(&[
                "r",
                "duration('1h')",
                "duration('-1.5s')",
                "duration('100ms')",
            ]),
            "optional" => self.pick(&[
                "o",
                "optional.none()",
                "optional.of(1)",
                "optional.ofNonZeroValue(i)",
                "m.?a",
                "l[?0]",
                "m[?s]",
            ]),
            _ => self.pick(&[
                "x", "z", "dyn(i)", "dyn(1u)", "dyn('a')", "dyn([1])", "null",
            ]),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of templates")]
    fn template(&mut self, kind: &str) -> &'static str {
        let texts: &[&'static str] = match kind {
            "int" => &[
                "(#i + #i)",
                "(#i - #i)",
                "(#i * #i)",
                "(#i / #i)",
                "(#i % #i)",
                "-(#i)",
                "size(#s)",
                "#l.size()",
                "size(#m)",
                "#y.size()",
                "int(#u)",
                "int(#d)",
                "int(#s)",
                "int(#t)",
                "int(#r)",
                "#l[#i]",
                "#m['a']",
                "#m[#s]",
                "#m.a",
                "#t.getFullYear()",
                "#t.getMonth('America/New_York')",
                "#t.getDayOfYear()",
                "#t.getDayOfWeek('+02:00')",
                "#r.getHours()",
                "#t.getHours()",
                "#r.getMilliseconds()",
                "#t.getMilliseconds()",
                "#t.getDate()",
                "#t.getDayOfMonth('-08:30')",
                "#s.indexOf(#s)",
                "#s.lastIndexOf(#s)",
                "#s.indexOf(#s, #i)",
                "#o.orValue(#i)",
                "#o.value()",
                "#l.map(e, e * #i)[0]",
                "(#x + #i)",
                "#x[#i]",
                "#x.a",
                "[#i, #i][0]",
                "{'k': #i}.k",
                "q[0][#i]",
                "#o.optMap(e, e + #i).orValue(0)",
            ],
            "uint" => &[
                "(#u + #u)",
                "(#u - #u)",
                "(#u * #u)",
                "(#u / #u)",
                "(#u % #u)",
                "uint(#i)",
                "uint(#d)",
                "uint(#s)",
            ],
            "double" => &[
                "(#d + #d)",
                "(#d - #d)",
                "(#d * #d)",
                "(#d / #d)",
                "-(#d)",
                "double(#i)",
                "double(#u)",
                "double(#s)",
            ],
            "string" => &[
                "(#s + #s)",
                "string(#i)",
                "string(#u)",
                "string(#d)",
                "string(#b)",
                "string(#t)",
                "string(#r)",
                "string(#y)",
                "#k[#i]",
                "g[1]",
                "#s.lowerAscii()",
                "#s.upperAscii()",
                "#s.trim()",
                "#s.charAt(#i)",
                "#s.substring(#i)",
                "#s.substring(0, #i)",
                "#s.replace(#s, #s)",
                "#s.replace('a', #s, #i)",
                "#k.join()",
                "#k.join(#s)",
                "'%s %d'.format([#s, #i])",
                "'%s'.format([#x])",
                "strings.quote(#s)",
                "string(#x)",
                "#k.filter(e, e != #s).join(',')",
            ],
            "bool" => &[
                "(#b && #b)",
                "(#b || #b)",
                "!#b",
                "(#i == #i)",
                "(#i != #i)",
                "(#i < #i)",
                "(#i <= #u)",
                "(#d > #i)",
                "(#s < #s)",
                "(#s >= #s)",
                "(#y < #y)",
                "(#t < #t)",
                "(#r >= #r)",
                "(#s == #s)",
                "(#l == #l)",
                "(#m == #m)",
                "(#x == #i)",
                "(#x < #i)",
                "(#i in #l)",
                "(#s in #k)",
                "(#s in #m)",
                "(#i in [1, 2, 3])",
                "(#s in ['a', s])",
                "(#x in #l)",
                "(#x in [1, 2])",
                "(#d in [dyn(1), dyn(2.5)])",
                "#l.all(e, e > #i)",
                "#l.exists(e, e == #i)",
                "#l.exists_one(e, e > #i)",
                "#m.all(e, e != #s)",
                "#k.exists(e, e.startsWith(#s))",
                "#l.all(e, f, e <= #i && f > 0)",
                "#m.exists(e, f, e == #s || f == 1)",
                "#s.contains(#s)",
                "#s.startsWith(#s)",
                "#s.endsWith('b')",
                "#s.matches('^[a-z]+$')",
                "#s.matches(#s)",
                "matches(#s, 'a')",
                "has(m.a)",
                "has(x.a)",
                "has({'a': #i}.b)",
                "#o.hasValue()",
                "bool(#s)",
                "type(#x) == type(#i)",
                "type(#i) == int",
                "(#b == #b)",
                "(#u == #i)",
                "(#d == #i)",
                "(#o == #o)",
                "#x.exists(e, e == #i)",
                "has(m.?a)",
                "#l.all(e, #l.exists(f, f == e))",
                "q.all(e, e.all(f, f > #i))",
                "(#b ? #b : #b)",
                "(#x != null)",
                "#x.all(e, #b)",
            ],
            "bytes" => &["(#y + #y)", "bytes(#s)"],
            "ints" => &[
                "(#l + #l)",
                "#l.map(e, e + #i)",
                "#l.filter(e, e > #i)",
                "#l.map(e, e > 0, e * 2)",
                "[#i, #i]",
                "#l.transformList(e, f, e + f)",
                "#k.map(e, size(e))",
                "#m.map(e, #m[e])",
                "(#b ? #l : #l)",
                "[?#o, #i]",
            ],
            "strings" => &[
                "(#k + #k)",
                "#s.split(#s)",
                "#s.split(',', #i)",
                "#k.map(e, e + #s)",
                "#k.filter(e, e.matches('a'))",
                "#m.map(e, e)",
                "[#s, #s]",
            ],
            "map" => &[
                "{'a': #i}",
                "{#s: #i}",
                "#m.transformMap(e, f, f + #i)",
                "#l.transformMapEntry(e, f, {string(e): f})",
                "{'a': #i, ?'b': #o}",
                "#k.transformMapEntry(e, f, {f: e})",
                "(#b ? #m : #m)",
            ],
            "time" => &[
                "(#t + #r)",
                "(#r + #t)",
                "(#t - #r)",
                "timestamp(#i)",
                "timestamp(#s)",
                "timestamp(#t)",
            ],
            "span" => &["(#r + #r)", "(#r - #r)", "(#t - #t)", "duration(#s)"],
            "optional" => &[
                "optional.of(#i)",
                "#m.?a",
                "#m[?#s]",
                "#l[?#i]",
                "#o.or(#o)",
                "#o.optMap(e, e * 2)",
                "#o.optFlatMap(e, #m.?a)",
                "#l.first()",
                "#l.last()",
                "optional.ofNonZeroValue(#i)",
            ],
            _ => &[
                "#x[#s]",
                "#x[#i]",
                "#x.a",
                "dyn(#i)",
                "dyn(#s)",
                "(#x + #x)",
                "(#x - #i)",
                "(#b ? dyn(#i) : dyn(#s))",
                "[#x, #x]",
                "[dyn(#i), dyn(#s)][#i]",
                "(#x * #d)",
            ],
        };
        self.pick(texts)
    }
}
