//! How much of the conversation a request to the model holds. The thread itself keeps everything.
//!
//! Over the limit, old results of tools are shortened first, the oldest before the newer ones; then whole old
//! turns and questions are left out behind one line. The newest turn, the question of the run and what was said to
//! it meanwhile always stay, so that a call is never parted from its answer.

use crate::budget::Budgets;
use crate::model::{Message, ModelProfile, ModelRequest};
use crate::observe::FRAME_OPEN;
use crate::text::{counted, estimate_tokens, shorten};

/// Characters that stay of an old result.
const KEPT: usize = 300;
/// Tokens around a message and around a call, whatever the server.
const AROUND: u64 = 4;

/// Cuts the messages of a request down to what may be sent. `from` is where the messages of the run begin.
pub(super) fn fit(request: &mut ModelRequest, from: usize, budgets: &Budgets, profile: &ModelProfile) {
    if profile.whole_history {
        return;
    }
    let limit = limit(request, budgets, profile);
    if let Some(messages) = fitted(&request.messages, from, limit, profile.chars_per_token) {
        request.messages = messages.into();
    }
}

/// Tokens for the conversation: those of the budget, or what the model's window leaves beside its
/// instructions, its tools and its reply.
fn limit(request: &ModelRequest, budgets: &Budgets, profile: &ModelProfile) -> u64 {
    let Some(window) = profile.window else { return budgets.history_tokens };
    let tokens = |text: &str| estimate_tokens(text, profile.chars_per_token);
    let system: u64 = request.system.iter().map(|text| tokens(text)).sum();
    let tools = request.tools.iter().map(|t| tokens(&format!("{}{}{}", t.name, t.description, t.parameters)));
    let reply = profile.max_output.unwrap_or(window / 4);
    let left = window.saturating_sub(system).saturating_sub(tools.sum()).saturating_sub(reply);
    budgets.history_tokens.min(left)
}

/// The messages that fit; `None` where all of them do.
fn fitted(messages: &[Message], from: usize, limit: u64, chars_per_token: f32) -> Option<Vec<Message>> {
    let size = |message: &Message| size(message, chars_per_token);
    let mut sizes: Vec<u64> = messages.iter().map(size).collect();
    let mut total: u64 = sizes.iter().sum();
    if total <= limit {
        return None;
    }
    let newest = messages.iter().rposition(|m| matches!(m, Message::Assistant(_))).unwrap_or(0);
    let mut messages: Vec<Option<Message>> = messages.iter().cloned().map(Some).collect();
    for (message, size_of) in messages.iter_mut().zip(&mut sizes).take(newest) {
        if total <= limit {
            break;
        }
        if let Some(Message::Tool(result)) = message
            && let Some(text) = shortened(&result.text)
        {
            result.text = text;
            let now = message.as_ref().map(size).unwrap_or_default();
            total = total - *size_of + now;
            *size_of = now;
        }
    }
    let mut first = None;
    let mut left_out: u64 = 0;
    let mut at = 0;
    while at < newest && total > limit {
        // A reply and the answers to its calls, or something that was said.
        let answers =
            messages.iter().skip(at + 1).take_while(|m| matches!(m, Some(Message::Tool(_)))).count();
        let end = at + 1 + answers;
        let stays = at >= from && matches!(messages.get(at), Some(Some(Message::User { .. })));
        if !stays {
            if first.is_none() {
                first = Some(at);
                total += size(&line(u64::MAX));
            }
            for (message, size) in messages.iter_mut().zip(&sizes).take(end).skip(at) {
                *message = None;
                total = total.saturating_sub(*size);
                left_out += 1;
            }
        }
        at = end;
    }
    if let Some(first) = first.and_then(|first| messages.get_mut(first)) {
        *first = Some(line(left_out));
    }
    Some(messages.into_iter().flatten().collect())
}

/// What stands in the place of messages that are left out.
fn line(left_out: u64) -> Message {
    Message::user(format!(
        "[{} of this conversation {} left out here to save space. Look up again what is still needed.]",
        counted(left_out, "earlier message", "earlier messages"),
        if left_out == 1 { "is" } else { "are" }
    ))
}

/// What stays of an old result: what was said of it before the data, whole frames left out.
fn shortened(text: &str) -> Option<String> {
    let head = text.split(FRAME_OPEN).next().unwrap_or_default();
    let short = format!(
        "{}\n[The rest of this earlier result is left out to save space. Call again for what is still needed.]",
        shorten(head.trim_end(), KEPT)
    );
    (short.len() < text.len()).then_some(short)
}

