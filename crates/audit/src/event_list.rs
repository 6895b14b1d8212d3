//! `event_list`: events as one document, which webhooks get.

/// Returns an `EventList` of `audit.k8s.io/v1` of events that are JSON already.
///
/// ```
/// let list = kubist_audit::event_list(&["{}", "{}"]);
/// assert!(list.ends_with(r#""metadata":{},"items":[{},{}]}"#));
/// ```
pub fn event_list<T: AsRef<str>>(events: &[T]) -> String {
    let begin = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":["#;
    let bytes: usize = events.iter().map(|it| it.as_ref().len() + 1).sum();
    let mut list = String::with_capacity(begin.len() + bytes + 2);
    list.push_str(begin);
    for (place, event) in events.iter().enumerate() {
        if place > 0 {
            list.push(',');
        }
        list.push_str(event.as_ref());
    }
    list.push_str("]}");
    list
}
