//! Hides credentials in texts that a person typed and that come back in a message.

use std::path::Path;

/// Hides what stands between `://` and `@`, and after `?`, in every URL of a text. A password with an `@` in
/// it is hidden up to the last one of its word.
pub(crate) fn mask_user_info(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`')).unwrap_or(after.len());
        let (word, _) = after.split_at(end);
        let word = word.trim_end_matches([',', '.', ';', ':', ')']);
        let tail = after.strip_prefix(word).unwrap_or_default();
        // Values of parameters may be secrets too.
        let (place, parameters) = word.split_once('?').map_or((word, ""), |(place, _)| (place, "?****"));
        match word.rsplit_once('@') {
            // Without an authority there is no user: `sqlite:///a@b.db`.
            Some((_, host)) if !word.starts_with('/') => {
                out.push_str("****@");
                out.push_str(host.split('?').next().unwrap_or_default());
            }
            _ => out.push_str(place),
        }
        out.push_str(parameters);
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// A database URL for people: its user is shown, its secrets are not. Where a password may have been read as
/// something else (it held a `/`), everything before the host is hidden.
pub(crate) fn shown_url(url: &dbagent::ConnUrl) -> String {
    let text = url.to_string();
    if url.rest().contains('@') { mask_user_info(&text) } else { text }
}

/// A database or a file as a person named it, safe to show: in a text that is no URL, too, everything before
/// an `@` is hidden, for a mistyped URL holds its password all the same, and so is what follows a key of a
/// connection string that may be a secret.
pub(crate) fn mask_name(text: &str) -> String {
    let text = mask_user_info(text);
    let text = match text.rsplit_once('@') {
        Some((before, after)) if !before.ends_with("****") => format!("****@{after}"),
        _ => text,
    };
    dbagent::text::shorten(&mask_setting(&text), 200)
}

/// `Server=h;Pwd=secret` and `host=h password=secret`: from the first secret on nothing is shown, for it may
/// hold whatever ends a value.
fn mask_setting(text: &str) -> String {
    let mut start = 0;
    for (at, _) in text.match_indices('=') {
        let key = text.get(start..at).unwrap_or_default();
        let key = key.rsplit([';', ' ', '&', '?']).find(|word| !word.is_empty()).unwrap_or_default();
        if dbagent::text::is_secret(key) {
            return format!("{}=****", text.get(..at).unwrap_or_default());
        }
        start = at + 1;
    }
    text.to_owned()
}

/// The path of a file as a person named it. One that is not there may be no path at all, and is shown as
/// the name of a database is.
pub(crate) fn shown_path(path: &Path) -> String {
    let text = path.display().to_string();
    if path.symlink_metadata().is_ok() { text } else { mask_name(&text) }
}

/// A message that repeats what a person typed in single quotes: a mistyped URL there holds its password all
/// the same.
pub(crate) fn mask_quoted(message: &str) -> String {
    let parts = message.split('\'').enumerate();
    let masked = parts
        .map(|(i, part)| if i % 2 == 1 && part.contains('@') { mask_name(part) } else { part.to_owned() });
    mask_user_info(&masked.collect::<Vec<_>>().join("'"))
}

/// Whether a text holds a URL with a password, so that it must not be kept.
pub(crate) fn holds_password(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        dbagent::ConnUrl::parse(word.trim_matches(['\'', '"'])).is_ok_and(|url| url.password().is_some())
    }) || mask_user_info(text) != text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_info_is_hidden_wherever_it_stands() {
        for (text, masked) in [
            ("postgres://bob:canary@db/x", "postgres://****@db/x"),
            ("unexpected 'mysql://b:can@ary@h/x' found", "unexpected 'mysql://****@h/x' found"),
            ("postgres://bob:ca/nary@db/x", "postgres://****@db/x"),
            ("sqlite:///a@b.db and http://h/x", "sqlite:///a@b.db and http://h/x"),
            ("no dialect \"x://h/y?password=canary&a=b\" here", "no dialect \"x://h/y?****\" here"),
            ("(url: x://h/y?a=canary, kind: z)", "(url: x://h/y?****, kind: z)"),
            ("no url", "no url"),
        ] {
            assert_eq!(mask_user_info(text), masked);
        }
        assert_eq!(mask_name("postgres:/bob:canary@db"), "****@db");
        assert_eq!(mask_name("shop"), "shop");
        assert_eq!(mask_name("Server=h;Uid=b;Pwd=can;ary"), "Server=h;Uid=b;Pwd=****");
        assert_eq!(mask_name("host=h password = 'can ary'"), "host=h password =****");
        assert_eq!(mask_name(&format!("{}:canary@h", "b".repeat(300))), "****@h");
        assert_eq!(mask_name("a=b/c.db"), "a=b/c.db");
        assert_eq!(mask_quoted("argument 'postgres:/b:canary@db/x' found"), "argument '****@db/x' found");
    }

    #[test]
    fn urls_show_their_user_and_no_secret() {
        let shown = |text| shown_url(&dbagent::ConnUrl::parse(text).unwrap());
        assert_eq!(shown("postgres://bob:canary@db/x"), "postgres://bob:****@db/x");
        // A password with a slash in it is refused, so that none of it is taken for a path and shown.
        assert!(dbagent::ConnUrl::parse("postgres://bob:can/ary@db/x").is_err());
        assert_eq!(shown("sqlite:///a@b.db"), "sqlite:///a@b.db");
    }

    #[test]
    fn lines_with_passwords_are_recognised() {
        assert!(holds_password("why is postgres://bob:canary@db slow"));
        assert!(!holds_password("how many users have a @ in http://x/y"));
    }
}
