//! `JsonText`: a position in JSON text, for passes that accept usual text or give up.
//!
//! It reads what writers of JSON write: on anything unusual (an exponent, a surrogate pair, a long
//! number) and on every error it gives up, and a parser decides. So a pass affects neither what is
//! accepted nor the error messages.

use super::json_check::nested_objects_end;

/// The most digits of a number. None of these is out of range.
const DIGITS_MAX: usize = 18;

/// A position in the text. Each method is called at the first byte of what it reads and moves after
/// it; after `None` the position is meaningless.
pub(super) struct JsonText<'b> {
    pub(super) text: &'b [u8],
    pub(super) at: usize,
}

impl JsonText<'_> {
    /// Returns the next byte that is not white space, without consuming it.
    #[inline]
    pub(super) fn token(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Consumes an opening bracket; returns whether there is an item.
    #[inline]
    pub(super) fn enter(&mut self, close: u8) -> Option<bool> {
        self.at += 1;
        let empty = self.token()? == close;
        self.at += usize::from(empty);
        Some(!empty)
    }

    /// Consumes a comma or the closing bracket; returns whether there is another item.
    #[inline]
    pub(super) fn more(&mut self, close: u8) -> Option<bool> {
        let byte = self.token()?;
        self.at += 1;
        match byte {
            b',' => Some(true),
            byte if byte == close => Some(false),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Option<()> {
        self.token().filter(|&byte| byte == b':')?;
        self.at += 1;
        Some(())
    }

    #[inline]
    pub(super) fn word(&mut self, word: &[u8]) -> Option<()> {
        self.text.get(self.at..)?.strip_prefix(word)?;
        self.at += word.len();
        Some(())
    }

    pub(super) fn number(&mut self) -> Option<()> {
        self.at += usize::from(self.text.get(self.at) == Some(&b'-'));
        let zero = self.text.get(self.at) == Some(&b'0');
        let whole = self.digits()?;
        if zero && whole > 1 {
            return None;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        match self.text.get(self.at)? {
            b'e' | b'E' => None,
            _ => Some(()),
        }
    }

    /// Reads a value of any type.
    pub(super) fn anything(&mut self, depth_max: u8) -> Option<()> {
        match self.token()? {
            b'"' => self.string().map(drop),
            b'{' => {
                // Managed fields are a large part of many objects.
                let end = nested_objects_end(self.text, self.at, usize::from(depth_max));
                if let Some(end) = end {
                    self.at = end;
                    return Some(());
                }
                let depth_max = depth_max.checked_sub(1)?;
                let mut more = self.enter(b'}')?;
                while more {
                    self.token().filter(|&first| first == b'"')?;
                    self.string()?;
                    self.colon()?;
                    self.anything(depth_max)?;
                    more = self.more(b'}')?;
                }
                Some(())
            }
            b'[' => {
                let depth_max = depth_max.checked_sub(1)?;
                let mut more = self.enter(b']')?;
                while more {
                    self.anything(depth_max)?;
                    more = self.more(b']')?;
                }
                Some(())
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            _ => self.word(b"null"),
        }
    }

    /// Returns the number of digits, if it is within the limit.
    pub(super) fn digits(&mut self) -> Option<usize> {
        let rest = self.text.get(self.at..)?;
        let count = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        self.at += count;
        (1..=DIGITS_MAX).contains(&count).then_some(count)
    }

    /// Reports whether the string has no escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Option<bool> {
        let mut plain = true;
        let mut at = self.at + 1;
        loop {
            let rest = self.text.get(at..)?;
            let run = plain_run(rest);
            at += run;
            match *rest.get(run)? {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    at += escape_length(&rest[run..])?;
                }
                _ => return None,
            }
        }
        self.at = at + 1;
        Some(plain)
    }
}

/// Returns the length of the escape at the start of `text`.
fn escape_length(text: &[u8]) -> Option<usize> {
    match text.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => {
            let digits = text.get(2..6)?;
            let surrogate = matches!(digits, [b'd' | b'D', b'8'..=u8::MAX, ..]);
            (!surrogate && digits.iter().all(u8::is_ascii_hexdigit)).then_some(6)
        }
        _ => None,
    }
}

/// Returns the number of bytes before a quote, a backslash or a control character.
#[inline]
pub(super) fn plain_run(text: &[u8]) -> usize {
    let (chunks, rest) = text.as_chunks::<16>();
    for (index, chunk) in chunks.iter().enumerate() {
        if let Some(at) = first_special(u128::from_le_bytes(*chunk)) {
            return index * 16 + at;
        }
    }
    if rest.is_empty() {
        return text.len();
    }
    // The last chunk overlaps those before it, in which nothing was found.
    if let Some(last) = text.last_chunk::<16>() {
        let found = first_special(u128::from_le_bytes(*last));
        return found.map_or(text.len(), |at| text.len() - 16 + at);
    }
    plain_run_in_short(rest)
}

/// The same for less than a chunk, whose start and end are joined to one.
#[inline]
fn plain_run_in_short(text: &[u8]) -> usize {
    let (joined, half) = if let (Some(first), Some(last)) =
        (text.first_chunk::<8>(), text.last_chunk::<8>())
    {
        let [first, last] = [first, last].map(|it| u128::from(u64::from_le_bytes(*it)));
        (first | last << 64, 8)
    } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let [first, last] = [first, last].map(|it| u128::from(u32::from_le_bytes(*it)));
        // Spaces are plain.
        (first | last << 32 | SPACES << 64, 4)
    } else {
        let stops = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
        return text.iter().position(stops).unwrap_or(text.len());
    };
    match first_special(joined) {
        None => text.len(),
        Some(at) if at < half => at,
        Some(at) => text.len() + at - 2 * half,
    }
}

const SPACES: u128 = u128::from_le_bytes([b' '; 16]);

/// Returns the index of the first byte that is a quote, a backslash or a control character.
#[inline]
fn first_special(chunk: u128) -> Option<usize> {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    // Each subtraction sets the high bit of bytes below the subtrahend; in the first one, a flipped
    // bit moves the quote (0x22) next to the control characters. Bytes above the first match may be
    // wrong because of borrows, and are ignored.
    let low = (chunk ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (chunk ^ (ONES * 0x5c)).wrapping_sub(ONES);
    let found = (low | backslash) & !chunk & (ONES << 7);
    (found != 0).then_some(found.trailing_zeros() as usize / 8)
}
