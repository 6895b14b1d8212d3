//! Checks the published crates for other platforms, and with the oldest supported Rust.
//!
//! A check compiles no code for the platform, so it needs no linker. It does need `ring`'s build
//! script to succeed: `true` stands in for the C compiler and the archiver, whose output nothing
//! would use. Nothing is run on these platforms.

use crate::metadata;
use crate::process::{self, Outcome};
use std::process::Command;

/// The platforms that are checked where `rustup` has their standard library.
const PLATFORMS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Checks the published crates for each platform that is installed, and names those that are not.
pub(crate) fn check() -> Outcome {
    let installed = process::output("rustup", &["target", "list", "--installed"])?;
    for platform in PLATFORMS {
        if !installed.lines().any(|it| it == platform) {
            eprintln!("skipped: {platform}; `rustup target add {platform}` installs it");
            continue;
        }
        let suffix = platform.replace('-', "_");
        let mut cargo = Command::new("cargo");
        cargo
            .args(["check", "--target", platform])
            .args(["--target-dir", "target/platforms"])
            // The allocator is C, for which there may be no compiler; all features but the
            // command's are checked.
            .args(["--no-default-features", "--features", "kubist/server"])
            .env(format!("CC_{suffix}"), "true")
            .env(format!("AR_{suffix}"), "true");
        select_published(&mut cargo)?;
        process::run_with(&mut cargo)?;
    }
    Ok(())
}

/// Checks the published crates with the Rust version of their manifests.
pub(crate) fn check_rust_version() -> Outcome {
    let version = env!("CARGO_PKG_RUST_VERSION");
    let mut cargo = Command::new("rustup");
    cargo.args(["run", "--install", version, "cargo", "check"]);
    cargo.args(["--target-dir", "target/rust-version"]);
    select_published(&mut cargo)?;
    process::run_with(&mut cargo)
}

/// Selects all packages that are published.
fn select_published(cargo: &mut Command) -> Outcome {
    let packages = metadata::read()?.packages;
    for package in packages.iter().filter(|it| it.is_published()) {
        cargo.args(["--package", &package.name]);
    }
    Ok(())
}
