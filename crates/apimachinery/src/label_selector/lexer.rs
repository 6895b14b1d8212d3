//! The lexer: splits the text of a selector into tokens.

/// A token of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Close,
    Open,
    Comma,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    Greater,
    Less,
    In,
    NotIn,
    Identifier,
}

/// Returns all tokens with their texts; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Vec<(Token, &str)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(token @ (_, literal)) = next(rest) else {
            break;
        };
        rest = &rest[literal.len()..];
        // As in upstream, a zero byte ends a token and, on its own, the selector.
        rest = rest.strip_prefix('\0').unwrap_or(rest);
        tokens.push(token);
    }
    tokens.push((Token::End, ""));
    tokens
}

const SYMBOLS: [(&str, Token); 9] = [
    ("==", Token::DoubleEquals),
    ("!=", Token::NotEquals),
    ("=", Token::Equals),
    ("!", Token::Not),
    (")", Token::Close),
    ("(", Token::Open),
    (",", Token::Comma),
    (">", Token::Greater),
    ("<", Token::Less),
];

fn next(rest: &str) -> Option<(Token, &str)> {
    if rest.is_empty() || rest.starts_with('\0') {
        return None;
    }
    for (symbol, token) in SYMBOLS {
        if rest.starts_with(symbol) {
            return Some((token, symbol));
        }
    }
    let end = rest
        .find(|c| "=!(),>< \t\r\n\0".contains(c))
        .unwrap_or(rest.len());
    let word = &rest[..end];
    let token = match word {
        "in" => Token::In,
        "notin" => Token::NotIn,
        _ => Token::Identifier,
    };
    Some((token, word))
}
