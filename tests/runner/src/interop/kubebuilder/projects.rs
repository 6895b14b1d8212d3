//! The commands that write kubebuilder's sample projects: those of its `test/testdata/generate.sh`
//! that write code.

/// The types of another project.
macro_rules! external {
    ($words:literal) => {
        concat!(
            $words,
            " --external-api-path=github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 \
             --external-api-domain=io \
             --external-api-module=github.com/cert-manager/cert-manager@v1.18.2"
        )
    };
}

/// A project.
pub(super) struct Project {
    pub(super) name: &'static str,
    /// The arguments of kubebuilder, without `create` before `api` and `webhook`.
    pub(super) commands: &'static [&'static str],
}

pub(super) const PROJECTS: [Project; 3] = [
    Project {
        name: "project-v4",
        commands: &[
            "api --group crew --version v1 --kind Captain --controller=true --resource=true",
            "webhook --group crew --version v1 --kind Captain --defaulting \
             --programmatic-validation",
            "api --group crew --version v1 --kind FirstMate --controller=true --resource=true",
            "api --group crew --version v2 --kind FirstMate --controller=false --resource=true",
            "webhook --group crew --version v1 --kind FirstMate --conversion --spoke v2",
            "api --group crew --version v1 --kind Sailor --controller=true --resource=true",
            "webhook --group crew --version v1 --kind Sailor --defaulting \
             --programmatic-validation --defaulting-path=/custom-mutate-sailor \
             --validation-path=/custom-validate-sailor",
            "api --group crew --version v1 --kind Admiral --plural=admirales --controller=true \
             --resource=true --namespaced=false",
            "webhook --group crew --version v1 --kind Admiral --plural=admirales --defaulting \
             --programmatic-validation --validation-path=/custom-validate-admiral",
            external!(
                "api --group cert-manager --version v1 --kind Certificate --controller=true \
                 --resource=false"
            ),
            external!("webhook --group cert-manager --version v1 --kind Issuer --defaulting"),
            "webhook --group core --version v1 --kind Pod --defaulting",
            "webhook --group apps --version v1 --kind Deployment --defaulting \
             --programmatic-validation",
        ],
    },
    Project {
        name: "project-v4-multigroup",
        commands: &[
            "edit --multigroup=true",
            "api --group crew --version v1 --kind Captain --controller=true --resource=true",
            "webhook --group crew --version v1 --kind Captain --defaulting \
             --programmatic-validation",
            "api --group ship --version v1beta1 --kind Frigate --controller=true --resource=true",
            "api --group ship --version v1 --kind Destroyer --controller=true --resource=true \
             --namespaced=false",
            "webhook --group ship --version v1 --kind Destroyer --defaulting",
            "api --group ship --version v2alpha1 --kind Cruiser --controller=true \
             --resource=true --namespaced=false",
            "webhook --group ship --version v2alpha1 --kind Cruiser --programmatic-validation",
            "api --group sea-creatures --version v1beta1 --kind Kraken --controller=true \
             --resource=true",
            "api --group sea-creatures --version v1beta2 --kind Leviathan --controller=true \
             --resource=true",
            "api --group foo.policy --version v1 --kind HealthCheckPolicy --controller=true \
             --resource=true",
            "api --group apps --version v1 --kind Deployment --controller=true --resource=false",
            "api --group foo --version v1 --kind Bar --controller=true --resource=true",
            "api --group fiz --version v1 --kind Bar --controller=true --resource=true",
            external!(
                "api --group cert-manager --version v1 --kind Certificate --controller=true \
                 --resource=false"
            ),
            external!("webhook --group cert-manager --version v1 --kind Issuer --defaulting"),
            "webhook --group core --version v1 --kind Pod --programmatic-validation",
            "webhook --group apps --version v1 --kind Deployment --defaulting \
             --programmatic-validation",
            MEMCACHED,
            BUSYBOX,
            MEMCACHED_WEBHOOK,
            WORDPRESS[0],
            WORDPRESS[1],
            WORDPRESS[2],
        ],
    },
    Project {
        name: "project-v4-with-plugins",
        commands: &[
            MEMCACHED,
            BUSYBOX,
            MEMCACHED_WEBHOOK,
            WORDPRESS[0],
            WORDPRESS[1],
            WORDPRESS[2],
        ],
    },
];

const MEMCACHED: &str = "api --group example.com --version v1alpha1 --kind Memcached \
    --image=memcached:1.6.26-alpine3.19 \
    --image-container-command=memcached,--memory-limit=64,-o,modern,-v \
    --image-container-port=11211 --run-as-user=1001 --plugins=deploy-image/v1-alpha";

const BUSYBOX: &str = "api --group example.com --version v1alpha1 --kind Busybox \
    --image=busybox:1.36.1 --plugins=deploy-image/v1-alpha";

const MEMCACHED_WEBHOOK: &str =
    "webhook --group example.com --version v1alpha1 --kind Memcached --programmatic-validation";

const WORDPRESS: [&str; 3] = [
    "api --group example.com --version v1 --kind Wordpress --controller=true --resource=true",
    "api --group example.com --version v2 --kind Wordpress --controller=false --resource=true",
    "webhook --group example.com --version v1 --kind Wordpress --conversion --spoke v2",
];
