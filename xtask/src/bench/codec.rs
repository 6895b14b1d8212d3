//! `bench codec`: what decoding, ingesting and encoding a Pod costs, beside the usual crates.

use std::process::Command;

use clap::Args;
use serde_json::{Value, json};

use super::machine;
use crate::process::Outcome;

/// Options of `cargo xtask bench codec`.
#[derive(Args)]
pub(super) struct Options {
    /// How many different Pods
    #[arg(long, default_value_t = 5_000)]
    objects: u64,
    /// How often each case goes over all of them
    #[arg(long, default_value_t = 4)]
    rounds: u32,
    /// Print one JSON object in place of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Outcome {
    let program = super::build("codec")?;
    let output = Command::new(program)
        .args(["--objects", &options.objects.to_string()])
        .args(["--rounds", &options.rounds.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let cases: Vec<Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    if options.json {
        println!(
            "{}",
            json!({"machine": machine::describe(), "cases": cases})
        );
        return Ok(());
    }
    println!("machine: {}", machine::describe());
    println!(
        "{:<28}{:>10}{:>10}{:>12}{:>12}",
        "case", "us each", "MB/s", "bytes in", "bytes held"
    );
    for case in &cases {
        let number = |key: &str, digits: usize| match case[key].as_f64() {
            Some(value) => format!("{value:.digits$}"),
            None => "-".to_owned(),
        };
        println!(
            "{:<28}{:>10}{:>10}{:>12}{:>12}",
            case["case"].as_str().unwrap_or_default(),
            number("microseconds_each", 1),
            number("megabytes_per_second", 0),
            number("bytes_in_each", 0),
            number("bytes_held_each", 0),
        );
    }
    Ok(())
}
