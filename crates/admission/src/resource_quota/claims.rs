//! How claims of volumes and of devices count.

use super::scopes::Scope;
use crate::amounts::Amounts;
use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_api::resource::v1::ResourceClaim;
use kubist_apimachinery::{Quantity, QuantityFormat, Str};
use std::collections::BTreeSet;

/// What a quota can limit of claims of volumes, in all or by class.
const NAMES: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
const COUNT: &str = "count/persistentvolumeclaims";
/// Stands between a storage class and a name.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";
/// The class of a claim, where an annotation says it.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const STORAGE: &str = "storage";

/// The number of claims of devices.
const DEVICE_COUNT: &str = "count/resourceclaims.resource.k8s.io";
/// The devices of a class.
const OF_DEVICE_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
/// The most devices that a request for all of a class can get.
const ALL_DEVICES: i64 = 32;

/// Reports whether claims of volumes count for a limited name.
pub(super) fn counts_volumes(limited: &str) -> bool {
    if limited == COUNT || NAMES.contains(&limited) {
        return true;
    }
    NAMES
        .iter()
        .any(|name| limited.ends_with(&format!("{OF_CLASS}{name}")))
}

/// Reports whether claims of devices count for a limited name.
pub(super) fn counts_devices(limited: &str) -> bool {
    limited == DEVICE_COUNT || limited.ends_with(OF_DEVICE_CLASS)
}

/// Reports whether a change of a claim's status may change its usage.
pub(super) fn status_counts(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> bool {
    let allocated =
        |it: &PersistentVolumeClaim| it.status.allocated_resources.get(STORAGE).cloned();
    allocated(new) != allocated(old) || attribute_classes(new) != attribute_classes(old)
}

/// Reports whether a claim is in a scope.
pub(super) fn is_in(scope: &Scope<'_>, claim: &PersistentVolumeClaim) -> bool {
    if scope.name != "VolumeAttributesClass" {
        return false;
    }
    let classes = attribute_classes(claim);
    if classes.is_empty() {
        return scope.matches(None);
    }
    classes.iter().any(|it| scope.matches(Some(it)))
}

/// Returns the attribute classes that a claim wants and has.
fn attribute_classes(claim: &PersistentVolumeClaim) -> BTreeSet<&Str> {
    let status = &claim.status;
    let modified = status.modify_volume_status.as_deref();
    let classes = [
        claim.spec.volume_attributes_class_name.as_ref(),
        status.current_volume_attributes_class_name.as_ref(),
        modified.map(|it| &it.target_volume_attributes_class_name),
    ];
    let classes = classes.into_iter().flatten();
    classes.filter(|it| !it.is_empty()).collect()
}

/// Returns the usage of a claim of a volume.
pub(super) fn of_volume(claim: &PersistentVolumeClaim) -> Amounts {
    let annotated = claim.metadata.annotations.get(CLASS);
    let class = annotated.or(claim.spec.storage_class_name.as_ref());
    let class = class.filter(|it| !it.is_empty());
    let mut usage = Amounts::new();
    usage.insert(COUNT.into(), Quantity::from(1));
    let mut add = |name: &str, amount: Quantity| {
        if let Some(class) = class {
            usage.insert(format!("{class}{OF_CLASS}{name}").into(), amount.clone());
        }
        usage.insert(name.into(), amount);
    };
    let [count, storage] = NAMES;
    add(count, Quantity::from(1));
    if let Some(requested) = claim.spec.resources.requests.get(STORAGE) {
        // A failed expansion may have allocated more.
        let allocated = claim.status.allocated_resources.get(STORAGE);
        let most = allocated.map_or(requested, |it| it.max(requested));
        add(storage, rounded_up(most));
    }
    usage
}

/// Returns a whole number of bytes.
fn rounded_up(amount: &Quantity) -> Quantity {
    if amount.is_whole() {
        amount.clone()
    } else {
        Quantity::new(amount.value(), amount.format())
    }
}

/// Returns the usage of a claim of devices: the most that may be allocated to it.
pub(super) fn of_devices(claim: &ResourceClaim) -> Amounts {
    let mut usage = Amounts::new();
    usage.insert(DEVICE_COUNT.into(), Quantity::from(1));
    let number = |mode: &str, count: i64| match mode {
        "ExactCount" => count,
        "All" => ALL_DEVICES,
        _ => 0,
    };
    for request in &claim.spec.devices.requests {
        let mut most = Amounts::new();
        let mut add = |class: &str, number: i64| {
            let number = Quantity::new(number, QuantityFormat::DecimalSi);
            let name = Str::from(format!("{class}{OF_DEVICE_CLASS}"));
            let before = most.entry(name).or_default();
            if number > *before {
                *before = number;
            }
        };
        for first in &request.first_available {
            let number = number(&first.allocation_mode, first.count);
            add(&first.device_class_name, number);
        }
        if request.first_available.is_empty()
            && let Some(exactly) = request.exactly.as_deref()
        {
            let number = number(&exactly.allocation_mode, exactly.count);
            add(&exactly.device_class_name, number);
        }
        crate::amounts::add(&mut usage, &most);
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::text;

    #[test]
    fn a_claim_counts_in_all_and_in_its_class() {
        let mut claim = PersistentVolumeClaim::default();
        claim.spec.storage_class_name = Some("gold".into());
        let request = "1500m".parse().expect("it is a quantity");
        claim
            .spec
            .resources
            .requests
            .insert(STORAGE.into(), request);
        let expected = "count/persistentvolumeclaims=1,\
            gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
            gold.storageclass.storage.k8s.io/requests.storage=2,\
            persistentvolumeclaims=1,requests.storage=2";
        assert_eq!(text(&of_volume(&claim)), expected);
        assert!(counts_volumes(
            "gold.storageclass.storage.k8s.io/requests.storage"
        ));
        assert!(!counts_volumes("requests.cpu"));
    }
}
