//! A dialect is short: everything here but blank lines and comments is counted.

#[test]
fn the_whole_dialect_has_at_most_200_lines_of_code() {
    let mut lines = 0;
    for file in std::fs::read_dir("src").unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        lines += text.lines().filter(|l| !l.trim().is_empty() && !l.trim().starts_with("//")).count();
    }
    assert!(lines > 100, "only {lines} lines were found");
    assert!(lines <= 200, "{lines} lines");
}
