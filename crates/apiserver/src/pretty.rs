//! Indented JSON, for people: the same text with line breaks. Keys keep their order.

/// Indents compact JSON by two spaces, as Go does. What is no JSON comes out as some text.
pub(crate) fn indent(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut depth = 0;
    let (mut in_string, mut escaped) = (false, false);
    for (at, &byte) in json.iter().enumerate() {
        if in_string {
            out.push(byte);
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => {
                in_string = true;
                out.push(byte);
            }
            b'{' | b'[' => {
                out.push(byte);
                let closes = json.get(at + 1);
                if closes != Some(&b'}') && closes != Some(&b']') {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                let opened = at.checked_sub(1).and_then(|before| json.get(before));
                if opened != Some(&b'{') && opened != Some(&b'[') {
                    depth = usize::saturating_sub(depth, 1);
                    line(&mut out, depth);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            b' ' | b'\n' | b'\t' | b'\r' => {}
            _ => out.push(byte),
        }
    }
    out
}

fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_and_stays_the_same() {
        let text = r#"{"b":[1,{"a":"x\"},:[\\"},[],{}],"c":null}"#;
        let pretty = String::from_utf8(indent(text.as_bytes())).expect("it is text");
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"x\\\"},:[\\\\\"\n    },\n    \
                        [],\n    {}\n  ],\n  \"c\": null\n}";
        assert_eq!(pretty, expected);
        let (before, after): (serde_json::Value, serde_json::Value) = (
            serde_json::from_str(text).expect("it is JSON"),
            serde_json::from_str(&pretty).expect("it is JSON"),
        );
        assert_eq!(before, after);
    }
}
