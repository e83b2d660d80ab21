//! The two statements that the core's `count` and `sample` tools need, for every way of quoting.
//!
//! [`Dialect::count`](dbagent_core::Dialect::count) takes a plain function, so there is one per quoting.

use dbagent_core::{ObjectName, Request};

use crate::ident::Quoting;

/// A request that counts the rows of an object.
pub fn count_request(name: &ObjectName, quoting: Quoting) -> Request {
    Request::text(format!("SELECT count(*) AS row_count FROM {}", quoting.path(name)))
}

/// A request that reads the rows of an object, in no order; the sink stops it where the sample is full.
pub fn sample_request(name: &ObjectName, quoting: Quoting) -> Request {
    Request::text(format!("SELECT * FROM {}", quoting.path(name)))
}

macro_rules! printers {
    ($($quoting:ident: $count:ident, $sample:ident, $how:literal;)+) => {$(
        #[doc = concat!("[`count_request`] with identifiers in ", $how, ".")]
        pub fn $count(name: &ObjectName) -> Request {
            count_request(name, Quoting::$quoting)
        }

        #[doc = concat!("[`sample_request`] with identifiers in ", $how, ".")]
        pub fn $sample(name: &ObjectName) -> Request {
            sample_request(name, Quoting::$quoting)
        }
    )+};
}

printers! {
    DoubleQuotes: count_ansi, sample_ansi, "double quotes";
    Backticks: count_backtick, sample_backtick, "backticks";
    Brackets: count_bracket, sample_bracket, "brackets";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_hold_the_quoted_name() {
        let name = ObjectName::within("main", "a\"b");
        assert_eq!(count_ansi(&name).as_str(), "SELECT count(*) AS row_count FROM \"main\".\"a\"\"b\"");
        assert_eq!(sample_backtick(&name).as_str(), "SELECT * FROM `main`.`a\"b`");
        assert_eq!(sample_bracket(&ObjectName::new("x]")).as_str(), "SELECT * FROM [x]]]");
    }

    #[test]
    fn they_fit_into_a_const_descriptor() {
        const COUNT: fn(&ObjectName) -> Request = count_backtick;
        assert_eq!(COUNT(&ObjectName::new("t")).as_str(), "SELECT count(*) AS row_count FROM `t`");
    }
}
