//! How much memory this process uses, by what Linux says of it.

/// What is in memory now, in KiB.
pub(crate) fn resident() -> i64 {
    status("VmRSS")
}

/// The most that was in memory since [`reset_peak`], in KiB.
pub(crate) fn peak() -> i64 {
    status("VmHWM")
}

/// Sets the peak back to what is resident now, where the system can.
pub(crate) fn reset_peak() {
    // Without it the peak is that of the whole process: too high, never too low.
    _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A line of `/proc/self/status` in KiB; 0 where there is none.
fn status(key: &str) -> i64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|l| l.strip_prefix(key))
        .and_then(|l| l.trim_start_matches(':').split_whitespace().next().and_then(|n| n.parse().ok()))
        .unwrap_or_default()
}
