//! Rust names from Go and JSON names, cased as k8s-openapi does.

/// Returns the Rust field name of a JSON name: `podIPs` is `pod_ips`, `type` is `type_`.
pub(crate) fn field(json: &str) -> String {
    match json {
        "$ref" => return "ref_path".to_owned(),
        "$schema" => return "schema".to_owned(),
        // The case does not show where one acronym ends and the next begins.
        "openAPIV3Schema" => return "open_api_v3_schema".to_owned(),
        _ => {}
    }
    let name = snake(json);
    if is_keyword(&name) {
        format!("{name}_")
    } else {
        name
    }
}

/// Returns the name of the static that holds a message's schema: `PodSpec` is `POD_SPEC`.
pub(crate) fn constant(go: &str) -> String {
    snake(go).to_uppercase()
}

fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 8);
    for (i, &c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            out.push('_');
            continue;
        }
        if c.is_ascii_uppercase() && i > 0 {
            let before = chars[i - 1];
            let next = chars.get(i + 1).copied().unwrap_or('A');
            // The plural of an acronym belongs to it: `podIPs`, not `pod_i_ps`.
            let plural = next == 's'
                && chars
                    .get(i + 2)
                    .is_none_or(|after| !after.is_ascii_lowercase());
            let word_ends = before.is_ascii_lowercase() || before.is_ascii_digit();
            let acronym_ends = before.is_ascii_uppercase() && next.is_ascii_lowercase() && !plural;
            if word_ends || acronym_ends {
                out.push('_');
            }
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "abstract"
            | "as"
            | "async"
            | "await"
            | "become"
            | "box"
            | "break"
            | "const"
            | "continue"
            | "crate"
            | "do"
            | "dyn"
            | "else"
            | "enum"
            | "extern"
            | "false"
            | "final"
            | "fn"
            | "for"
            | "gen"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "loop"
            | "macro"
            | "match"
            | "mod"
            | "move"
            | "mut"
            | "override"
            | "priv"
            | "pub"
            | "ref"
            | "return"
            | "self"
            | "static"
            | "struct"
            | "super"
            | "trait"
            | "true"
            | "try"
            | "type"
            | "typeof"
            | "unsafe"
            | "unsized"
            | "use"
            | "virtual"
            | "where"
            | "while"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_cased_as_in_k8s_openapi() {
        for (json, rust) in [
            ("podIPs", "pod_ips"),
            ("podIP", "pod_ip"),
            ("clusterIP", "cluster_ip"),
            ("externalIPs", "external_ips"),
            ("hostIPC", "host_ipc"),
            ("nonResourceURLs", "non_resource_urls"),
            ("type", "type_"),
            ("continue", "continue_"),
            ("$ref", "ref_path"),
            ("caBundle", "ca_bundle"),
            ("targetWWNs", "target_wwns"),
            ("x-kubernetes-list-map-keys", "x_kubernetes_list_map_keys"),
            ("openAPIV3Schema", "open_api_v3_schema"),
            ("iscsi", "iscsi"),
            ("tcpSocket", "tcp_socket"),
            ("httpGet", "http_get"),
            (
                "serverAddressByClientCIDRs",
                "server_address_by_client_cidrs",
            ),
        ] {
            assert_eq!(field(json), rust);
        }
    }
}
