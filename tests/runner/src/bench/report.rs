//! `Report`: the results of a benchmark, printed as tables or JSON, or written to
//! `docs/PERFORMANCE.md` with charts.

use super::chart::Chart;
use super::check::Comparison;
use super::figure::{self, Figure};
use super::table::Table;
use super::verdict::{self, Verdict};
use super::{document, machine};
use clap::Args;
use kubist_test_support::process::{Outcome, root};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

const DOCUMENT: &str = "docs/PERFORMANCE.md";
const CHARTS: &str = "docs/charts";

/// The form of the output.
#[derive(Args)]
pub(super) struct Output {
    /// Print one JSON object instead of tables
    #[arg(long, global = true)]
    json: bool,
    /// Also write the tables into docs/PERFORMANCE.md, and the charts beside it
    #[arg(long, global = true)]
    docs: bool,
    /// Compare with this stored output of --json, of the same machine and sizes, and name what
    /// became worse by more than 10 % and its spread; the exit code is then 3
    #[arg(long, global = true, value_name = "FILE")]
    check: Option<PathBuf>,
}

impl Output {
    /// Reads the stored run, if there is one to compare with.
    pub(super) fn stored(&self) -> Outcome<Option<Value>> {
        let Some(path) = &self.check else {
            return Ok(None);
        };
        let named = |error: &dyn std::error::Error| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        Ok(Some(
            serde_json::from_str(&text).map_err(|error| named(&error))?,
        ))
    }
}

/// What `--check` found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing became worse, or nothing was compared.
    Fine,
    /// Something became worse.
    Worse,
}

/// The results of a benchmark.
pub(super) struct Report {
    /// Its name, which is also that of its markers in the document.
    pub(super) name: &'static str,
    /// A line that describes the benchmark.
    pub(super) what: String,
    pub(super) tables: Vec<Table>,
    /// Those of what was not measured are not shown.
    pub(super) verdicts: Vec<Verdict>,
    pub(super) charts: Vec<Chart>,
    /// What was measured: runs of other sizes are not comparable.
    pub(super) sizes: Value,
    /// Our figures, for comparison with another run.
    pub(super) ours: Vec<Figure>,
    /// All figures.
    pub(super) json: Value,
}

impl Report {
    fn markdown(&self, charts: bool) -> String {
        let mut parts = vec![format!("{}\n", self.what)];
        parts.extend(self.tables.iter().map(Table::to_string));
        let known: Vec<&Verdict> = self.verdicts().collect();
        if !known.is_empty() {
            parts.push(verdict::table(&known).to_string());
        }
        if charts {
            let image = |it: &Chart| format!("![{}](charts/{}.svg)\n", it.title, it.file);
            parts.extend(self.charts.iter().map(image));
        }
        parts.join("\n")
    }

    fn to_json(&self) -> Value {
        let verdicts: Vec<Value> = self.verdicts().map(Verdict::json).collect();
        json!({
            "what": self.what,
            "sizes": self.sizes,
            "figures": self.json,
            "verdicts": verdicts,
            "ours": figure::json(&self.ours),
        })
    }

    fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|it| it.is_known())
    }
}

/// Prints the reports, writes them to the document on request, and compares them with a stored run.
pub(super) fn emit(
    reports: &[Report],
    output: &Output,
    stored: Option<&Value>,
) -> Outcome<Finding> {
    let mut all = Map::from_iter([("machine".to_owned(), machine::describe())]);
    all.extend(reports.iter().map(|it| (it.name.to_owned(), it.to_json())));
    let all = Value::Object(all);
    if output.json {
        println!("{all}");
    } else {
        println!("{}\n", machine::line());
        for report in reports {
            println!("## {}\n\n{}", report.name, report.markdown(false));
        }
    }
    if output.docs {
        write(reports)?;
    }
    let Some(stored) = stored else {
        return Ok(Finding::Fine);
    };
    let comparison = Comparison::of(stored, &all);
    // The standard output of --json is one object.
    if output.json {
        eprintln!("{comparison}");
    } else {
        println!("## check\n\n{comparison}");
    }
    Ok(if comparison.is_worse() {
        Finding::Worse
    } else {
        Finding::Fine
    })
}

fn write(reports: &[Report]) -> Outcome {
    let path = root().join(DOCUMENT);
    let mut text = std::fs::read_to_string(&path)?;
    let charts = root().join(CHARTS);
    std::fs::create_dir_all(&charts)?;
    for report in reports {
        let part = format!("{}\n\n{}", machine::line(), report.markdown(true));
        text = document::replace(&text, report.name, &part)?;
        for chart in &report.charts {
            std::fs::write(charts.join(format!("{}.svg", chart.file)), chart.svg())?;
        }
    }
    Ok(std::fs::write(&path, text)?)
}
