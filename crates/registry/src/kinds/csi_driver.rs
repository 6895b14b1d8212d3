//! CSIDrivers.

use crate::{Generation, KindStrategy};
use kubist_api::storage::v1::CSIDriver;
use kubist_apimachinery::{FieldError, FieldPath};

use super::{fill, rules};

#[derive(Debug)]
pub(super) struct CsiDrivers;

impl KindStrategy for CsiDrivers {
    type Kind = CSIDriver;

    fn apply_defaults(&self, object: &mut CSIDriver) {
        let spec = &mut object.spec;
        spec.attach_required.get_or_insert(true);
        spec.pod_info_on_mount.get_or_insert(false);
        spec.storage_capacity.get_or_insert(false);
        fill::option(&mut spec.fs_group_policy, "ReadWriteOnceWithFSType");
        if spec.volume_lifecycle_modes.is_empty() {
            spec.volume_lifecycle_modes.push("Persistent".into());
        }
        spec.requires_republish.get_or_insert(false);
        spec.se_linux_mount.get_or_insert(false);
    }
    fn validate(&self, new: &CSIDriver) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        if let Some(policy) = &new.spec.fs_group_policy {
            let supported = ["File", "None", "ReadWriteOnceWithFSType"];
            rules::one_of(
                &mut errors,
                policy,
                &supported,
                &path.child("fsGroupPolicy"),
            );
        }
        for mode in &new.spec.volume_lifecycle_modes {
            let path = path.child("volumeLifecycleModes");
            rules::one_of(&mut errors, mode, &["Ephemeral", "Persistent"], &path);
        }
        errors
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
    fn generation(&self) -> Generation {
        Generation::None
    }
}
