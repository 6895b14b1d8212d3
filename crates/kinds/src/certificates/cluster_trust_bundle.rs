//! ClusterTrustBundles: trust anchors in PEM, of a signer or of nobody.

use crate::shared::metadata_checks;
use crate::shared::rules::{self, Errors};
use crate::shared::signer;
use kubist_api::certificates::v1beta1::ClusterTrustBundle;
use kubist_apimachinery::{BadValue, FieldError, FieldPath};
use kubist_registry::{KindStrategy, MetadataUpdate, NameRule, PemBlock, PemBlocks, StrategyFacts};
use std::collections::BTreeMap;
use x509_parser::certificate::X509Certificate;
use x509_parser::prelude::FromDer as _;

#[derive(Debug)]
pub(crate) struct ClusterTrustBundles;

/// The maximum size of the anchors in bytes, as upstream.
const BUNDLE_MAX: usize = 1 << 20;
const LABEL: &str = "CERTIFICATE";
/// What errors show in place of a bundle.
const OMITTED: &str = "<value omitted>";

impl KindStrategy for ClusterTrustBundles {
    type Kind = ClusterTrustBundle;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        name_rule: NameRule::Any,
        metadata_on_update: MetadataUpdate::Whole,
        allow_unconditional_update: false,
        selectable_fields: &["spec.signerName"],
        ..StrategyFacts::PLAIN
    };

    fn name_problems(&self, new: &ClusterTrustBundle, name: &str, prefix: bool) -> Vec<String> {
        let signer = new.spec.signer_name.as_str();
        if signer.is_empty() && name.contains(':') {
            let problem = signer::COLON_WITHOUT_SIGNER;
            return vec![problem.to_owned()];
        }
        let required = match signer {
            "" => String::new(),
            signer => format!("{}:", signer.replace('/', ":")),
        };
        match name.strip_prefix(required.as_str()) {
            Some(own) => NameRule::DnsSubdomain.check(own, prefix),
            None => vec![signer::other_prefix(signer, &required)],
        }
    }
    fn validate(&self, new: &ClusterTrustBundle) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_signer(&mut errors, new);
        check_anchors(&mut errors, &new.spec.trust_bundle);
        errors
    }
    fn validate_update(
        &self,
        new: &ClusterTrustBundle,
        old: &ClusterTrustBundle,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        check_signer(&mut errors, new);
        // What is stored stays valid, whatever a later parser thinks of it.
        if new.spec.trust_bundle != old.spec.trust_bundle {
            check_anchors(&mut errors, &new.spec.trust_bundle);
        }
        errors.extend(metadata_checks::change(self, new, old));
        let (after, before) = (&new.spec.signer_name, &old.spec.signer_name);
        let path = FieldPath::new("spec").child("signerName");
        rules::immutable_value(&mut errors, after.as_str(), before, &path, BadValue::from);
        errors
    }
}

fn check_signer(errors: &mut Errors, new: &ClusterTrustBundle) {
    if !new.spec.signer_name.is_empty() {
        let path = FieldPath::new("spec").child("signerName");
        signer::check(errors, &new.spec.signer_name, &path);
    }
}

/// Checks that a text has certificates of authorities in PEM, each once, and nothing else in PEM.
fn check_anchors(errors: &mut Errors, text: &str) {
    let path = FieldPath::new("spec").child("trustBundle");
    if text.len() > BUNDLE_MAX {
        errors.push(FieldError::too_long(&path, BUNDLE_MAX));
        return;
    }
    let before = errors.len();
    let mut anchors: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
    for (index, block) in PemBlocks::new(text).enumerate() {
        match problem(&block) {
            Some(problem) => {
                let detail = format!("entry {index} {problem}");
                errors.push(FieldError::invalid(&path, OMITTED, detail));
            }
            None => anchors.entry(block.content).or_default().push(index),
        }
    }
    if errors.len() > before {
        return;
    }
    if anchors.is_empty() {
        let detail = "at least one trust anchor must be provided";
        errors.push(FieldError::invalid(&path, OMITTED, detail));
    }
    let mut repeated: Vec<Vec<usize>> = anchors.into_values().filter(|it| it.len() > 1).collect();
    // Upstream's order is random.
    repeated.sort();
    for indices in repeated {
        let indices: Vec<String> = indices.iter().map(ToString::to_string).collect();
        let detail = format!("duplicate trust anchor (indices [{}])", indices.join(" "));
        errors.push(FieldError::invalid(&path, OMITTED, detail));
    }
}

/// Returns why a block is no trust anchor.
fn problem(block: &PemBlock<'_>) -> Option<String> {
    if block.label != LABEL {
        return Some(format!("has bad block type: {}", block.label));
    }
    if block.has_headers {
        return Some("has PEM block headers".to_owned());
    }
    let parsed = X509Certificate::from_der(&block.content);
    let Some((_, certificate)) = parsed.ok().filter(|(rest, _)| rest.is_empty()) else {
        return Some("does not parse as X.509".to_owned());
    };
    if certificate.is_ca() {
        return None;
    }
    Some("does not have the CA bit set".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    fn certificate(is_ca: bool) -> String {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        if is_ca {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        }
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().pem()
    }

    fn problems(text: &str) -> Vec<String> {
        let mut errors = Vec::new();
        check_anchors(&mut errors, text);
        errors.iter().map(ToString::to_string).collect()
    }

    fn invalid(detail: &str) -> Vec<String> {
        vec![format!(
            "spec.trustBundle: Invalid value: \"<value omitted>\": {detail}"
        )]
    }

    #[test]
    fn anchors_are_authorities_each_once() {
        let (one, other) = (certificate(true), certificate(true));
        assert_eq!(problems(&format!("a comment\n{one}\n{other}")), [""; 0]);
        let missing = invalid("at least one trust anchor must be provided");
        assert_eq!(problems(""), missing);
        assert_eq!(
            problems(&format!("{one}{other}{one}")),
            invalid("duplicate trust anchor (indices [0 2])")
        );
        assert_eq!(
            problems(&certificate(false)),
            invalid("entry 0 does not have the CA bit set")
        );
        let key = one.replace("CERTIFICATE", "PRIVATE KEY");
        assert_eq!(
            problems(&format!("{other}{key}")),
            invalid("entry 1 has bad block type: PRIVATE KEY")
        );
        assert_eq!(
            problems("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            invalid("entry 0 does not parse as X.509")
        );
        assert_eq!(
            problems(&" ".repeat(BUNDLE_MAX + 1)),
            ["spec.trustBundle: Too long: may not be more than 1048576 bytes"]
        );
    }

    #[test]
    fn a_bundle_is_named_after_its_signer() {
        let named = |signer: &str, name: &str| {
            let mut bundle = ClusterTrustBundle::default();
            bundle.spec.signer_name = signer.into();
            ClusterTrustBundles.name_problems(&bundle, name, false)
        };
        assert_eq!(named("", "anchors"), [""; 0]);
        assert_eq!(named("example.com/a", "example.com:a:anchors"), [""; 0]);
        assert_eq!(
            named("", "example.com:a:anchors"),
            ["ClusterTrustBundle without signer name must not have \":\" in its name"]
        );
        assert_eq!(
            named("example.com/a", "anchors"),
            [
                "ClusterTrustBundle for signerName example.com/a must be named with prefix \
              example.com:a:"
            ]
        );
        assert_eq!(named("example.com/a", "example.com:a:").len(), 1);
    }
}
