//! `dbagent ask` from its start to the first request to a model.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Figure, Floor, median};

const TIMES: usize = 9;

/// The binary, built beside this program.
fn binary() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    // …/release/examples/bench → …/release/dbagent
    let path = own.parent()?.parent()?.join(format!("dbagent{}", std::env::consts::EXE_SUFFIX));
    path.exists().then_some(path)
}

pub(crate) fn run() -> Vec<Figure> {
    let Some(binary) = binary() else {
        println!("SKIPPED start: build it first: cargo build --release -p dbagent-cli");
        return Vec::new();
    };
    let chinook = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/chinook/chinook.sqlite");
    let mut millis = Vec::new();
    for _ in 0..TIMES {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let started = Instant::now();
        let mut child = Command::new(&binary)
            .args(["ask", &format!("sqlite:///{}", chinook.display()), "How many artists are there?"])
            .args(["--model", &format!("http://{address}/v1#any")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The first connection is the first request: nothing else is asked of the server before.
        let accepted = server.accept().unwrap();
        millis.push(started.elapsed().as_secs_f64() * 1e3);
        drop(accepted);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    vec![Figure {
        what: "dbagent ask, from start to the first model request".to_owned(),
        value: median(millis),
        unit: "ms",
        floor: Floor::Under(100.0),
    }]
}
