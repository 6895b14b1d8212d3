//! Several errors as one text, as upstream aggregates them.

/// Returns messages as one text, each once: several are in brackets. It is empty for none.
pub fn aggregate<T: AsRef<str>>(messages: impl IntoIterator<Item = T>) -> String {
    let mut seen: Vec<T> = Vec::new();
    for message in messages {
        if !seen.iter().any(|it| it.as_ref() == message.as_ref()) {
            seen.push(message);
        }
    }
    let texts: Vec<&str> = seen.iter().map(AsRef::as_ref).collect();
    match texts[..] {
        [] => String::new(),
        [only] => only.to_owned(),
        _ => format!("[{}]", texts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_is_told_once_and_several_are_in_brackets() {
        assert_eq!(aggregate::<&str>([]), "");
        assert_eq!(aggregate(["a", "a"]), "a");
        assert_eq!(aggregate(["a", "b", "a"]), "[a, b]");
    }
}
