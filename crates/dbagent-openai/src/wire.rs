//! Our own request and reply structs; async-openai's are stricter than the servers are.

pub(crate) mod history;
pub(crate) mod reply;
pub(crate) mod request;
