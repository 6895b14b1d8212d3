//! `Report`: the results of a benchmark, printed as tables or JSON, or written to
//! `docs/PERFORMANCE.md` with charts.

use super::chart::Chart;
use super::table::Table;
use super::target::{self, Target};
use super::{document, machine};
use clap::Args;
use kubist_test_support::process::{Outcome, root};
use serde_json::{Map, Value, json};

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
}

/// The results of a benchmark.
pub(super) struct Report {
    /// Its name, which is also that of its markers in the document.
    pub(super) name: &'static str,
    /// A line that describes the benchmark.
    pub(super) what: String,
    pub(super) tables: Vec<Table>,
    pub(super) targets: Vec<Target>,
    pub(super) charts: Vec<Chart>,
    /// All figures.
    pub(super) json: Value,
}

impl Report {
    fn markdown(&self, charts: bool) -> String {
        let mut parts = vec![format!("{}\n", self.what)];
        parts.extend(self.tables.iter().map(Table::to_string));
        if !self.targets.is_empty() {
            parts.push(target::table(&self.targets).to_string());
        }
        if charts {
            let image = |it: &Chart| format!("![{}](charts/{}.svg)\n", it.title, it.file);
            parts.extend(self.charts.iter().map(image));
        }
        parts.join("\n")
    }

    fn to_json(&self) -> Value {
        let targets: Vec<Value> = self.targets.iter().map(Target::json).collect();
        json!({"what": self.what, "figures": self.json, "targets": targets})
    }
}

/// Prints the reports, and writes them to the document on request.
pub(super) fn emit(reports: &[Report], output: &Output) -> Outcome {
    if output.json {
        let mut all = Map::from_iter([("machine".to_owned(), machine::describe())]);
        all.extend(reports.iter().map(|it| (it.name.to_owned(), it.to_json())));
        println!("{}", Value::Object(all));
    } else {
        println!("{}\n", machine::line());
        for report in reports {
            println!("## {}\n\n{}", report.name, report.markdown(false));
        }
    }
    if output.docs {
        write(reports)?;
    }
    Ok(())
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
