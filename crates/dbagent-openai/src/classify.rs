//! What a server's failure means. Status and codes decide; words decide only where a server has no code for
//! it (a window that is too small).

use dbagent_core::model::{ModelError, ModelErrorKind};
use dbagent_core::text::{printable, shorten};
use reqwest::StatusCode;
use serde_json::Value;

use crate::http::{Endpoint, is_local};
use crate::service::{Answer, root_cause};

/// What a server says about a failure, wherever it says it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Complaint {
    message: Option<String>,
    code: Option<String>,
    kind: Option<String>,
    reason: Option<String>,
}

impl Complaint {
    /// Looks in `error.message`, `error`, `message` and `detail`. Plain text is a message; a page is none.
    fn read(body: &str) -> Self {
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            let text = body.trim();
            let is_page = text.starts_with('<') || text.is_empty();
            return Self { message: (!is_page).then(|| text.to_owned()), ..Self::default() };
        };
        Self::of(&value)
    }

    fn of(value: &Value) -> Self {
        // Gemini wraps its errors in a list of one.
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let choice = value.pointer("/choices/0/error");
        let error = value.get("error").filter(|e| !e.is_null()).or(choice);
        let inner = error.filter(|e| e.is_object()).unwrap_or(value);
        let text = |v: &Value| v.as_str().map(str::to_owned).or_else(|| v.is_number().then(|| v.to_string()));
        let message = inner
            .get("message")
            .and_then(text)
            .or_else(|| error.and_then(text))
            .or_else(|| value.get("message").and_then(text))
            .or_else(|| value.get("detail").and_then(detail))
            .or_else(|| value.as_str().map(str::to_owned));
        Self {
            message: message.filter(|m| !m.trim().is_empty()),
            code: inner.get("code").and_then(text),
            kind: inner.get("type").or_else(|| inner.get("status")).and_then(text),
            reason: inner.pointer("/details/0/reason").and_then(text),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        [&self.code, &self.kind, &self.reason].into_iter().flatten().map(String::as_str)
    }

    fn is_named(&self, names: &[&str]) -> bool {
        self.names().any(|name| names.iter().any(|n| n.eq_ignore_ascii_case(name)))
    }

    /// The status that the body names, where the real one says 200.
    fn status(&self) -> Option<StatusCode> {
        let code = self.names().find_map(|name| name.parse::<u16>().ok())?;
        StatusCode::from_u16(code).ok().filter(|s| s.is_client_error() || s.is_server_error())
    }

    fn is_overflow(&self) -> bool {
        const WORDS: [&str; 10] = [
            "context length",
            "context_length",
            "context window",
            "context size",
            "maximum context",
            "prompt is too long",
            "input is too long",
            "too many tokens",
            "reduce the length of the messages",
            "input token count",
        ];
        let message = self.message.as_deref().unwrap_or_default().to_ascii_lowercase();
        self.is_named(&["context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"])
            || WORDS.iter().any(|words| message.contains(words))
    }
}

/// FastAPI's form: a text, or a list of `{loc, msg}`.
fn detail(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let messages: Vec<&str> = items.iter().filter_map(|i| i.get("msg")?.as_str()).collect();
            (!messages.is_empty()).then(|| messages.join("; "))
        }
        Value::Object(_) => value.get("message").or_else(|| value.get("error"))?.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Who is talked to, for messages.
#[derive(Debug, Clone)]
pub(crate) struct Who {
    /// The model's id.
    pub(crate) id: String,
    pub(crate) endpoint: Endpoint,
    /// The environment variable that usually holds the key.
    pub(crate) key_variable: Option<&'static str>,
}

impl Who {
    /// The error of an answer that is not a reply.
    pub(crate) fn refused(&self, answer: &Answer) -> ModelError {
        let complaint = Complaint::read(&answer.body);
        let mut error = self.complain(&complaint, Some(answer.status), &answer.body);
        error.retry_after = answer.retry_after;
        if answer.status.is_redirection() {
            let place = answer.location.as_deref().map(|l| l.split('?').next().unwrap_or_default());
            error.message = format!(
                "{} redirects to {} ({}); redirects are not followed, set that base URL if you trust it",
                self.id,
                shorten(&printable(&self.endpoint.hide(place.unwrap_or("another place"))), 120),
                answer.status
            );
        }
        error
    }

