//! How names of JSON fields become identifiers, and back.

/// The words that no variable may have as its name; as names of fields they are escaped.
pub(crate) const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Returns the identifier of a field, or none if the name has a character that cannot be escaped.
pub fn escape(name: &str) -> Option<String> {
    let first = name.bytes().next()?;
    if first.is_ascii_digit() {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let (text, length) = match character {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            it if it == '_' || it.is_ascii_alphanumeric() => (&rest[..1], 1),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[length..];
    }
    Some(escaped)
}

/// Returns the name of a field from its identifier, or none if an escape in it is unknown.
pub fn unescape(identifier: &str) -> Option<std::borrow::Cow<'_, str>> {
    if !identifier.contains("__") {
        return Some(identifier.into());
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some(at) = rest.find("__") {
        let content = &rest[at + 2..];
        let length = content.find('_').unwrap_or(content.len());
        if length == 0 || !content[length..].starts_with("__") {
            // Not an escape: an underscore is part of the name, and the search goes on behind it.
            name.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        name.push_str(&rest[..at]);
        match &content[..length] {
            "underscores" => name.push_str("__"),
            "dot" => name.push('.'),
            "dash" => name.push('-'),
            "slash" => name.push('/'),
            word if is_reserved(word) && length + 4 == identifier.len() => name.push_str(word),
            _ => return None,
        }
        rest = &content[length + 2..];
    }
    name.push_str(rest);
    Some(name.into())
}

/// Reports whether a word is reserved, so that no variable has it as its name.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}