fn size(message: &Message, chars_per_token: f32) -> u64 {
    let tokens = |text: &str| estimate_tokens(text, chars_per_token);
    AROUND
        + match message {
            Message::User { text } => tokens(text),
            Message::Assistant(reply) => {
                let calls = reply.calls.iter().map(|c| AROUND + tokens(&c.name) + tokens(&c.arguments));
                let extras = if reply.extras.is_empty() {
                    0
                } else {
                    tokens(&serde_json::to_string(&reply.extras).unwrap_or_default())
                };
                tokens(&reply.text) + calls.sum::<u64>() + extras
            }
            Message::Tool(result) => tokens(&result.text),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AssistantMessage, ToolCall, ToolMessage};
    use crate::observe::{FRAME_CLOSE, framed};

    /// A question and replies that each made a call with a long result.
    fn run(question: &str, turns: usize) -> Vec<Message> {
        let mut messages = vec![Message::user(question)];
        for turn in 0..turns {
            let call = ToolCall::new("query", "{\"statement\":\"SELECT 1\"}");
            messages.push(Message::Assistant(AssistantMessage {
                calls: vec![call],
                ..AssistantMessage::default()
            }));
            let text = format!("{question} {turn}: 90 rows\n{}", framed(&"word ".repeat(400), 10_000));
            messages.push(Message::Tool(ToolMessage {
                call_id: String::new(),
                name: "query".into(),
                text,
                is_error: false,
            }));
        }
        messages
    }

    fn tokens(messages: &[Message]) -> u64 {
        messages.iter().map(|m| size(m, 4.0)).sum()
    }

    fn results(messages: &[Message]) -> Vec<&str> {
        let tools = messages.iter().filter_map(|m| match m {
            Message::Tool(result) => Some(result.text.as_str()),
            _ => None,
        });
        tools.collect()
    }

    #[test]
    fn what_fits_is_sent_as_it_is() {
        let messages = run("q", 3);
        assert_eq!(fitted(&messages, 0, tokens(&messages), 4.0), None);
        assert!(fitted(&messages, 0, tokens(&messages) - 1, 4.0).is_some());
    }

    #[test]
    fn old_results_are_shortened_first_and_the_oldest_before_the_others() {
        let messages = run("q", 4);
        let whole = results(&messages);
        let fit = fitted(&messages, 0, tokens(&messages) - 1, 4.0).unwrap();
        let now = results(&fit);
        assert_eq!(now[1..], whole[1..], "one was enough");
        assert_eq!(
            now[0],
            "q 0: 90 rows\n[The rest of this earlier result is left out to save space. Call again for what is still needed.]"
        );
        // However little is allowed, the newest result is whole, and no frame is left open.
        let fit = fitted(&messages, 0, 1, 4.0).unwrap();
        assert_eq!(results(&fit), [whole[3]]);
        assert!(whole[3].ends_with(FRAME_CLOSE));
    }

    #[test]
    fn then_whole_turns_are_left_out_behind_one_line_and_the_question_stays() {
        let mut messages = run("first", 3);
        messages
            .push(Message::Assistant(AssistantMessage { text: "ten".into(), ..AssistantMessage::default() }));
        let from = messages.len();
        messages.extend(run("second", 3));
        messages.insert(from + 3, Message::user("and quickly"));
        let fit = fitted(&messages, from, 700, 4.0).unwrap();
        assert!(tokens(&fit) <= 700, "{}", tokens(&fit));
        let said: Vec<&str> = fit
            .iter()
            .filter_map(|m| match m {
                Message::User { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert!(
            said[0].ends_with("are left out here to save space. Look up again what is still needed.]"),
            "{said:?}"
        );
        assert_eq!(said[1..], ["second", "and quickly"]);
        // Each answer follows its call.
        for (at, message) in fit.iter().enumerate() {
            if matches!(message, Message::Tool(_)) {
                assert!(matches!(&fit[at - 1], Message::Assistant(a) if a.calls.len() == 1), "{at}");
            }
        }
        let left_out = messages.len() + 1 - fit.len();
        assert!(said[0].starts_with(&format!("[{left_out} earlier messages")), "{said:?}");
    }

    #[test]
    fn a_window_leaves_less_than_the_budget() {
        let mut request = ModelRequest::new(run("q", 9));
        request.system = vec!["word ".repeat(1_000)].into();
        let budgets = Budgets::default();
        let of = |window| ModelProfile { window, ..ModelProfile::default() };
        assert_eq!(limit(&request, &budgets, &of(None)), budgets.history_tokens);
        assert_eq!(limit(&request, &budgets, &of(Some(10_000_000))), budgets.history_tokens);
        let left = limit(&request, &budgets, &of(Some(4_000)));
        assert!((1_500..2_100).contains(&left), "{left}");
        let before = request.messages.len();
        fit(&mut request, 0, &budgets, &ModelProfile { whole_history: true, ..of(Some(4_000)) });
        assert_eq!(tokens(&request.messages), tokens(&run("q", 9)), "{before}");
        fit(&mut request, 0, &budgets, &of(Some(4_000)));
        assert!(tokens(&request.messages) <= left, "{}", tokens(&request.messages));
    }
}