    /// The error of a failure that came in the place of a reply, with status 200.
    pub(crate) fn failed(&self, body: &str) -> ModelError {
        let complaint = Complaint::read(body);
        self.complain(&complaint, complaint.status(), body)
    }

    /// The error of an answer that is neither a reply nor a failure.
    pub(crate) fn not_a_reply(&self, what: &str, body: &str) -> ModelError {
        let message = format!(
            "{} sent something that is not a chat completion: {what}. Is {} the base URL of an OpenAI-compatible \
             interface?",
            self.id, self.endpoint.base_url
        );
        let mut error = ModelError::new(ModelErrorKind::Decode, self.endpoint.hide(&message));
        if !body.trim_start().starts_with('<') {
            error = error.with_body(&printable(&self.endpoint.hide(body)));
        }
        error
    }

    fn complain(&self, complaint: &Complaint, status: Option<StatusCode>, body: &str) -> ModelError {
        let (kind, retryable) = kind_of(complaint, status);
        let mut message = match status {
            Some(status) => format!("{} answered {status}", self.id),
            None => format!("{} reported a failure", self.id),
        };
        if let Some(words) = &complaint.message {
            // Hidden before it is shortened: half a key is still a part of one.
            let words = self.endpoint.hide(words);
            message.push_str(": ");
            message.push_str(shorten(&printable(words.trim()), 300).trim_end_matches('.'));
        }
        if let Some(advice) = self.advice(kind, retryable) {
            message.push_str(". ");
            message.push_str(&advice);
        }
        let mut error = ModelError::new(kind, message).retryable(retryable);
        if let Some(status) = status {
            error = error.with_status(status.as_u16());
        }
        let body =
            complaint.message.as_deref().or_else(|| (!body.trim_start().starts_with('<')).then_some(body));
        match body {
            Some(body) if !body.trim().is_empty() => error.with_body(&printable(&self.endpoint.hide(body))),
            _ => error,
        }
    }

    fn advice(&self, kind: ModelErrorKind, retryable: bool) -> Option<String> {
        Some(match kind {
            ModelErrorKind::Auth => match self.key_variable {
                Some(variable) => format!("Check the API key; it is usually in {variable}"),
                None => "Check the API key".to_owned(),
            },
            ModelErrorKind::RateLimited if !retryable => {
                "The quota of this key is used up; check its plan and billing".to_owned()
            }
            ModelErrorKind::NotFound => format!(
                "Check the model's name and the base URL {}; {}/models lists the names",
                self.endpoint.base_url, self.endpoint.base_url
            ),
            ModelErrorKind::ContextOverflow => {
                "The conversation is longer than the model's window; shorten it or use a model with a larger one"
                    .to_owned()
            }
            _ => return None,
        })
    }

    /// The error of a request that got no answer, or lost it.
    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> ModelError {
        let base_url = &self.endpoint.base_url;
        if error.is_timeout() && !error.is_connect() {
            return self.idle();
        }
        let cause = self.endpoint.hide(&root_cause(error));
        let message = if error.is_connect() {
            let advice = if is_local(base_url) {
                "is the server running, and is this its port?"
            } else {
                "check the base URL and the network"
            };
            format!("nothing answers at {base_url}: {cause}; {advice}")
        } else {
            format!("the connection to {base_url} failed: {cause}")
        };
        let error_kind = ModelError::new(ModelErrorKind::Transport, message);
        // A certificate that does not verify will not verify the next time.
        if is_tls(error) { error_kind.retryable(false) } else { error_kind }
    }

    /// The error of a server that fell silent.
    pub(crate) fn idle(&self) -> ModelError {
        let message = format!(
            "{} sent nothing for {} s; the server may be overloaded or still loading the model",
            self.id,
            self.endpoint.idle_timeout.as_secs_f32()
        );
        ModelError::new(ModelErrorKind::Transport, message)
    }
}

