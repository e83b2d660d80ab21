//! What each account may do, tried with a real client.

use sqlx::mysql::MySqlSslMode;
use sqlx::postgres::PgSslMode;

use crate::client::{Answer, mysql, mysql_url, mysql_verified, postgres, postgres_url, postgres_verified};
use crate::server;

#[test]
fn postgres_accounts() {
    on_postgres("postgres", "18");
}

#[test]
fn postgres_old_accounts() {
    on_postgres("postgres-old", "15");
}

#[test]
fn postgres_oldest_accounts() {
    on_postgres("postgres-oldest", "13");
}

#[test]
fn postgres_extensions_accounts() {
    on_postgres("postgres-extensions", "17");
}

#[test]
fn postgis_and_pgvector_are_there_with_their_data() {
    let Some(server) = server("postgres-extensions") else { return };
    let ask = |sql| postgres(&postgres_url(server.variable("URL").unwrap()), sql);
    for sql in ["CREATE EXTENSION vector", "CREATE EXTENSION postgis", "CREATE EXTENSION postgis_raster"] {
        assert_eq!(ask(sql), Answer::Nothing, "{sql}");
    }
    assert_eq!(ask("SELECT ('[3,4]'::vector <-> '[0,0]')::text"), Answer::text("5"));
    // Needs the data of PROJ, which the libraries look for where nothing is installed.
    assert_eq!(
        ask("SELECT ST_AsText(ST_Transform('SRID=4326;POINT(9 0)'::geometry, 32632), 0)"),
        Answer::text("POINT(500000 0)")
    );
    assert_eq!(ask("SELECT ST_Width(ST_MakeEmptyRaster(3, 2, 0, 0, 1))::text"), Answer::text("3"));
}

fn on_postgres(name: &str, version: &str) {
    let Some(server) = server(name) else { return };
    let of = |end: &str| server.variable(end).unwrap().to_owned();
    let ask = |end: &str, sql| postgres(&postgres_url(&of(end)), sql);

    let found = ask("URL", "SELECT current_setting('server_version')");
    assert!(matches!(&found, Answer::Text(text) if text.starts_with(version)), "{found:?}");
    assert_eq!(ask("URL", "SELECT count(*)::text FROM track"), Answer::text("3503"));
    assert_eq!(
        ask("URL", "SELECT name FROM track WHERE track_id = 3435"),
        Answer::text(r"Cavalleria Rusticana \ Act \ Intermezzo Sinfonico")
    );
    for sql in [
        "CREATE DATABASE scratch",
        "DROP DATABASE scratch",
        "CREATE ROLE somebody",
        "CREATE EXTENSION pg_trgm",
        "CREATE EXTENSION pgcrypto",
    ] {
        assert_eq!(ask("URL", sql), Answer::Nothing, "{sql}");
    }

    assert_eq!(ask("READER_URL", "SELECT count(*)::text FROM invoice_line"), Answer::text("2240"));
    for sql in [
        "INSERT INTO genre VALUES (99, 'x')",
        "CREATE TABLE t (x int)",
        "CREATE TEMP TABLE t (x int)",
        "DROP TABLE genre",
        "SELECT pg_read_file('PG_VERSION')",
    ] {
        let answer = ask("READER_URL", sql);
        assert!(answer == Answer::refused("42501"), "{sql}: {answer:?}");
    }
    assert_eq!(ask("NOBODY_URL", "SELECT current_user::text"), Answer::text("dbagent_nobody"));
    assert_eq!(ask("NOBODY_URL", "SELECT count(*)::text FROM track"), Answer::refused("42501"));
    assert_eq!(postgres(&postgres_url(&of("URL")).password("wrong"), "SELECT ''"), Answer::refused("28P01"));

    let is_encrypted = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    let without_tls = postgres_url(&of("TLS_URL")).ssl_mode(PgSslMode::Disable);
    assert_eq!(postgres(&without_tls, is_encrypted), Answer::refused("28000"));
    let verified = postgres_verified(&of("TLS_URL"), &of("CA"));
    assert_eq!(postgres(&verified, is_encrypted), Answer::text("TLSv1.3"));
    let by_name = verified.clone().host("localhost");
    assert_eq!(postgres(&by_name, is_encrypted), Answer::text("TLSv1.3"));
    // Nobody else vouches for it.
    let untrusted = postgres_url(&of("TLS_URL")).ssl_mode(PgSslMode::VerifyFull);
    assert!(matches!(postgres(&untrusted, is_encrypted), Answer::Failed(_)));

    let unknown = postgres_verified(&of("CERT_URL"), &of("CA"));
    assert_eq!(postgres(&unknown, "SELECT ''"), Answer::refused("28000"));
    let known = unknown.ssl_client_cert(of("CLIENT_CERT")).ssl_client_key(of("CLIENT_KEY"));
    assert_eq!(postgres(&known, "SELECT current_user::text"), Answer::text("dbagent_cert"));

    let by_socket = postgres_url(&of("URL")).socket(of("SOCKET"));
    assert_eq!(
        postgres(&by_socket, "SELECT coalesce(inet_client_addr()::text, 'socket')"),
        Answer::text("socket")
    );
}

