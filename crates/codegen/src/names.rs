//! Names in Rust for names in definitions: fields, types, modules and variants.
//!
//! A name that Rust reserves is escaped, and a name that is taken gets a number, in the order of
//! the definition, so that the same definition always has the same names.

use std::collections::{BTreeMap, BTreeSet};

/// Words that cannot be names; all but [`NEVER_RAW`] can be raw identifiers.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Keywords that are paths or patterns.
const NEVER_RAW: [&str; 5] = ["_", "crate", "self", "Self", "super"];

/// Reports whether a word is a keyword of Rust 2024, strict or reserved.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Names that are taken in one scope.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    names: BTreeSet<String>,
    /// The first number that may be free, by name and joint: many names may become the same.
    next: BTreeMap<String, u64>,
}

impl Taken {
    pub(crate) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self {
            names: names.into_iter().map(str::to_owned).collect(),
            next: BTreeMap::new(),
        }
    }

    /// Takes the name, with a number after `joint` if it is taken already.
    pub(crate) fn take(&mut self, name: &str, joint: &str) -> String {
        if self.names.insert(name.to_owned()) {
            return name.to_owned();
        }
        let stem = format!("{name}{joint}");
        let next = self.next.entry(stem.clone()).or_insert(2);
        loop {
            let numbered = format!("{stem}{next}");
            *next += 1; // There are more numbers than names.
            if self.names.insert(numbered.clone()) {
                return numbered;
            }
        }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// Returns an identifier that is no keyword.
pub(crate) fn escaped(name: &str) -> String {
    if NEVER_RAW.contains(&name) {
        format!("{name}_")
    } else if is_keyword(name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// Returns a name in snake case: `podCIDRs` is `pod_cidrs`.
pub(crate) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut text = String::with_capacity(name.len() + 4);
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            if !text.is_empty() && !text.ends_with('_') {
                text.push('_');
            }
            continue;
        }
        if begins_word(&letters, index) && !text.is_empty() && !text.ends_with('_') {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    let text = text.trim_end_matches('_');
    match text.chars().next() {
        None => "field".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("_{text}"),
        Some(_) => text.to_owned(),
    }
}

/// Reports whether a capital letter begins a word.
fn begins_word(letters: &[char], index: usize) -> bool {
    let at = |offset: usize| letters.get(index + offset).copied().unwrap_or('_');
    let before = index.checked_sub(1).and_then(|it| letters.get(it));
    let Some(before) = before.filter(|_| at(0).is_ascii_uppercase()) else {
        return false;
    };
    if !before.is_ascii_uppercase() {
        return true;
    }
    // The last letter of an abbreviation begins the next word, except in `IPs` and `IPv4`.
    let is_plural = at(1) == 's' && !at(2).is_ascii_lowercase();
    let is_version = at(1) == 'v' && at(2).is_ascii_digit();
    at(1).is_ascii_lowercase() && !is_plural && !is_version
}

/// Returns a name in camel case that begins with a capital; abbreviations stay as they are.
pub(crate) fn pascal_case(name: &str) -> String {
    let words = name.split(|it: char| !it.is_ascii_alphanumeric());
    words.fold(String::with_capacity(name.len()), |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}

/// Returns the name of a variant for a value of an enum.
pub(crate) fn variant(value: &str) -> String {
    if value.is_empty() {
        return "Empty".to_owned();
    }
    let name = pascal_case(value);
    match name.chars().next() {
        None => value.chars().map(symbol).collect(),
        Some(first) if first.is_ascii_digit() => format!("V{name}"),
        Some(_) => name,
    }
}

/// Returns a word for a character of a value without letters and digits.
fn symbol(letter: char) -> &'static str {
    match letter {
        '*' => "Star",
        '=' => "Equal",
        '!' => "Not",
        '<' => "Less",
        '>' => "Greater",
        '~' => "Tilde",
        '+' => "Plus",
        '-' => "Minus",
        '/' => "Slash",
        '.' => "Dot",
        '%' => "Percent",
        '^' => "Caret",
        '&' => "And",
        '|' => "Or",
        _ => "Symbol",
    }
}

/// Returns the name that serde's `rename_all = "camelCase"` gives a field.
pub(crate) fn serde_camel_case(field: &str) -> String {
    let field = field.strip_prefix("r#").unwrap_or(field);
    let mut text = String::with_capacity(field.len());
    let mut capital = false;
    for letter in field.chars() {
        match letter {
            '_' => capital = true,
            _ if capital && !text.is_empty() => {
                text.push(letter.to_ascii_uppercase());
                capital = false;
            }
            _ => {
                text.push(letter);
                capital = false;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_snake_case_and_keep_abbreviations_together() {
        for (name, expected) in [
            ("colour", "colour"),
            ("maxSize", "max_size"),
            ("podCIDRs", "pod_cidrs"),
            ("podIPsOf", "pod_ips_of"),
            ("clusterIP", "cluster_ip"),
            ("HTTPGet", "http_get"),
            ("IPv4Pool", "ipv4_pool"),
            ("x509Subject", "x509_subject"),
            ("x-y.z", "x_y_z"),
            ("$ref", "ref"),
            ("1st", "_1st"),
            ("größe", "gr_e"),
            ("***", "field"),
            ("_a_", "a"),
        ] {
            assert_eq!(snake_case(name), expected, "{name}");
        }
    }

    #[test]
    fn keywords_are_escaped() {
        assert_eq!(escaped("type"), "r#type");
        assert_eq!(escaped("self"), "self_");
        assert_eq!(escaped("gen"), "r#gen");
        assert_eq!(escaped("yield"), "r#yield");
        assert_eq!(escaped("colour"), "colour");
    }

    #[test]
    fn a_taken_name_gets_the_next_number() {
        let mut taken = Taken::of(["Fig"]);
        assert_eq!(taken.take("Fig", ""), "Fig2");
        assert_eq!(taken.take("Fig", ""), "Fig3");
        assert_eq!(taken.take("Plum", ""), "Plum");
        assert_eq!(taken.take("Plum", "_"), "Plum_2");
        assert_eq!(taken.take("Fig5", ""), "Fig5");
        assert_eq!(taken.take("Fig", ""), "Fig4");
        assert_eq!(taken.take("Fig", ""), "Fig6");
    }

    #[test]
    fn many_equal_names_do_not_take_quadratic_time() {
        let mut taken = Taken::default();
        for number in 2..200_000 {
            let name = taken.take("field", "_");
            assert!(
                number == 2 || name == format!("field_{}", number - 1),
                "{name}"
            );
        }
    }

    #[test]
    fn every_value_of_an_enum_has_the_name_of_a_variant() {
        for (value, expected) in [
            ("green", "Green"),
            ("RollingUpdate", "RollingUpdate"),
            ("not-yet", "NotYet"),
            ("", "Empty"),
            ("10m", "V10m"),
            ("!=", "NotEqual"),
            ("é", "Symbol"),
        ] {
            assert_eq!(variant(value), expected, "{value}");
        }
    }

    #[test]
    fn camel_case_is_that_of_serde() {
        for (field, expected) in [
            ("max_size", "maxSize"),
            ("r#type", "type"),
            ("_1st", "1st"),
            ("pod_cidrs", "podCidrs"),
            ("self_", "self"),
        ] {
            assert_eq!(serde_camel_case(field), expected, "{field}");
        }
    }
}
