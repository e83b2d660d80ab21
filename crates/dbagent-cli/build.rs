//! Tells the program where to look for the library of DuckDB: beside itself, then where it was built against.
//!
//! Without the feature `duckdb` there is nothing to tell.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DUCKDB_LIB_DIR");
    if env::var_os("CARGO_FEATURE_DUCKDB").is_none() || env::var_os("CARGO_FEATURE_DUCKDB_BUNDLED").is_some()
    {
        return;
    }
    let beside = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "freebsd" | "netbsd" | "openbsd") => "$ORIGIN",
        Ok("macos") => "@executable_path",
        // Windows looks beside the program by itself.
        _ => return,
    };
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{beside}");
    if let Ok(folder) = env::var("DUCKDB_LIB_DIR") {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}