/// Kind and whether the same request may succeed later.
fn kind_of(complaint: &Complaint, status: Option<StatusCode>) -> (ModelErrorKind, bool) {
    use ModelErrorKind as Kind;
    const QUOTA: [&str; 4] =
        ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"];
    const AUTH: [&str; 5] =
        ["invalid_api_key", "authentication_error", "permission_error", "API_KEY_INVALID", "UNAUTHENTICATED"];
    const FILTER: [&str; 3] = ["content_filter", "content_policy_violation", "moderation_blocked"];
    const LIMIT: [&str; 4] =
        ["rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED", "too_many_requests"];
    const MISSING: [&str; 3] = ["model_not_found", "not_found_error", "NOT_FOUND"];
    const INVALID: [&str; 3] = ["invalid_request_error", "BadRequestError", "INVALID_ARGUMENT"];
    if complaint.is_named(&QUOTA) {
        return (Kind::RateLimited, false);
    }
    let kind = match status.map(|s| s.as_u16()) {
        Some(401 | 403) => Kind::Auth,
        Some(402) => return (Kind::RateLimited, false),
        Some(404) => Kind::NotFound,
        Some(413) => Kind::ContextOverflow,
        Some(429) => Kind::RateLimited,
        Some(451) => Kind::Refused,
        Some(408 | 409 | 500..) => Kind::Server,
        Some(400 | 422) | None if complaint.is_overflow() => Kind::ContextOverflow,
        Some(400 | 422) | None if complaint.is_named(&FILTER) => Kind::Refused,
        Some(400 | 422) | None if complaint.is_named(&AUTH) => Kind::Auth,
        None if complaint.is_named(&LIMIT) => Kind::RateLimited,
        None if complaint.is_named(&MISSING) => Kind::NotFound,
        None if complaint.is_named(&INVALID) => Kind::InvalidRequest,
        Some(_) => Kind::InvalidRequest,
        // A failure in the place of a reply, of a sort that has no name: the server's own.
        None => Kind::Server,
    };
    (kind, matches!(kind, Kind::RateLimited | Kind::Server))
}

