//! `cargo xtask bench`: speed and memory as ratios and medians of one run.
//!
//! Each figure stands beside its floor. Pairs are interleaved, so that a slow moment of the machine hits
//! both sides. With `--check` a figure under its floor makes the exit code 1.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]

#[cfg(feature = "duckdb")]
mod duckdb;
mod judging;
mod memory;
mod servers;
mod start;
mod streaming;
mod turn;

use std::process::ExitCode;

/// One line of the report.
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    pub(crate) floor: Floor,
}

/// What is asked of a figure.
#[derive(Clone, Copy)]
pub(crate) enum Floor {
    /// At least this.
    AtLeast(f64),
    /// Less than this.
    Under(f64),
}

impl Figure {
    fn holds(&self) -> bool {
        match self.floor {
            Floor::AtLeast(floor) => self.value >= floor,
            Floor::Under(floor) => self.value < floor,
        }
    }
}

/// The middle value.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = args.iter().any(|a| a == "--check");
    let only: Vec<&str> = args.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut figures = Vec::new();
    if wanted("streaming") {
        figures.extend(runtime.block_on(streaming::run()));
    }
    if wanted("judging") {
        figures.extend(runtime.block_on(judging::run()));
    }
    if wanted("turn") {
        figures.extend(runtime.block_on(turn::run()));
    }
    if wanted("start") {
        figures.extend(start::run());
    }
    figures.extend(runtime.block_on(servers::run(&wanted)));
    println!("\n{:<62} {:>12} {:>16}", "what", "measured", "asked");
    let mut failed = 0;
    for f in &figures {
        let asked = match f.floor {
            Floor::AtLeast(x) => format!("at least {x}"),
            Floor::Under(x) => format!("under {x}"),
        };
        let verdict = if f.holds() { "" } else { "  NOT REACHED" };
        println!("{:<62} {:>8.2} {:<3} {:>16}{verdict}", f.what, f.value, f.unit, asked);
        failed += usize::from(!f.holds());
    }
    if figures.is_empty() {
        println!(
            "nothing of that name; known: streaming, judging, turn, start, postgres, mysql, mariadb, duckdb"
        );
        return ExitCode::from(2);
    }
    if check && failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
