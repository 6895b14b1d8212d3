//! CSV as Go's reader reads it: records of comma-separated fields, which may be in quotes and then
//! contain commas, quotes (doubled) and line breaks. Empty lines are skipped.

/// Why a text is not CSV, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CsvError {
    #[error("parse error on line {line}, column {column}: bare \" in non-quoted-field")]
    BareQuote { line: usize, column: usize },
    #[error(
        "{}parse error on line {line}, column {column}: extraneous or missing \" in quoted-field",
        started(*record, *line)
    )]
    Quote {
        record: usize,
        line: usize,
        column: usize,
    },
}

fn started(record: usize, line: usize) -> String {
    if record == line {
        String::new()
    } else {
        format!("record on line {record}; ")
    }
}

/// Reads all records.
pub(crate) fn records(text: &str) -> Result<Vec<Vec<String>>, CsvError> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let mut records = Vec::new();
    while let Some((at, line)) = lines.next() {
        let line = trimmed(line);
        if line.is_empty() {
            continue;
        }
        records.push(record(at + 1, line, &mut lines)?);
    }
    Ok(records)
}

/// Returns a line without its end.
fn trimmed(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

fn record<'t>(
    start: usize,
    first: &'t str,
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
) -> Result<Vec<String>, CsvError> {
    let mut fields = Vec::new();
    let (mut number, mut line, mut rest) = (start, first, first);
    loop {
        let Some(mut quoted) = rest.strip_prefix('"') else {
            let (field, after) = rest
                .split_once(',')
                .map_or((rest, None), |(field, after)| (field, Some(after)));
            if let Some(at) = field.find('"') {
                let column = line.len() - rest.len() + at + 1;
                return Err(CsvError::BareQuote {
                    line: number,
                    column,
                });
            }
            fields.push(field.to_owned());
            match after {
                Some(after) => rest = after,
                None => return Ok(fields),
            }
            continue;
        };
        let mut field = String::new();
        loop {
            if let Some((before, after)) = quoted.split_once('"') {
                field.push_str(before);
                if let Some(doubled) = after.strip_prefix('"') {
                    field.push('"');
                    quoted = doubled;
                    continue;
                }
                fields.push(field);
                if after.is_empty() {
                    return Ok(fields);
                }
                let Some(next) = after.strip_prefix(',') else {
                    let column = line.len() - after.len();
                    return Err(CsvError::Quote {
                        record: start,
                        line: number,
                        column,
                    });
                };
                rest = next;
                break;
            }
            field.push_str(quoted);
            field.push('\n');
            let Some((at, next)) = lines.next() else {
                return Err(CsvError::Quote {
                    record: start,
                    line: number,
                    column: line.len() + 1,
                });
            };
            (number, line) = (at + 1, trimmed(next));
            quoted = line;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<String>>, String> {
        records(text).map_err(|it| it.to_string())
    }

    #[test]
    fn fields_may_be_in_quotes_and_span_lines() {
        let read = read("a,b,\"c,\"\"d\"\"\"\r\n\n,\"x\ny\",\n").expect("it is CSV");
        assert_eq!(read, [vec!["a", "b", "c,\"d\""], vec!["", "x\ny", ""]]);
    }

    #[test]
    fn stray_quotes_are_refused_where_they_are() {
        assert_eq!(
            read("a,b\"c\n"),
            Err("parse error on line 1, column 4: bare \" in non-quoted-field".to_owned())
        );
        assert_eq!(
            read("\n\"a\"b,c\n"),
            Err(
                "parse error on line 2, column 3: extraneous or missing \" in quoted-field"
                    .to_owned()
            )
        );
        let open = read("\"a\nb").expect_err("it is open");
        assert!(
            open.starts_with("record on line 1; parse error on line 2"),
            "{open}"
        );
    }
}
