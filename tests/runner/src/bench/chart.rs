//! `Chart`: horizontal bars as SVG, readable in light and dark colour schemes.

use std::fmt::Write as _;

const WIDTH: f64 = 800.0;
const LABEL: f64 = 290.0;
const VALUE: f64 = 90.0;
const BAR: f64 = 18.0;
const GAP: f64 = 8.0;
const TOP: f64 = 34.0;

/// Bars of one unit.
pub(super) struct Chart {
    /// The file name without its extension.
    pub(super) file: &'static str,
    /// The title: what is measured, the unit, and which direction is better.
    pub(super) title: String,
    bars: Vec<Bar>,
}

struct Bar {
    label: String,
    value: f64,
    text: String,
}

impl Chart {
    pub(super) fn new(file: &'static str, title: impl Into<String>) -> Self {
        Self {
            file,
            title: title.into(),
            bars: Vec::new(),
        }
    }

    /// Adds a bar, if there is a figure; Kubist's bars have names that begin with `Kubist`.
    pub(super) fn bar(&mut self, label: impl Into<String>, value: f64, text: String) {
        if value.is_finite() {
            let label = label.into();
            self.bars.push(Bar { label, value, text });
        }
    }

    pub(super) fn svg(&self) -> String {
        let most = self.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let mut bars = String::new();
        let mut y = TOP;
        for bar in &self.bars {
            let length = ((WIDTH - LABEL - VALUE) * bar.value / most).max(1.0);
            let class = if bar.label.starts_with("Kubist") {
                "ours"
            } else {
                "theirs"
            };
            let (baseline, label) = (y + BAR - 5.0, escape(&bar.label));
            let (start, end) = (LABEL - 8.0, LABEL + length + 6.0);
            let text = escape(&bar.text);
            // Writing to a String cannot fail.
            let _ok = write!(
                bars,
                "<text x=\"{start}\" y=\"{baseline}\" text-anchor=\"end\">{label}</text>\n\
                 <rect class=\"{class}\" x=\"{LABEL}\" y=\"{y}\" width=\"{length:.1}\" \
                 height=\"{BAR}\" rx=\"2\"/>\n\
                 <text x=\"{end:.1}\" y=\"{baseline}\">{text}</text>\n",
            );
            y += BAR + GAP;
        }
        let title = escape(&self.title);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" \
             width=\"{WIDTH}\" height=\"{y}\" role=\"img\" aria-label=\"{title}\">\n\
             <style>\n{STYLE}</style>\n\
             <text class=\"title\" x=\"8\" y=\"20\">{title}</text>\n{bars}</svg>\n"
        )
    }
}

/// Text follows the reader's colour scheme; the bars are visible in both.
const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #424a53; }
.title { font-weight: 600; }
.ours { fill: #2f81f7; }
.theirs { fill: #8b949e; }
@media (prefers-color-scheme: dark) { text { fill: #c9d1d9; } }
";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_fills_the_width_and_ours_have_their_own_colour() {
        let mut chart = Chart::new("sync", "CPU & wall, s");
        chart.bar("Kubist", 1.0, "1 s".to_owned());
        chart.bar("client-go", 4.0, "4 s".to_owned());
        chart.bar("absent", f64::NAN, String::new());
        let svg = chart.svg();
        assert_eq!(svg.matches("<rect").count(), 2);
        assert!(
            svg.contains("class=\"ours\" x=\"290\" y=\"34\" width=\"105.0\""),
            "{svg}"
        );
        assert!(
            svg.contains("class=\"theirs\" x=\"290\" y=\"60\" width=\"420.0\""),
            "{svg}"
        );
        assert!(svg.contains("CPU &amp; wall"), "{svg}");
    }
}
