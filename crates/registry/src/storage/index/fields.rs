//! The fields that are indexed beside labels: those that controllers and kubelets select by, and
//! whose value is the text at their path.

/// Group, plural, and fields.
const INDEXED: [(&str, &str, &[&str]); 3] = [
    ("", "pods", &["spec.nodeName", "status.phase"]),
    ("", "events", &["involvedObject.name", "involvedObject.uid"]),
    ("", "secrets", &["type"]),
];

/// Returns the indexed fields of a resource.
pub(crate) fn indexed_fields(group: &str, plural: &str) -> &'static [&'static str] {
    let mut all = INDEXED.iter();
    let found = all.find(|it| it.0 == group && it.1 == plural);
    found.map_or(&[], |it| it.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::wire::ScalarField;

    #[test]
    fn every_indexed_field_is_a_scalar_of_its_kind() {
        for (kind, plural) in [("Pod", "pods"), ("Event", "events"), ("Secret", "secrets")] {
            let fields = indexed_fields("", plural);
            assert!(!fields.is_empty());
            let kind = kubist_api::find_kind("", "v1", kind).expect("it is built in");
            for field in fields {
                assert!(ScalarField::new(kind.schema(), field).is_ok(), "{field}");
            }
        }
        assert_eq!(indexed_fields("apps", "pods"), [""; 0]);
    }
}
