//! `cargo xtask interop`: tests the server with programs of other projects.
//!
//! These are kubectl in several versions, Go programs on client-go, and a program on kube. A failed
//! check does not stop the run; the run fails at its end.

mod applied;
mod both_ways;
mod cases;
mod cel;
pub(crate) mod cluster;
mod codegen;
mod conformance;
mod controller_runtime;
mod controllers;
mod definitions;
mod differential;
mod e2e;
mod e2e_apps;
mod e2e_webhooks;
mod envtest;
mod etcd;
mod followers;
mod go_informer;
mod go_tests;
mod guide;
mod helm;
mod image;
mod kube_rs;
mod kubebuilder;
mod kubectl;
mod kubelets;
mod manifests;
mod merge;
mod new_project;
mod operators;
mod process_node;
mod rbac;
mod report;
mod reset_fields;
mod sample_controller;
mod schema;
mod schemas;
pub(crate) mod server;
mod steps;
mod store;
mod subject;
mod tables;
mod validation;
mod webhook_servers;

use crate::upstream::{Programs, Store};
use clap::Args;
pub(crate) use e2e_webhooks::{Within, run_within};
use kubectl::Kubectl;
use kubist_test_support::process::{Outcome, root};
use report::Report;
use server::Server;
use std::path::{Path, PathBuf};

/// Options of `cargo xtask interop`.
#[derive(Args)]
pub(crate) struct Options {
    /// Fail when kubectl, Go or etcd is missing
    #[arg(long)]
    required: bool,
    /// Run all steps with every kubectl, more seeds, and a kube-apiserver for comparison
    #[arg(long)]
    long: bool,
    /// Seeds for each type that is compared with client-go's [default: 100, with `--long` 1,000]
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Mutated objects of each kind that are validated by both [default: 25, with `--long` 500]
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// The seed of the mutated objects [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Use this binary instead of building one
    #[arg(long, value_name = "PATH")]
    kubist: Option<PathBuf>,
    /// Only the parts whose name contains this (`kubectl 1.33`, `client-go`, `differential`,
    /// `merge`, `cel`, `rbac`, `schemas`, `validation`, `etcd`, `followers`, `kube-rs`, `guide`,
    /// `new`, and with `--long` `reset-fields`, `controller-runtime`, `controllers`, `e2e`,
    /// `e2e-apps`, `e2e-webhooks`, `envtest`, `helm`, `image`, `apply`, `sample-controller`,
    /// `store`, `kubebuilder`, `definitions`, `codegen`, `new-roles`, `webhook-servers`)
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// With `--long`: also run the programs of other projects on a kube-apiserver, and write the
    /// counts to docs/CONFORMANCE.md
    #[arg(long, requires = "long")]
    docs: bool,
    /// In the part `definitions`: only some definitions of each project, with fewer mutations; in
    /// `codegen`: the same, with fewer objects
    #[arg(long, requires = "long")]
    quick: bool,
}

impl Options {
    /// Returns the option, or the default for a run of this length.
    fn number(&self, asked: Option<u64>, usual: u64, long: u64) -> u64 {
        asked.unwrap_or(if self.long { long } else { usual })
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| part.contains(only))
    }
}

/// Runs the parts that compare libraries; reports whether the options want only one of them.
fn libraries(options: &Options, go: bool, scratch: &Path, report: &mut Report) -> Outcome<bool> {
    if options.wants(differential::PART) {
        let seeds = options.number(options.seeds, differential::SEEDS, differential::SEEDS_LONG);
        report.part_if(go, differential::PART, |report| {
            differential::run(seeds, scratch, report)
        })?;
        if options.only.as_deref() == Some(differential::PART) {
            return Ok(true);
        }
    }
    if options.wants(merge::PART) {
        report.part_if(go, merge::PART, |report| {
            merge::run(options.long, scratch, report);
            Ok(())
        })?;
        if options.only.as_deref() == Some(merge::PART) {
            return Ok(true);
        }
    }
    if options.wants(schemas::PART) {
        report.part_if(go, schemas::PART, |report| {
            schemas::run(options.long, scratch, report);
            Ok(())
        })?;
        if options.only.as_deref() == Some(schemas::PART) {
            return Ok(true);
        }
    }
    if options.wants(cel::PART) {
        report.part_if(go, cel::PART, |report| {
            cel::run(options.long, scratch, report);
            Ok(())
        })?;
        if options.only.as_deref() == Some(cel::PART) {
            return Ok(true);
        }
    }
    if options.wants(rbac::PART) {
        report.part_if(go, rbac::PART, |report| {
            rbac::run(options.long, scratch, report);
            Ok(())
        })?;
        if options.only.as_deref() == Some(rbac::PART) {
            return Ok(true);
        }
    }
    if options.wants(validation::PART) {
        let count = options.number(options.count, validation::COUNT, validation::COUNT_LONG);
        let seed = options.seed.unwrap_or(validation::SEED);
        report.part_if(go, validation::PART, |report| {
            validation::run(count, seed, scratch, report)
        })?;
        if options.only.as_deref() == Some(validation::PART) {
            return Ok(true);
        }
    }
    reset_fields::part(options, go, scratch, report)
}

