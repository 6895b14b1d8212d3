//! FieldsV1: what parses is written as a text that parses to the same set, and the set operations
//! keep their laws.

#![no_main]

use kubist_field_manager::FieldSet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Two sets, separated by a line feed.
    let mut lines = text.splitn(2, '\n');
    let Some(Ok(one)) = lines.next().map(FieldSet::from_json) else {
        return;
    };
    check(&one);
    let Some(Ok(other)) = lines.next().map(FieldSet::from_json) else {
        return;
    };
    check(&other);
    let (both, common) = (one.union(&other), one.intersection(&other));
    check(&both);
    assert_eq!(both, other.union(&one));
    assert_eq!(common, other.intersection(&one));
    assert_eq!(both.difference(&other), one.difference(&other));
    assert_eq!(one.difference(&other).union(&common), one);
    assert!(one.difference(&both).is_empty());
});

fn check(set: &FieldSet) {
    let text = set.to_json();
    let again = FieldSet::from_json(&text).expect("what was written can be parsed");
    assert_eq!(again, *set, "{text}");
    assert_eq!(again.to_json(), text);
    assert!(set.difference(set).is_empty());
}
