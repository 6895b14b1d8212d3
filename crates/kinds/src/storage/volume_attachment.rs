//! VolumeAttachments.

use crate::core::persistent_volume;
use crate::shared::go_struct;
use crate::shared::rules::{self, Errors};
use crate::volume::defaults::default_persistent_spec;
use kubist_api::storage::v1::{VolumeAttachment, VolumeAttachmentStatus};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct VolumeAttachments;

/// The maximum size of the attachment metadata in bytes.
const METADATA_BYTES_MAX: usize = 256 << 10;
/// The maximum size of an error message in bytes.
const MESSAGE_BYTES_MAX: usize = 1_024;

impl KindStrategy for VolumeAttachments {
    type Kind = VolumeAttachment;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Whole,
        status_keeps: StatusKeeps::Most,
        allow_unconditional_update: false,
        returns_deleted: true,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(VolumeAttachmentsStatus))
    }
    fn apply_defaults(&self, object: &mut VolumeAttachment) {
        if let Some(spec) = &mut object.spec.source.inline_volume_spec {
            default_persistent_spec(spec);
        }
    }
    fn validate(&self, new: &VolumeAttachment) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("spec");
        rules::csi_driver_name(&mut errors, &new.spec.attacher, &path.child("attacher"));
        check_source(&mut errors, new, &path.child("source"));
        let node = path.child("nodeName");
        let rule = validate_name::dns1123_subdomain;
        rules::text(&mut errors, &new.spec.node_name, &node, rule);
        if let Some(name) = &new.spec.source.persistent_volume_name {
            let at = path.child("source").child("persistentVolumeName");
            rules::text(&mut errors, name, &at, rule);
        }
        check_status(&mut errors, &new.status, &FieldPath::new("status"));
        errors
    }
    fn validate_update(&self, new: &VolumeAttachment, old: &VolumeAttachment) -> Vec<FieldError> {
        VolumeAttachmentsStatus.validate_update(new, old)
    }
}

/// The `status` subresource of [`VolumeAttachments`].
#[derive(Debug)]
struct VolumeAttachmentsStatus;

impl KindStrategy for VolumeAttachmentsStatus {
    type Kind = VolumeAttachment;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        metadata_on_update: MetadataUpdate::Own,
        ..StrategyFacts::PLAIN
    };

    fn validate_update(&self, new: &VolumeAttachment, old: &VolumeAttachment) -> Vec<FieldError> {
        // Upstream checks the whole object.
        let mut errors = VolumeAttachments.validate(new);
        if new.spec != old.spec {
            let path = FieldPath::new("spec");
            let shown = go_struct::shown(&new.spec);
            errors.push(FieldError::invalid(&path, shown, "field is immutable"));
        }
        errors
    }
}

fn check_status(errors: &mut Errors, status: &VolumeAttachmentStatus, path: &FieldPath) {
    let bytes = |(key, value): (&Str, &Str)| key.len() + value.len();
    let size: usize = status.attachment_metadata.iter().map(bytes).sum();
    if size > METADATA_BYTES_MAX {
        let path = path.child("attachmentMetadata");
        errors.push(FieldError::too_long(&path, METADATA_BYTES_MAX));
    }
    for (name, error) in [
        ("attachError", &status.attach_error),
        ("detachError", &status.detach_error),
    ] {
        let Some(error) = error else {
            continue;
        };
        let path = path.child(name);
        if error.message.len() > MESSAGE_BYTES_MAX {
            // Upstream reports the limit of the metadata.
            let path = path.child("message");
            errors.push(FieldError::too_long(&path, METADATA_BYTES_MAX));
        }
        if let Some(code) = error.error_code.filter(|&code| code < 0) {
            let detail = format!("must be between 0 and {}, inclusive", i32::MAX);
            errors.push(FieldError::invalid(&path.child("errorCode"), code, detail));
        }
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
            persistent_volume::validation::check_inline(
                errors,
                spec,
                &path.child("inlineVolumeSpec"),
            );
        }
    }
}