#[test]
fn mysql_accounts() {
    on_mysql("mysql", "9.");
}

#[test]
fn mariadb_accounts() {
    on_mysql("mariadb", "11.");
}

fn on_mysql(name: &str, version: &str) {
    let Some(server) = server(name) else { return };
    let of = |end: &str| server.variable(end).unwrap().to_owned();
    let ask = |end: &str, sql| mysql(&mysql_url(&of(end)), sql);

    let found = ask("URL", "SELECT VERSION()");
    assert!(matches!(&found, Answer::Text(text) if text.starts_with(version)), "{found:?}");
    assert_eq!(ask("URL", "SELECT CAST(COUNT(*) AS CHAR) FROM Track"), Answer::text("3503"));
    assert_eq!(
        ask("URL", "SELECT Name FROM Track WHERE TrackId = 3435"),
        Answer::text(r"Cavalleria Rusticana \ Act \ Intermezzo Sinfonico")
    );
    assert_eq!(ask("URL", "SELECT Composer FROM Track WHERE TrackId = 3485"), Answer::text("Henryk Górecki"));
    for sql in [
        "CREATE DATABASE scratch",
        "DROP DATABASE scratch",
        "CREATE USER somebody",
        "GRANT SELECT ON chinook.* TO somebody",
    ] {
        assert_eq!(ask("URL", sql), Answer::Nothing, "{sql}");
    }

    assert_eq!(ask("READER_URL", "SELECT CAST(COUNT(*) AS CHAR) FROM InvoiceLine"), Answer::text("2240"));
    for (sql, code) in [
        ("INSERT INTO Genre VALUES (99, 'x')", "1142"),
        ("CREATE TABLE t (x int)", "1142"),
        ("CREATE TEMPORARY TABLE t (x int)", "1044"),
        ("DROP TABLE Genre", "1142"),
    ] {
        assert_eq!(ask("READER_URL", sql), Answer::refused(code), "{sql}");
    }
    let nobody = mysql_url(&of("NOBODY_URL"));
    assert_eq!(mysql(&nobody, "SELECT 'x'"), Answer::refused("1044"), "the database is not open to it");
    let in_no_database = mysql_url(&of("NOBODY_URL").replace("/chinook", ""));
    assert_eq!(
        mysql(&in_no_database, "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"),
        Answer::text("dbagent_nobody")
    );
    assert_eq!(
        mysql(&in_no_database, "SELECT CAST(COUNT(*) AS CHAR) FROM chinook.Track"),
        Answer::refused("1142")
    );
    assert_eq!(mysql(&mysql_url(&of("URL")).password("wrong"), "SELECT 'x'"), Answer::refused("1045"));

    let is_encrypted = "SELECT 'yes' FROM DUAL WHERE (SELECT @@tls_version) <> ''";
    let verified = mysql_verified(&of("TLS_URL"), &of("CA"));
    assert_eq!(mysql(&verified, is_encrypted), Answer::text("yes"));
    assert_eq!(mysql(&verified.clone().host("localhost"), is_encrypted), Answer::text("yes"));
    // MySQL takes this password in the open only once it has seen it over TLS; so this comes second.
    let without_tls = mysql_url(&of("TLS_URL")).ssl_mode(MySqlSslMode::Disabled);
    assert_eq!(mysql(&without_tls, is_encrypted), Answer::refused("1045"));
    // Nobody else vouches for it.
    let untrusted = mysql_url(&of("TLS_URL")).ssl_mode(MySqlSslMode::VerifyIdentity);
    assert!(matches!(mysql(&untrusted, is_encrypted), Answer::Failed(_)));

    let unknown = mysql_verified(&of("CERT_URL"), &of("CA"));
    assert_eq!(mysql(&unknown, "SELECT 'x'"), Answer::refused("1045"));
    let known = unknown.ssl_client_cert(of("CLIENT_CERT")).ssl_client_key(of("CLIENT_KEY"));
    assert_eq!(mysql(&known, "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"), Answer::text("dbagent_cert"));

    // This client does not speak TLS there, and takes the short way for a password that MySQL has seen.
    let by_socket = mysql_url(&of("URL")).ssl_mode(MySqlSslMode::Disabled).socket(of("SOCKET"));
    assert_eq!(mysql(&by_socket, "SELECT SUBSTRING_INDEX(USER(), '@', -1)"), Answer::text("localhost"));
}
