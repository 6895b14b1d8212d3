//! The validation rules of each volume source, in upstream's order.

use crate::shared::rules::{self, Errors};
use crate::volume::providers::{
    LUN, azure_disk, fibre_channel, flex_options, flocker, initiator, iscsi_name,
    iscsi_name_of_kinds, iscsi_secret, quobyte,
};
use crate::volume::source_validation::{
    Rule, Source, absolute_path, descending_path, local_path, no_parents, typed,
};
use crate::volume::{self, claim_spec, source_validation as source};
use Rule::{Any, Each, OneOf, Range, Required, Special, Text};
use kubist_api::core::v1::{
    CSIVolumeSource, EmptyDirVolumeSource, EphemeralVolumeSource, HostPathVolumeSource,
};
use kubist_apimachinery::wire::{Message, View};
use kubist_apimachinery::{FieldError, FieldPath, validate_name};

/// The sources of a Pod's volumes.
pub(crate) const OF_PODS: [Source; 30] = [
    Source::new("emptyDir", &[Special(empty_dir)]),
    Source::new("hostPath", HOST_PATH),
    Source::new(
        "gitRepo",
        &[Required("repository"), Text("directory", descending_path)],
    ),
    GCE_PERSISTENT_DISK,
    Source::new("awsElasticBlockStore", AWS_ELASTIC_BLOCK_STORE),
    Source::new(
        "secret",
        &[
            Required("secretName"),
            Rule::mode("defaultMode"),
            Each("items", KEY_TO_PATH),
        ],
    ),
    Source::new("nfs", NFS),
    Source::new("iscsi", ISCSI),
    Source::new("glusterfs", GLUSTERFS),
    Source::new("flocker", &[Special(flocker)]),
    Source::new("persistentVolumeClaim", &[Required("claimName")]),
    Source::new("rbd", RBD),
    Source::new(
        "cinder",
        &[Required("volumeID"), Required("secretRef.name")],
    ),
    CEPHFS,
    Source::new("quobyte", &[Special(quobyte)]),
    Source {
        surplus: "downwarAPI",
        ..Source::new(
            "downwardAPI",
            &[
                Rule::mode("defaultMode"),
                Special(volume::projected::downward),
            ],
        )
    },
    Source::new("fc", &[Special(fibre_channel)]),
    Source::new("flexVolume", FLEX_VOLUME),
    Source::new(
        "configMap",
        &[
            Required("name"),
            Rule::mode("defaultMode"),
            Each("items", KEY_TO_PATH),
        ],
    ),
    Source::new(
        "azureFile",
        &[Required("secretName"), Required("shareName")],
    ),
    Source::new("vsphereVolume", &[Required("volumePath")]),
    Source::new("photonPersistentDisk", &[Required("pdID")]),
    Source::new("portworxVolume", &[Required("volumeID")]),
    Source::new("azureDisk", &[Special(azure_disk)]),
    Source::new(
        "storageos",
        &[
            Required("volumeName"),
            Text("volumeName", validate_name::dns1123_label),
            Text("volumeNamespace", validate_name::dns1123_label),
            Required("secretRef.name"),
        ],
    ),
    Source::new(
        "projected",
        &[
            Rule::mode("defaultMode"),
            Special(volume::projected::projected),
        ],
    ),
    Source::new("scaleIO", SCALE_IO),
    Source::new("csi", &[Special(csi)]),
    Source::new("ephemeral", &[Special(ephemeral)]),
    Source::new(
        "image",
        &[
            Required("pullPolicy"),
            OneOf("pullPolicy", &["Always", "IfNotPresent", "Never"]),
        ],
    ),
];

/// The sources of PersistentVolumes.
pub(crate) const OF_PERSISTENT_VOLUMES: [Source; 22] = [
    Source::new("hostPath", HOST_PATH),
    GCE_PERSISTENT_DISK,
    Source::new("awsElasticBlockStore", AWS_ELASTIC_BLOCK_STORE),
    Source::new(
        "glusterfs",
        &[
            Required("endpoints"),
            Required("path"),
            Any("endpointsNamespace", source::namespace),
        ],
    ),
    Source::new("flocker", &[Special(flocker)]),
    Source::new("nfs", NFS),
    Source::new("rbd", RBD),
    Source::new("quobyte", &[Special(quobyte)]),
    CEPHFS,
    Source::new("iscsi", PERSISTENT_ISCSI),
    Source::new(
        "cinder",
        &[
            Required("volumeID"),
            Required("secretRef.name"),
            Required("secretRef.namespace"),
        ],
    ),
    Source::new("fc", &[Special(fibre_channel)]),
    Source {
        joins: true,
        ..Source::new("flexVolume", FLEX_VOLUME)
    },
    Source::new(
        "azureFile",
        &[
            Required("secretName"),
            Required("shareName"),
            Required("secretNamespace"),
        ],
    ),
    Source::new("vsphereVolume", &[Required("volumePath")]),
    Source::new("photonPersistentDisk", &[Required("pdID")]),
    Source::new("portworxVolume", &[Required("volumeID")]),
    Source::new("azureDisk", &[Special(azure_disk)]),
    Source::new("scaleIO", SCALE_IO),
    Source::new("local", &[Required("path"), Text("path", no_parents)]),
    Source::new(
        "storageos",
        &[
            Required("volumeName"),
            Text("volumeName", validate_name::dns1123_label),
            Text("volumeNamespace", validate_name::dns1123_label),
            Required("secretRef.name"),
            Required("secretRef.namespace"),
        ],
    ),
    Source::new("csi", &[Special(persistent_csi)]),
];

