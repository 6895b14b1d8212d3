//! The Pod Security labels of a namespace, validated as by upstream's admission. This crate does
//! not enforce them on Pods.

use crate::shared::rules::Errors;
use kubist_apimachinery::{FieldError, FieldPath, ObjectMeta};

/// The labels in upstream's order. The flag is true for a level label and false for a version
/// label.
const LABELS: [(&str, bool); 6] = [
    ("pod-security.kubernetes.io/enforce", true),
    ("pod-security.kubernetes.io/enforce-version", false),
    ("pod-security.kubernetes.io/audit", true),
    ("pod-security.kubernetes.io/audit-version", false),
    ("pod-security.kubernetes.io/warn", true),
    ("pod-security.kubernetes.io/warn-version", false),
];

/// Checks the labels. On update, stored errors are tolerated unless the update adds another.
pub(crate) fn check(errors: &mut Errors, new: &ObjectMeta, old: Option<&ObjectMeta>) {
    let wrong: Vec<(&str, &str)> = mistakes(new).collect();
    if old.is_some_and(|old| mistakes(old).eq(wrong.iter().copied())) {
        return;
    }
    let path = FieldPath::new("metadata").child("labels");
    for (label, value) in wrong {
        let is_level = LABELS.contains(&(label, true));
        let detail = if is_level {
            "must be one of privileged, baseline, restricted"
        } else {
            "must be \"latest\" or \"v1.x\""
        };
        errors.push(FieldError::invalid(&path.key(label), value, detail));
    }
}

/// Returns the labels with invalid values, together with the values.
fn mistakes(metadata: &ObjectMeta) -> impl Iterator<Item = (&'static str, &str)> {
    LABELS.into_iter().filter_map(move |(label, is_level)| {
        let value = metadata.labels.get(label)?.as_str();
        let known = if is_level {
            matches!(value, "privileged" | "baseline" | "restricted")
        } else {
            is_version(value)
        };
        (!known).then_some((label, value))
    })
}

fn is_version(text: &str) -> bool {
    let minor = text.strip_prefix("v1.").unwrap_or_default();
    let plain = minor.bytes().all(|it| it.is_ascii_digit());
    let number = plain && minor.parse::<i64>().is_ok() && (minor == "0" || !minor.starts_with('0'));
    text == "latest" || number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(labels: &[(&str, &str)]) -> ObjectMeta {
        let mut metadata = ObjectMeta::default();
        for (key, value) in labels {
            metadata.labels.insert((*key).into(), (*value).into());
        }
        metadata
    }

    fn problems(new: &ObjectMeta, old: Option<&ObjectMeta>) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, new, old);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn levels_and_versions_are_known_ones() {
        let level = "pod-security.kubernetes.io/enforce";
        let version = "pod-security.kubernetes.io/warn-version";
        let fine = labelled(&[(level, "baseline"), (version, "v1.30")]);
        assert_eq!(problems(&fine, None), [""; 0]);
        let bad = labelled(&[(level, "odd"), (version, "v1.030")]);
        assert_eq!(
            problems(&bad, None),
            [
                format!(
                    "metadata.labels[{level}]: Invalid value: \"odd\": must be one of privileged, \
                     baseline, restricted"
                ),
                format!(
                    "metadata.labels[{version}]: Invalid value: \"v1.030\": must be \"latest\" or \
                     \"v1.x\""
                ),
            ]
        );
        assert_eq!(problems(&bad, Some(&bad)), [""; 0]);
        assert_eq!(problems(&bad, Some(&fine)).len(), 2);
    }
}
