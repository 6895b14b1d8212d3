//! The headers of every request: user agent, encoding, impersonation.

use crate::config::{Config, Impersonate};
use crate::config_error::ConfigError;
use http::header::{ACCEPT_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The headers added to every request that does not have them.
pub(crate) fn common_headers(config: &Config) -> Result<HeaderMap, ConfigError> {
    let value =
        |text: &str, field| HeaderValue::from_str(text).map_err(|_| ConfigError::Header { field });
    let mut headers = HeaderMap::new();
    if !config.user_agent.is_empty() {
        headers.insert(USER_AGENT, value(&config.user_agent, "user agent")?);
    }
    if config.accept_gzip {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(impersonate) = &config.impersonate {
        let Impersonate {
            user,
            uid,
            groups,
            extra,
        } = impersonate;
        headers.insert("impersonate-user", value(user, "impersonated user")?);
        if !uid.is_empty() {
            headers.insert("impersonate-uid", value(uid, "impersonated uid")?);
        }
        for group in groups {
            headers.append("impersonate-group", value(group, "impersonated group")?);
        }
        for (key, values) in extra {
            let name = format!("impersonate-extra-{}", header_key(key));
            let name = HeaderName::try_from(name).map_err(|_| ConfigError::Header {
                field: "impersonated extra",
            })?;
            for text in values {
                headers.append(name.clone(), value(text, "impersonated extra")?);
            }
        }
    }
    Ok(headers)
}

/// Encodes an arbitrary key as part of a header name: lower case, with percent signs and bytes that
/// are invalid in header names percent-encoded.
fn header_key(key: &str) -> String {
    const TOKEN: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
        .remove(b'!')
        .remove(b'#')
        .remove(b'$')
        .remove(b'&')
        .remove(b'\'')
        .remove(b'*')
        .remove(b'+')
        .remove(b'-')
        .remove(b'.')
        .remove(b'^')
        .remove(b'_')
        .remove(b'`')
        .remove(b'|')
        .remove(b'~');
    percent_encoding::utf8_percent_encode(&key.to_lowercase(), TOKEN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impersonation_becomes_headers_with_encoded_keys() {
        let mut config = Config::new("https://h".parse().unwrap());
        config.impersonate = Some(Impersonate {
            user: "jane".into(),
            uid: "7".into(),
            groups: vec!["a".into(), "b".into()],
            extra: vec![("example.com/Scope%".into(), vec!["x".into(), "y".into()])],
        });
        let headers = common_headers(&config).unwrap();
        assert_eq!(headers["impersonate-user"], "jane");
        assert_eq!(headers["impersonate-uid"], "7");
        assert_eq!(headers.get_all("impersonate-group").iter().count(), 2);
        let extra = headers.get_all("impersonate-extra-example.com%2fscope%25");
        assert_eq!(extra.iter().count(), 2);
    }

    #[test]
    fn values_that_cannot_be_sent_are_refused() {
        let mut config = Config::new("https://h".parse().unwrap());
        config.user_agent = "line\nbreak".into();
        assert!(common_headers(&config).is_err());
    }
}
