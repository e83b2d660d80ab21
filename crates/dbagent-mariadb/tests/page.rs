//! The page about the dialect says what the code can do.

/// The table of capabilities, as the page must have it.
fn table() -> String {
    let can = dbagent_mariadb::DIALECT.can();
    let mut table = String::from("| capability | here |\n|---|---|\n");
    for (label, support) in can.table() {
        table.push_str(&format!("| {label} | {support} |\n"));
    }
    table.push_str(&format!("| reads at once | {} |\n", can.max_concurrent_reads));
    table
}

#[test]
fn the_page_has_the_table_of_the_code() {
    let page = include_str!("../../../docs/dialects/mariadb.md");
    assert!(page.ends_with(&format!("## Capabilities\n\n{}", table())), "it must end with:\n{}", table());
}

/// Every key of a credential and every kind of it is on the page.
#[test]
fn the_page_names_every_credential() {
    let page = include_str!("../../../docs/dialects/mariadb.md");
    for key in dbagent_mariadb::DIALECT.known_credentials() {
        for name in std::iter::once(&key.name).chain(key.aliases) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}