/// Runs all parts whose programs are installed.
pub(crate) fn run(options: &Options) -> Outcome {
    // This comes before the build of the server, which takes minutes.
    let (kubectls, missing) = kubectl::find(options.required)?;
    let go = go_informer::is_here(options.required)?;
    let scratch = root().join("target/interop");
    std::fs::create_dir_all(&scratch)?;
    let mut report = Report::default();
    if libraries(options, go, &scratch, &mut report)? {
        return report.end(); // They need no server.
    }
    if options.wants(etcd::PART) {
        match (etcd::packaged(options.required)?, go) {
            (Some(packaged), true) => {
                report.part(etcd::PART, |report| {
                    etcd::run(options.long, &packaged, &scratch, report)
                })?;
            }
            _ => report.missing(etcd::PART),
        }
        if options.only.as_deref() == Some(etcd::PART) {
            return report.end(); // Its tests start their own.
        }
    }
    let binary = server::binary(options.kubist.as_deref())?;
    let has_kubectl = !kubectls.is_empty();
    for kubectl in kubectls {
        let part = format!("kubectl {}", kubectl.version());
        if options.wants(&part) {
            report.part(&part, |report| {
                run_kubectl(&kubectl, options.long, &binary, &scratch, report)
            })?;
        }
    }
    for part in missing.iter().filter(|it| options.wants(it)) {
        report.missing(part);
    }
    let parts: [(&str, GoPart); 2] = [
        ("client-go", go_informer::run),
        (followers::PART, followers::run),
    ];
    for (part, run) in parts {
        if options.wants(part) {
            report.part_if(go, part, |report| {
                run(options.long, &binary, &scratch, report)
            })?;
        }
    }
    if options.wants(kube_rs::PART) {
        report.part(kube_rs::PART, |report| {
            kube_rs::run(&binary, &scratch, report)
        })?;
    }
    if options.wants(guide::PART) {
        report.part_if(has_kubectl, guide::PART, |report| {
            guide::run(&binary, &scratch, report)
        })?;
    }
    if options.wants(new_project::PART) {
        report.part(new_project::PART, |report| {
            new_project::run(&binary, &scratch, report);
            Ok(())
        })?;
    }
    if options.long {
        outside(options, go, &binary, &scratch, &mut report)?;
    }
    report.end()
}

/// Runs programs of other projects, on a kube-apiserver, too, if the results are documented.
fn outside(
    options: &Options,
    go: bool,
    binary: &Path,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    if options.wants(image::PART) {
        report.part(image::PART, |report| {
            image::run(scratch, report);
            Ok(())
        })?;
    }
    let parts: Vec<&str> = conformance::parts()
        .filter(|it| options.wants(it))
        .collect();
    let has_definitions = options.wants(definitions::PART);
    let etcd = scratch.join("etcd");
    let kube_apiserver = scratch.join("kube-apiserver");
    let programs = Programs {
        kube_apiserver: &kube_apiserver,
        store: Store::Etcd(&etcd),
        advertise_address: None,
    };
    if go && (has_definitions || (options.docs && !parts.is_empty())) {
        etcd::build_programs(scratch)?;
    }
    let upstream = (options.docs && go).then_some(programs);
    for part in parts {
        report.part_if(go, part, |report| {
            conformance::run(part, binary, upstream, scratch, report)
        })?;
    }
    if options.wants(envtest::PART) {
        report.part_if(go, envtest::PART, |report| {
            if options.docs {
                etcd::build_programs(scratch)?;
            }
            envtest::run(binary, upstream, scratch, report)
        })?;
    }
    if options.wants(codegen::PART) {
        report.part_if(go, codegen::PART, |report| {
            codegen::run(options, binary, scratch, report)
        })?;
    }
    if has_definitions {
        report.part_if(go, definitions::PART, |report| {
            definitions::run(options, binary, programs, scratch, report)
        })?;
    }
    if options.wants(new_project::ROLES) {
        report.part_if(go, new_project::ROLES, |report| {
            etcd::build_programs(scratch)?;
            new_project::run_with_roles(binary, programs, scratch, report)
        })?;
    }
    Ok(())
}

/// A part that needs Go and a server.
type GoPart = fn(bool, &Path, &Path, &mut Report) -> Outcome;

/// Runs one kubectl against a server of its own.
fn run_kubectl(
    kubectl: &Kubectl,
    long: bool,
    binary: &Path,
    scratch: &Path,
    report: &mut Report,
) -> Outcome {
    let folder = scratch.join(format!("kubectl-{}", kubectl.version()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let server = Server::start(binary, &folder.join("kubeconfig"), &["--simulate"])?;
    let shell = kubectl.shell(&server, &folder);
    let full = kubectl.full() || long;
    for (name, step) in steps::all(full) {
        report.step(name, || step(&shell));
    }
    report.step("SIGTERM ends the server", || server.stop());
    Ok(())
}
