//! The default identity of a candidate.

use kubist_apimachinery::Str;
use kubist_client::Ambient;

/// Returns the host's name and a random UUID: the name is for people, the UUID distinguishes
/// processes.
pub(crate) fn unique(ambient: &Ambient) -> Str {
    let host = gethostname::gethostname();
    let host = host.to_string_lossy();
    let id = ambient.uuid();
    format!("{host}_{id}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_identities_on_one_host_differ_in_their_uuid() {
        let ambient = Ambient::default();
        let (one, two) = (unique(&ambient), unique(&ambient));
        assert_ne!(one, two);
        let host = |it: &Str| it.rsplit_once('_').map(|(host, _)| host.to_owned());
        assert_eq!(host(&one), host(&two));
        let (_, id) = one.rsplit_once('_').expect("there is a separator");
        assert_eq!(id.len(), 36, "{id}");
    }
}
