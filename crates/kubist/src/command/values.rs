//! Parsing of option values, with errors that state what is expected.

use kubist_apimachinery::{Duration, Quantity};
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// The only host name that is accepted.
const LOCALHOST: &str = "localhost";

/// Parses a listen address and port without name resolution: `localhost` is the IPv4 loopback
/// address, and an empty host, as in `:6443`, is every IPv4 address, as in Go.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let named = text.rsplit_once(':').and_then(|(host, port)| {
        let host = match host {
            "" => Ipv4Addr::UNSPECIFIED,
            LOCALHOST => Ipv4Addr::LOCALHOST,
            _ => return None,
        };
        Some(SocketAddr::from((host, port.parse().ok()?)))
    });
    named.ok_or_else(|| {
        "must be an IP address and a port, such as 127.0.0.1:6443, [::1]:6443, \
         localhost:6443, or :6443 for every IPv4 address"
            .to_owned()
    })
}

/// Parses a number of bytes: a quantity, as in manifests.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let quantity: Option<Quantity> = text.parse().ok();
    let quantity = quantity.filter(|it| it.signum() >= 0 && it.is_whole());
    let bytes = quantity.and_then(|it| usize::try_from(it.value()).ok());
    bytes.ok_or_else(|| "must be a number of bytes, such as 1073741824, 1G or 1Gi".to_owned())
}

/// Parses a non-negative integer.
pub(super) fn non_negative<T: FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse();
    number.map_err(|_| "must be a whole number, 0 or more".to_owned())
}

/// Parses a positive integer.
pub(super) fn positive(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|it| *it > 0);
    number.ok_or_else(|| "must be a whole number, 1 or more".to_owned())
}

/// Parses a non-negative duration in Go's format.
pub(super) fn duration(text: &str) -> Result<std::time::Duration, String> {
    let duration: Option<Duration> = text.parse().ok();
    let duration = duration.and_then(Duration::to_std);
    duration.ok_or_else(|| {
        "must be a time with its unit, such as 30s, 5m or 1h30m, not negative, and at most 292 years"
            .to_owned()
    })
}

/// A server that starts reads lists in pages, and what it reads must not be compacted meanwhile.
const COMPACTION_INTERVAL_MIN: std::time::Duration = std::time::Duration::from_secs(1);

/// Parses the interval of compactions; zero is none.
pub(super) fn compaction_interval(text: &str) -> Result<std::time::Duration, String> {
    let interval = duration(text)?;
    if !interval.is_zero() && interval < COMPACTION_INTERVAL_MIN {
        return Err("must be 0, or a second or more".to_owned());
    }
    Ok(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compactions_are_a_second_apart_at_least_or_never() {
        for text in ["0", "0s", "1s", "5m"] {
            compaction_interval(text).expect(text);
        }
        for text in ["1ns", "999ms", "-1s", "99999999999h", "5"] {
            compaction_interval(text).expect_err(text);
        }
    }

    #[test]
    fn an_address_to_listen_on_may_be_written_as_in_go() {
        for (text, expected) in [
            ("127.0.0.1:7544", "127.0.0.1:7544"),
            ("[::1]:0", "[::1]:0"),
            ("localhost:7544", "127.0.0.1:7544"),
            (":7544", "0.0.0.0:7544"),
        ] {
            let address = listen_address(text).map(|it| it.to_string());
            assert_eq!(address.as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "7544",
            "127.0.0.1",
            "example.com:7544",
            ":70000",
            "::1:7",
        ] {
            let why = listen_address(text).expect_err(text);
            assert!(why.contains("127.0.0.1:6443"), "{text}: {why}");
        }
    }

    #[test]
    fn bytes_are_quantities() {
        for (text, expected) in [
            ("0", 0),
            ("300000", 300_000),
            ("1G", 1_000_000_000),
            ("1Gi", 1 << 30),
            ("1.5Ki", 1536),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "-5", "1GB", "1gi", "1m", "some"] {
            let why = bytes(text).expect_err(text);
            assert!(why.contains("1Gi"), "{text}: {why}");
        }
    }

    #[test]
    fn numbers_and_times_are_not_negative() {
        assert_eq!(non_negative::<u32>("7"), Ok(7));
        assert_eq!(positive("7"), Ok(7));
        assert_eq!(duration("1m30s"), Ok(std::time::Duration::from_secs(90)));
        for text in ["-5", "x", "99999999999999999999999"] {
            assert!(non_negative::<u64>(text).is_err_and(|it| it.contains("0 or more")));
            assert!(positive(text).is_err_and(|it| it.contains("1 or more")));
        }
        assert!(positive("0").is_err());
        for text in ["-5s", "5", "5 s", ""] {
            assert!(duration(text).is_err_and(|it| it.contains("30s")), "{text}");
        }
    }
}
