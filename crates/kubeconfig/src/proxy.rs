//! The proxy from the environment, by the rules of Go programs.
//!
//! `HTTPS_PROXY` applies to `https` servers and `HTTP_PROXY` to others; addresses in `NO_PROXY` and
//! loopback addresses are reached directly. An invalid proxy URL is ignored.

use crate::environment::Environment;
use kubist_transport::{Config, Proxy};
use std::net::IpAddr;

pub(crate) fn from_environment(config: &Config, environment: &Environment) -> Option<Proxy> {
    let either = |upper, lower| environment.text(upper).or_else(|| environment.text(lower));
    let host = config
        .server
        .host()?
        .trim_matches(['[', ']'])
        .to_ascii_lowercase();
    let https = config.server.scheme_str() == Some("https");
    let url = if https {
        either("HTTPS_PROXY", "https_proxy")?
    } else {
        either("HTTP_PROXY", "http_proxy")?
    };
    let port = config
        .server
        .port_u16()
        .unwrap_or(if https { 443 } else { 80 });
    let excluded = either("NO_PROXY", "no_proxy").unwrap_or_default();
    if is_loopback(&host)
        || excluded
            .split(',')
            .any(|rule| excludes(rule.trim(), &host, port))
    {
        return None;
    }
    let with_scheme = if url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{url}")
    };
    with_scheme.parse().ok()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

/// One rule of `NO_PROXY`: `*`, an address, a network, a domain, `.domain` (only below it), and
/// any of these but a network with `:port`.
fn excludes(rule: &str, host: &str, port: u16) -> bool {
    let rule = rule.to_ascii_lowercase();
    if rule.is_empty() {
        return false;
    }
    if rule == "*" {
        return true;
    }
    if let Some((network, bits)) = rule.split_once('/') {
        return in_network(network, bits, host);
    }
    let name = match rule.rsplit_once(':') {
        Some((name, only)) if !name.contains(':') || name.ends_with(']') => {
            if only.parse() != Ok(port) {
                return false;
            }
            name
        }
        _ => rule.as_str(),
    };
    let name = name.trim_matches(['[', ']']);
    if let (Ok(rule), Ok(host)) = (name.parse::<IpAddr>(), host.parse::<IpAddr>()) {
        return rule == host;
    }
    let domain = name.trim_start_matches("*.").trim_start_matches('.');
    let below = host
        .strip_suffix(domain)
        .is_some_and(|rest| rest.ends_with('.'));
    below || (domain == name && host == domain)
}

fn in_network(network: &str, bits: &str, host: &str) -> bool {
    let (Ok(network), Ok(host)) = (network.parse::<IpAddr>(), host.parse::<IpAddr>()) else {
        return false;
    };
    let Ok(bits) = bits.parse::<u32>() else {
        return false;
    };
    match (network, host) {
        (IpAddr::V4(network), IpAddr::V4(host)) if bits <= 32 => {
            let shift = 32 - bits;
            u64::from(network.to_bits()) >> shift == u64::from(host.to_bits()) >> shift
        }
        (IpAddr::V6(network), IpAddr::V6(host)) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            network.to_bits() & mask == host.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goes_direct(server: &str, no_proxy: &str) -> bool {
        let environment = Environment::default()
            .with("HTTPS_PROXY", "proxy.example:3128")
            .with("no_proxy", no_proxy);
        from_environment(&Config::new(server.parse().unwrap()), &environment).is_none()
    }

    #[test]
    fn no_proxy_rules_match_as_in_go() {
        for (server, rules, direct) in [
            ("https://api.example.com:6443", "", false),
            ("https://api.example.com:6443", "example.com", true),
            (
                "https://api.example.com:6443",
                "other.org, .example.com",
                true,
            ),
            ("https://example.com", ".example.com", false),
            ("https://example.com", "*.example.com", false),
            ("https://notexample.com", "example.com", false),
            ("https://api.example.com:6443", "*", true),
            ("https://api.example.com:6443", "api.example.com:6443", true),
            ("https://api.example.com:6443", "api.example.com:443", false),
            ("https://10.1.2.3:6443", "10.0.0.0/8", true),
            ("https://10.1.2.3:6443", "10.2.0.0/16", false),
            ("https://10.1.2.3:6443", "0.0.0.0/0", true),
            ("https://10.1.2.3:6443", "10.1.2.3", true),
            ("https://[fd00::1]:6443", "fd00::/8", true),
            ("https://[fd00::1]:6443", "::/0", true),
            ("https://[fd00::1]:6443", "fd00::1", true),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", true),
            ("https://127.0.0.1:6443", "", true),
            ("https://localhost:6443", "", true),
            ("http://api.example.com", "", true),
        ] {
            assert_eq!(
                goes_direct(server, rules),
                direct,
                "{server} with {rules:?}"
            );
        }
    }
}
