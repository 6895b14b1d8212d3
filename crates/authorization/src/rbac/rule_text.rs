//! The text of a rule in messages, as upstream's.

use kubist_api::rbac::v1::PolicyRule;
use kubist_apimachinery::Str;

/// Returns a rule as upstream prints it:
/// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
pub fn rule_text(rule: &PolicyRule) -> String {
    let parts = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.non_resource_urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let parts = parts.into_iter().filter(|(_, texts)| !texts.is_empty());
    let parts: Vec<String> = parts
        .map(|(name, texts)| format!("{name}:{}", quoted(texts)))
        .collect();
    format!("{{{}}}", parts.join(", "))
}

/// Returns texts as Go prints a slice of them, quoted.
pub(crate) fn quoted(texts: &[Str]) -> String {
    let texts: Vec<String> = texts.iter().map(|it| format!("{:?}", &**it)).collect();
    format!("[{}]", texts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lists_are_left_out() {
        let rule = PolicyRule {
            verbs: vec!["get".into(), "list".into()],
            api_groups: vec!["".into()],
            resources: vec!["pods".into()],
            ..PolicyRule::default()
        };
        let text = r#"{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}"#;
        assert_eq!(rule_text(&rule), text);
        assert_eq!(rule_text(&PolicyRule::default()), "{}");
    }
}
