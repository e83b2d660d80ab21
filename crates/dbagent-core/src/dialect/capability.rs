//! What a dialect can do, as data. The same value gates the conformance tests, the prompt and the docs.

use std::fmt;

/// How well something is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Support {
    /// Not at all.
    #[default]
    No,
    /// By dbagent or the dialect crate, not by the engine itself.
    Emulated,
    /// By the engine.
    Yes,
}

impl Support {
    /// Whether it can be relied on, in whatever way.
    pub const fn is_there(self) -> bool {
        !matches!(self, Support::No)
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Support::No => "no",
            Support::Emulated => "emulated",
            Support::Yes => "yes",
        })
    }
}

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $field:ident: $label:literal,)+) => {
        /// What a dialect can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Capabilities {
            $($(#[doc = $doc])+ pub $field: Support,)+
            /// Reads that may run at once on one session; at least 1.
            pub max_concurrent_reads: u32,
        }

        impl Capabilities {
            /// Nothing, one read at a time.
            pub const NONE: Capabilities = Capabilities { $($field: Support::No,)+ max_concurrent_reads: 1 };

            /// Each capability with its label and support, in a fixed order.
            pub fn table(&self) -> Vec<(&'static str, Support)> {
                vec![$(($label, self.$field),)+]
            }
        }
    };
}

capabilities! {
    /// The engine itself refuses writes on the session.
    read_only_session: "read-only session enforced by the engine",
    /// A statement past its time limit is stopped.
    statement_timeout: "statement timeout",
    /// A cancelled call stops on the server.
    cancel: "cancellation",
    /// Plans can be shown.
    explain: "plans",
    /// The number of result rows can be estimated.
    estimate_rows: "estimate of result rows",
    /// Columns of a request are named by the parser, so that column rules work.
    column_rules: "column rules",
    /// Requests take parameters by position.
    positional_parameters: "positional parameters",
    /// Requests take parameters by name.
    named_parameters: "named parameters",
    /// Links between objects are declared.
    foreign_keys: "foreign keys",
    /// Objects and columns carry comments.
    comments: "comments",
    /// Results can hold values of different types in one column.
    mixed_columns: "mixed-type columns",
    /// Results hold nested values.
    nested_values: "nested values",
    /// Objects live in namespaces.
    namespaces: "namespaces",
}
