//! Forms within a query that sqlparser does not know, put in words that do the same.

use dbagent_core::Settings;
use dbagent_core::guard::Finding;
use dbagent_sql::sqlparser::tokenizer::TokenWithSpan;

/// MySQL's forms.
pub(super) fn mysql(tokens: Vec<TokenWithSpan>, _: &Settings) -> Result<Vec<TokenWithSpan>, Finding> {
    Ok(tokens)
}

/// MariaDB's forms.
pub(super) fn mariadb(tokens: Vec<TokenWithSpan>, _: &Settings) -> Result<Vec<TokenWithSpan>, Finding> {
    Ok(tokens)
}
