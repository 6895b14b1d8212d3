//! The names in `\p{…}`: categories and scripts.

use hashbrown::HashMap;
use regex::Regex;

/// The categories of Go, in its canonical notation, with the name here.
const CATEGORIES: [(&str, &str); 76] = [
    ("C", "C"),
    ("Cc", "Cc"),
    ("Cf", "Cf"),
    ("Cn", "Cn"),
    ("Co", "Co"),
    ("L", "L"),
    ("Lc", "LC"),
    ("Ll", "Ll"),
    ("Lm", "Lm"),
    ("Lo", "Lo"),
    ("Lt", "Lt"),
    ("Lu", "Lu"),
    ("M", "M"),
    ("Mc", "Mc"),
    ("Me", "Me"),
    ("Mn", "Mn"),
    ("N", "N"),
    ("Nd", "Nd"),
    ("Nl", "Nl"),
    ("No", "No"),
    ("P", "P"),
    ("Pc", "Pc"),
    ("Pd", "Pd"),
    ("Pe", "Pe"),
    ("Pf", "Pf"),
    ("Pi", "Pi"),
    ("Po", "Po"),
    ("Ps", "Ps"),
    ("S", "S"),
    ("Sc", "Sc"),
    ("Sk", "Sk"),
    ("Sm", "Sm"),
    ("So", "So"),
    ("Z", "Z"),
    ("Zl", "Zl"),
    ("Zp", "Zp"),
    ("Zs", "Zs"),
    ("Other", "C"),
    ("Control", "Cc"),
    ("Cntrl", "Cc"),
    ("Format", "Cf"),
    ("Unassigned", "Cn"),
    ("Privateuse", "Co"),
    ("Letter", "L"),
    ("Casedletter", "LC"),
    ("Lowercaseletter", "Ll"),
    ("Modifierletter", "Lm"),
    ("Otherletter", "Lo"),
    ("Titlecaseletter", "Lt"),
    ("Uppercaseletter", "Lu"),
    ("Mark", "M"),
    ("Combiningmark", "M"),
    ("Spacingmark", "Mc"),
    ("Enclosingmark", "Me"),
    ("Nonspacingmark", "Mn"),
    ("Number", "N"),
    ("Decimalnumber", "Nd"),
    ("Digit", "Nd"),
    ("Letternumber", "Nl"),
    ("Othernumber", "No"),
    ("Punctuation", "P"),
    ("Punct", "P"),
    ("Connectorpunctuation", "Pc"),
    ("Dashpunctuation", "Pd"),
    ("Closepunctuation", "Pe"),
    ("Finalpunctuation", "Pf"),
    ("Initialpunctuation", "Pi"),
    ("Otherpunctuation", "Po"),
    ("Openpunctuation", "Ps"),
    ("Symbol", "S"),
    ("Currencysymbol", "Sc"),
    ("Modifiersymbol", "Sk"),
    ("Mathsymbol", "Sm"),
    ("Othersymbol", "So"),
    ("Separator", "Z"),
    ("Lineseparator", "Zl"),
];
/// The rest of them.
const MORE_CATEGORIES: [(&str, &str); 2] = [("Paragraphseparator", "Zp"), ("Spaceseparator", "Zs")];
/// The scripts whose whole name has four letters. Go does not accept abbreviations, which have
/// four letters as well.
const SHORT_SCRIPTS: [&str; 8] = [
    "Ahom", "Cham", "Kawi", "Lisu", "Modi", "Newa", "Thai", "Toto",
];
const EVERYTHING: &str = "\\x{0}-\\x{10FFFF}";

/// The classes of the names so far.
#[derive(Default)]
pub(super) struct Names(HashMap<String, Option<String>>);

impl Names {
    /// Returns the class of a name, as an item of a class; none if there is no such name.
    pub(super) fn class(&mut self, name: &str, is_negated: bool) -> Option<String> {
        let name = canonical(name);
        let known = self.0.get(&name).cloned();
        let content = known.unwrap_or_else(|| {
            let content = content(&name);
            self.0.insert(name, content.clone());
            content
        })?;
        let sign = if is_negated { "^" } else { "" };
        Some(format!("[{sign}{content}]"))
    }
}

/// Returns the content of the class of a canonical name.
fn content(name: &str) -> Option<String> {
    match name {
        "Any" => return Some(EVERYTHING.to_owned()),
        "Assigned" => return Some("\\P{Cn}".to_owned()),
        "Ascii" => return Some("\\x{0}-\\x{7F}".to_owned()),
        "Cs" | "Surrogate" => return Some(format!("[^{EVERYTHING}]")),
        _ => {}
    }
    let mut categories = CATEGORIES.iter().chain(&MORE_CATEGORIES);
    if let Some((_, category)) = categories.find(|(it, _)| *it == name) {
        return Some(format!("\\p{{gc={category}}}"));
    }
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic());
    let is_whole = name.len() != 4 || SHORT_SCRIPTS.contains(&name);
    if !is_word || !is_whole || name.starts_with("Is") || name == "Unknown" {
        return None;
    }
    let class = format!("\\p{{sc={name}}}");
    Regex::new(&class).is_ok().then_some(class)
}

/// Returns a name without separators, beginning with its only capital letter.
fn canonical(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    let mut canonical = String::with_capacity(name.len());
    for c in letters {
        canonical.push(if canonical.is_empty() {
            c.to_ascii_uppercase()
        } else {
            c.to_ascii_lowercase()
        });
    }
    canonical
}
