//! What nodes may change that has the name of a node: leases, drivers, slices, certificates.

use crate::certificates::common_name;
use kubist_api::certificates::v1::CertificateSigningRequest;
use kubist_api::resource::v1::ResourceSlice;
use kubist_apimachinery::Status;
use kubist_registry::admission::{Attributes, Operation};

const LEASES: &str = "kube-node-lease";
const SIGNERS: [&str; 2] = [
    "kubernetes.io/kubelet-serving",
    "kubernetes.io/kube-apiserver-client-kubelet",
];

pub(super) fn judge(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let refused = match attributes.target().resource.plural {
        "leases" => lease(attributes, node),
        "csinodes" => (name_of(attributes) != node).then(|| {
            "can only access CSINode with the same name as the requesting node".to_owned()
        }),
        "resourceslices" => slice(attributes, node),
        "certificatesigningrequests" => certificate(attributes, node),
        _ => None,
    };
    refused.map_or(Ok(()), |why| Err(attributes.forbidden(why)))
}

/// Returns the name of the object that a request is about.
fn name_of<'a>(attributes: &'a Attributes<'_>) -> &'a str {
    let target = attributes.target();
    match attributes.object() {
        Some(new) if target.operation == Operation::Create => &new.meta().name,
        _ => target.name,
    }
}

fn lease(attributes: &Attributes<'_>, node: &str) -> Option<String> {
    if attributes.target().namespace != LEASES {
        return Some(format!(
            "can only access leases in the \"{LEASES}\" system namespace"
        ));
    }
    (name_of(attributes) != node)
        .then(|| "can only access node lease with the same name as the requesting node".to_owned())
}

fn slice(attributes: &Attributes<'_>, node: &str) -> Option<String> {
    let (slice, verb) = match attributes.target().operation {
        Operation::Create => (attributes.typed::<ResourceSlice>(), "create"),
        Operation::Delete => (attributes.old_typed::<ResourceSlice>(), "delete"),
        _ => return None,
    };
    let own = slice.and_then(|it| it.spec.node_name.as_deref());
    (own != Some(node)).then(|| {
        format!("can only {verb} ResourceSlice with the same NodeName as the requesting node")
    })
}

fn certificate(attributes: &Attributes<'_>, node: &str) -> Option<String> {
    if attributes.target().operation != Operation::Create {
        return None;
    }
    let request = attributes.typed::<CertificateSigningRequest>()?;
    if !SIGNERS.contains(&request.spec.signer_name.as_str()) {
        return None;
    }
    let wanted = format!("system:node:{node}");
    match common_name(&request.spec.request) {
        Ok(name) if name == wanted => None,
        Ok(_) => Some(format!("can only create a node CSR with CN={wanted}")),
        Err(why) => Some(format!("unable to parse csr: {why}")),
    }
}