/// The rules for a file from a Secret or ConfigMap entry.
pub(crate) const KEY_TO_PATH: &[Rule] = &[
    Required("key"),
    Required("path"),
    Text("path", local_path),
    Rule::mode("mode"),
];

const HOST_PATH: &[Rule] = &[Special(host_path)];
const NFS: &[Rule] = &[
    Required("server"),
    Required("path"),
    Any("path", absolute_path),
];
const RBD: &[Rule] = &[Required("monitors"), Required("image")];
const GLUSTERFS: &[Rule] = &[Required("endpoints"), Required("path")];
const SCALE_IO: &[Rule] = &[
    Required("gateway"),
    Required("system"),
    Required("volumeName"),
];
const FLEX_VOLUME: &[Rule] = &[Required("driver"), Special(flex_options)];
/// Upstream also accepts 0, although the error text does not mention it.
const PARTITION: Rule = Range("partition", 0, 255, "must be between 1 and 255, inclusive");
const AWS_ELASTIC_BLOCK_STORE: &[Rule] = &[Required("volumeID"), PARTITION];
const GCE_PERSISTENT_DISK: Source = Source {
    inside: "persistentDisk",
    ..Source::new("gcePersistentDisk", &[Required("pdName"), PARTITION])
};
const CEPHFS: Source = Source {
    surplus: "cephFS",
    ..Source::new("cephfs", &[Required("monitors")])
};

const ISCSI: &[Rule] = &[
    Required("targetPortal"),
    Required("iqn"),
    Text("iqn", iscsi_name_of_kinds),
    LUN,
    Special(iscsi_secret),
    Special(|errors, source, path| initiator(errors, source, path, iscsi_name_of_kinds)),
];
const PERSISTENT_ISCSI: &[Rule] = &[
    Required("targetPortal"),
    Required("iqn"),
    Text("iqn", iscsi_name),
    LUN,
    Special(iscsi_secret),
    Required("secretRef.name"),
    Special(|errors, source, path| initiator(errors, source, path, iscsi_name)),
];
fn empty_dir(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let directory = typed::<EmptyDirVolumeSource>(source);
    let limit = directory.and_then(|it| it.size_limit.as_ref());
    if limit.is_some_and(|it| it.signum() < 0) {
        let detail = "SizeLimit field must be a valid resource quantity";
        errors.push(FieldError::forbidden(&path.child("sizeLimit"), detail));
    }
}

fn host_path(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    const TYPES: [&str; 8] = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    let Some(directory) = typed::<HostPathVolumeSource>(source) else {
        return;
    };
    let at = path.child("path");
    if !rules::required(errors, &directory.path, &at) {
        return;
    }
    rules::text(errors, &directory.path, &at, no_parents);
    if let Some(kind) = &directory.type_ {
        rules::one_of(errors, kind, &TYPES, &path.child("type"));
    }
}

fn csi(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let Some(csi) = typed::<CSIVolumeSource>(source) else {
        return;
    };
    rules::csi_driver_name(errors, &csi.driver, &path.child("driver"));
    source::apply(errors, csi, &[Required("nodePublishSecretRef.name")], path);
    let secret = csi.node_publish_secret_ref.as_ref();
    if let Some(secret) = secret.filter(|it| !it.name.is_empty()) {
        // Upstream's path omits the reference.
        let rule = validate_name::dns1123_subdomain;
        rules::text(errors, &secret.name, &path.child("name"), rule);
    }
}

fn persistent_csi(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    const SECRET: &[Rule] = &[
        Required("name"),
        Text("name", validate_name::dns1123_subdomain),
        Required("namespace"),
        Text("namespace", validate_name::dns1123_label),
    ];
    let driver = source::text(source, "driver").unwrap_or_default();
    rules::csi_driver_name(errors, driver, &path.child("driver"));
    source::apply(errors, source, &[Required("volumeHandle")], path);
    for name in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        if let Some(View::OptMessage(Some(secret))) = source::field(source, name) {
            source::apply(errors, secret, SECRET, &path.child(name));
        }
    }
}

fn ephemeral(errors: &mut Errors, source: &dyn Message, path: &FieldPath) {
    let path = path.child("volumeClaimTemplate");
    let ephemeral = typed::<EphemeralVolumeSource>(source);
    match ephemeral.and_then(|it| it.volume_claim_template.as_ref()) {
        Some(template) => {
            claim_spec::check_template(errors, template, &path);
        }
        None => errors.push(FieldError::required(&path, "")),
    }
}