/// Whether TLS itself is among the causes. Input and output errors show what they wrap only when asked.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    wrapped.is_some_and(|e| is_tls(e)) || error.source().is_some_and(is_tls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::EndpointOptions;
    use ModelErrorKind as Kind;

    fn who() -> Who {
        let mut options = EndpointOptions::new("https://models.example.com/v1");
        options.key = Some("sk-canary-7f3".into());
        Who {
            id: "openai:gpt-5".to_owned(),
            endpoint: Endpoint::new(&options).unwrap(),
            key_variable: Some("OPENAI_API_KEY"),
        }
    }

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            content_type: String::new(),
            retry_after: None,
            location: None,
            body: body.to_owned(),
            capped: false,
        }
    }

    #[test]
    fn status_and_codes_decide() {
        let cases = [
            (400, r#"{"error":{"message":"bad"}}"#, Kind::InvalidRequest, false),
            (
                400,
                r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#,
                Kind::ContextOverflow,
                false,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
                Kind::ContextOverflow,
                false,
            ),
            (
                422,
                r#"{"detail":[{"loc":["body"],"msg":"Prompt is too long"}]}"#,
                Kind::ContextOverflow,
                false,
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]"#,
                Kind::Auth,
                false,
            ),
            (400, r#"{"error":{"message":"x","code":"content_filter"}}"#, Kind::Refused, false),
            (401, "<html>no</html>", Kind::Auth, false),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, Kind::RateLimited, false),
            (403, "", Kind::Auth, false),
            (404, r#"{"detail":"Not Found"}"#, Kind::NotFound, false),
            (408, "", Kind::Server, true),
            (409, "", Kind::Server, true),
            (413, r#"{"message":"too large"}"#, Kind::ContextOverflow, false),
            (418, "", Kind::InvalidRequest, false),
            (429, r#"{"error":{"message":"slow down"}}"#, Kind::RateLimited, true),
            (429, r#"{"error":{"message":"x","type":"insufficient_quota"}}"#, Kind::RateLimited, false),
            (500, "", Kind::Server, true),
            (503, "overloaded", Kind::Server, true),
            (529, "", Kind::Server, true),
        ];
        for (status, body, kind, retryable) in cases {
            let error = who().refused(&answer(status, body));
            assert_eq!((error.kind, error.retryable), (kind, retryable), "{status} {body}");
            assert_eq!(error.status, Some(status));
            assert!(error.message.contains(&status.to_string()), "{}", error.message);
        }
    }

    #[test]
    fn failures_inside_200_are_told_by_their_codes() {
        let cases = [
            (r#"{"error":{"message":"x","code":429}}"#, Kind::RateLimited, Some(429)),
            (r#"{"error":{"message":"x","code":"502"}}"#, Kind::Server, Some(502)),
            (r#"{"error":{"message":"x","type":"rate_limit_error"}}"#, Kind::RateLimited, None),
            (r#"{"error":{"message":"x","type":"invalid_request_error"}}"#, Kind::InvalidRequest, None),
            (r#"{"error":{"message":"x","code":"model_not_found"}}"#, Kind::NotFound, None),
            (r#"{"error":"This model's maximum context length is 5"}"#, Kind::ContextOverflow, None),
            (
                r#"{"object":"error","message":"x","type":"BadRequestError","code":400}"#,
                Kind::InvalidRequest,
                Some(400),
            ),
            (r#"{"choices":[{"error":{"message":"x","code":503}}]}"#, Kind::Server, Some(503)),
            (r#"{"error":{}}"#, Kind::Server, None),
        ];
        for (body, kind, status) in cases {
            let error = who().failed(body);
            assert_eq!((error.kind, error.status), (kind, status), "{body}");
        }
    }

    #[test]
    fn the_message_is_found_wherever_it_is() {
        let cases = [
            (r#"{"error":{"message":"m"}}"#, Some("m")),
            (r#"{"error":{"code":"c","message":null},"message":"m"}"#, Some("m")),
            (r#"{"error":"m"}"#, Some("m")),
            (r#"{"message":"m"}"#, Some("m")),
            (r#"{"detail":"m"}"#, Some("m")),
            (r#"{"detail":[{"msg":"m"},{"msg":"n"}]}"#, Some("m; n")),
            (r#"{"detail":{"message":"m"}}"#, Some("m")),
            (r#"[{"error":{"message":"m"}}]"#, Some("m")),
            (r#""m""#, Some("m")),
            ("m at last", Some("m at last")),
            ("<!doctype html><title>502</title>", None),
            ("", None),
            ("{}", None),
            ("[]", None),
        ];
        for (body, message) in cases {
            assert_eq!(Complaint::read(body).message.as_deref(), message, "{body}");
        }
    }

    #[test]
    fn messages_say_what_to_do_and_hide_the_key() {
        let error =
            who().refused(&answer(401, r#"{"error":{"message":"Incorrect key sk-canary-7f3 given."}}"#));
        assert_eq!(
            error.message,
            "openai:gpt-5 answered 401 Unauthorized: Incorrect key **** given. Check the API key; it is usually in OPENAI_API_KEY"
        );
        assert_eq!(error.body.as_deref(), Some("Incorrect key **** given."));
        let page = who().refused(&answer(502, "<html>sk-canary-7f3</html>"));
        assert_eq!((page.message.as_str(), page.body), ("openai:gpt-5 answered 502 Bad Gateway", None));
        let moved = Answer {
            location: Some("https://other.example.com/v1?k=sk-canary-7f3".to_owned()),
            ..answer(307, "")
        };
        assert!(who().refused(&moved).message.contains("redirects to https://other.example.com/v1 (307"));
        let escape = who().refused(&answer(400, "{\"error\":\"\\u001b[31m red\"}"));
        assert!(escape.message.contains("\\u{1b}[31m red"), "{}", escape.message);
    }
}
