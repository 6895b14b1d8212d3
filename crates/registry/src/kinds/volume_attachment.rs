//! VolumeAttachments.

use crate::{KindStrategy, StatusKeeps};
use kubist_api::storage::v1::VolumeAttachment;
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

use super::rules::{self, Errors};
use super::{go_struct, persistent_volume};

#[derive(Debug)]
pub(super) struct VolumeAttachments;

impl KindStrategy for VolumeAttachments {
    type Kind = VolumeAttachment;

    fn validate(&self, new: &VolumeAttachment) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        rules::csi_driver_name(&mut errors, &new.spec.attacher, &path.child("attacher"));
        check_source(&mut errors, new, &path.child("source"));
        let node = path.child("nodeName");
        let rule = validate_name::dns1123_subdomain;
        rules::text(&mut errors, &new.spec.node_name, &node, rule);
        errors
    }
    fn validate_update(&self, new: &VolumeAttachment, old: &VolumeAttachment) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        if new.spec != old.spec {
            let path = FieldPath::new("spec");
            let shown = go_struct::shown(&new.spec);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }
    fn allow_unconditional_update(&self) -> bool {
        false
    }
}

fn check_source(errors: &mut Errors, attachment: &VolumeAttachment, path: &FieldPath) {
    const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let source = &attachment.spec.source;
    match (&source.inline_volume_spec, &source.persistent_volume_name) {
        (None, None) => errors.push(FieldError::required(path, ONE)),
        (Some(_), Some(_)) => errors.push(FieldError::forbidden(path, ONE)),
        (None, Some(name)) if name.is_empty() => {
            let detail = "must specify non empty persistentVolumeName";
            let path = path.child("persistentVolumeName");
            errors.push(FieldError::required(&path, detail));
        }
        (None, Some(_)) => {}
        (Some(spec), None) => {
            persistent_volume::check_inline(errors, spec, &path.child("inlineVolumeSpec"));
        }
    }
    if let Some(name) = &source.persistent_volume_name {
        let path = path.child("persistentVolumeName");
        rules::text(errors, name, &path, validate_name::dns1123_subdomain);
    }
}
