//! Test suites of operators that start their servers with envtest: of KEDA's webhooks, and of
//! controllers of Karpenter and Cluster API. `tests/interop/NAME` has the version of each.
//!
//! The modules have the definitions that the suites install.

use super::cluster::STRIPPED;
use super::go_tests::{self, GoSuite};
use kubist_test_support::process::{self, Outcome, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An operator.
pub(super) struct Operator {
    /// The folder of its version below `tests/interop`, and of its programs.
    pub(super) name: &'static str,
    module: &'static str,
    /// The packages that have suites, below the module.
    packages: &'static [&'static str],
}

pub(super) const OPERATORS: [Operator; 3] = [
    Operator {
        name: "keda",
        module: "github.com/kedacore/keda/v2",
        packages: &["apis/eventing/v1alpha1", "apis/keda/v1alpha1"],
    },
    Operator {
        name: "karpenter",
        module: "sigs.k8s.io/karpenter/pkg",
        packages: &[
            "apis/v1",
            "apis/v1alpha1",
            "controllers/metrics/pod",
            "controllers/node/health",
            "controllers/node/termination/terminator",
            "controllers/nodeclaim/disruption",
            "controllers/nodeclaim/expiration",
            "controllers/nodeclaim/garbagecollection",
            "controllers/nodeclaim/podevents",
            "controllers/nodepool/counter",
            "controllers/nodepool/hash",
            "controllers/nodepool/readiness",
            "controllers/nodepool/registrationhealth",
            "controllers/nodepool/validation",
            "controllers/provisioning",
            "controllers/static/deprovisioning",
            "controllers/static/provisioning",
            "state/cost",
            "utils/pdb",
        ],
    },
    Operator {
        name: "cluster-api",
        module: "sigs.k8s.io/cluster-api",
        packages: &[
            "controllers/crdmigrator",
            "core/reconcilers/clusterclass",
            "core/reconcilers/machine",
            "core/reconcilers/topology/cluster/structuredmerge",
            "core/webhooks/admission/test",
            "internal/util/ssa/test",
            "util/controller",
            "util/patch/test",
        ],
    },
];

impl Operator {
    /// Builds the test programs.
    pub(super) fn build(&self, programs: &Path) -> Outcome {
        std::fs::create_dir_all(programs.join(self.name))?;
        for package in self.packages {
            let mut go = Command::new("go");
            go.args(["test", "-c", "-vet=off", STRIPPED, "-o"])
                .arg(self.program(programs, package))
                .arg(self.path(package));
            process::run_with(go.current_dir(self.folder()))?;
        }
        Ok(())
    }

    /// Returns the suites whose programs have been built into a folder.
    pub(super) fn suites(&self, programs: &Path) -> Outcome<Vec<GoSuite>> {
        let suite = |package: &&'static str| {
            Ok(GoSuite {
                name: (*package).to_owned(),
                program: self.program(programs, package),
                source: go_tests::source(&self.folder(), &self.path(package))?,
            })
        };
        self.packages.iter().map(suite).collect()
    }

    fn folder(&self) -> PathBuf {
        root().join("tests/interop").join(self.name)
    }

    fn path(&self, package: &str) -> String {
        format!("{}/{package}", self.module)
    }

    fn program(&self, programs: &Path, package: &str) -> PathBuf {
        programs.join(self.name).join(package.replace('/', "_"))
    }
}
