//! The page about the dialect names what the code takes.

/// Every key of a credential and every kind of it is on the page.
#[test]
fn the_page_names_every_credential() {
    let page = include_str!("../../../docs/dialects/mysql.md");
    for key in dbagent_mysql::DIALECT.known_credentials() {
        for name in std::iter::once(&key.name).chain(key.aliases) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}
