//! Headers of streams, as Go's implementation of SPDY writes them.

/// Those of the first stream of a connection: `streamtype: error`, `port: 80`, `requestid: 0`.
pub(super) const FIRST: &str = "\
    78f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614c\
    b45a024cc6461c0c0c0c0590489c44c50e2663400000000ffff";
/// Those of the second: `streamtype: data`, the rest the same.
pub(super) const SECOND: &str = "c2aa15540a2512d209000000ffff";

/// Reads hexadecimal digits.
pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let byte = |it: &[u8]| {
        let text = std::str::from_utf8(it).expect("it is text");
        u8::from_str_radix(text, 16).expect("it is a number")
    };
    pairs.map(byte).collect()
}
