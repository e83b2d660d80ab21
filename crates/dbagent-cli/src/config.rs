//! `dbagent.toml`: models, named databases and limits.
//!
//! Found by `--config`, else `./dbagent.toml`, else in the user's configuration folder. The file is checked
//! against the same schema that `dbagent config schema` prints: an unknown key is an error with its line
//! and the nearest name. `${VAR}` in a text is the environment variable, and a missing one is an error.

mod check;
mod find;
mod origin;
mod settings;
mod variables;

use std::path::{Path, PathBuf};

use dbagent::{Error, ErrorKind};

pub(crate) use find::{find, state_folder, user_file};
pub(crate) use origin::Origins;
pub(crate) use settings::{DatabaseSettings, ModelSettings, Settings, schema};

use crate::mask::shown_path;

/// Where the value of a variable comes from; the environment, except in tests.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The process's environment. A value that is no text counts as absent.
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A configuration, read and checked.
#[derive(Default)]
pub(crate) struct Config {
    /// The file, when there is one.
    pub(crate) path: Option<PathBuf>,
    /// What it says.
    pub(crate) settings: Settings,
    /// Where each value stands in it.
    pub(crate) origins: Origins,
}

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

impl Config {
    /// Reads the file that was named or found; without one everything is at its default.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] with file and line.
    pub(crate) fn load(named: Option<&Path>, environment: Environment<'_>) -> Result<Self, Error> {
        let Some(path) = find(named, environment)? else { return Ok(Self::default()) };
        let text = read(&path)?;
        let (settings, origins) = parse(&text, environment).map_err(|problem| problem.in_file(&path))?;
        Ok(Self { path: Some(path), settings, origins })
    }

    /// Everything that is wrong with a file, for `config check`.
    pub(crate) fn problems(path: &Path, environment: Environment<'_>) -> Result<Vec<Error>, Error> {
        let text = read(path)?;
        let problems = match check::document(&text) {
            Err(problem) => vec![problem],
            Ok(document) => {
                let mut problems = check::problems(&document, &schema());
                if problems.is_empty() {
                    problems.extend(parse(&text, environment).err());
                }
                problems
            }
        };
        Ok(problems.into_iter().map(|p| p.in_file(path)).collect())
    }

    /// A word for the file in messages.
    pub(crate) fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "dbagent.toml".to_owned(), |p| p.display().to_string())
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let failed = |e: std::io::Error| {
        let why = crate::input::reason(&e);
        Error::new(ErrorKind::Config, format!("the configuration cannot be read: {why}"))
            .with("file", shown_path(path))
            .source(e)
    };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > MAX_BYTES {
        return Err(Error::new(
            ErrorKind::Config,
            format!("the configuration has {size} bytes, at most {MAX_BYTES}"),
        )
        .with("file", shown_path(path)));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|e| {
        Error::new(ErrorKind::Config, "the configuration is not UTF-8 text")
            .with("file", shown_path(path))
            .source(e)
    })
}

fn parse(text: &str, environment: Environment<'_>) -> Result<(Settings, Origins), Problem> {
    let document = check::document(text)?;
    if let Some(problem) = check::problems(&document, &schema()).into_iter().next() {
        return Err(problem);
    }
    let mut origins = Origins::of(&document);
    let mut table: toml::Table = toml::from_str(text).map_err(|e| Problem::of_toml(&e, text))?;
    variables::expand(&mut table, &mut origins, environment)?;
    let settings = Settings::from_table(table).map_err(|(path, message)| {
        let line = origins.line(&path);
        Problem { message, line, hint: None }
    })?;
    Ok((settings, origins))
}

/// What is wrong with a configuration, before its file is known. Never holds a value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    message: String,
    line: Option<usize>,
    hint: Option<String>,
}

impl Problem {
    /// An error of the parser, without the line that it would show: a secret may stand there.
    fn of_toml(e: &toml::de::Error, text: &str) -> Self {
        let line = e.span().map(|span| text.bytes().take(span.start).filter(|b| *b == b'\n').count() + 1);
        Self { message: format!("the configuration is not TOML: {}", e.message()), line, hint: None }
    }

    fn in_file(self, path: &Path) -> Error {
        let mut e = Error::new(ErrorKind::Config, self.message).with("file", shown_path(path));
        if let Some(line) = self.line {
            e = e.with("line", line);
        }
        match self.hint {
            Some(hint) => e.hint(hint),
            None => e,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn load(text: &str) -> Result<Settings, Error> {
        let environment = |name: &str| (name == "SHOP_PASSWORD").then(|| "canary".to_owned());
        parse(text, &environment).map(|(settings, _)| settings).map_err(|p| p.in_file(Path::new("x.toml")))
    }

    fn refusal(text: &str) -> String {
        let e = load(text).err().expect("it must be refused");
        assert_eq!(e.kind(), ErrorKind::Config);
        format!("{e} | {}", e.hint_text().unwrap_or_default())
    }

    const WHOLE: &str = r#"
model = "fast"

[agent]
system = "Answer in French."
turns = 7

[guardrails]
query_timeout_s = 5
max_result_tokens = 1000

[models.fast]
base_url = "http://localhost:8080/v1"
model = "qwen3"
actions = "json"
window = 8192
price = { input = 1, cached_input = 0.25, output = 2.5 }

[databases.shop]
url = "postgres://bob@db/shop"
credential = { password = "${SHOP_PASSWORD}", connect_timeout = 5 }
policy = { deny = ["*.users.email"], allow_functions = ["f"] }
guardrails = { query_timeout_s = 9 }
"#;

    #[test]
    fn a_whole_file_is_read() {
        let s = load(WHOLE).unwrap();
        assert_eq!(s.model.as_deref(), Some("fast"));
        assert_eq!(s.system.as_deref(), Some("Answer in French."));
        assert_eq!((s.budgets.turns, s.budgets.tool_calls), (7, 200));
        let shop = &s.databases["shop"];
        assert_eq!((shop.guardrails.query_timeout_s, shop.guardrails.max_result_tokens), (9, 1000));
        assert_eq!(s.guardrails.query_timeout_s, 5);
        assert_eq!(shop.credential.get("password").unwrap().expose(), "canary");
        assert_eq!(shop.credential.get("connect_timeout").unwrap().expose(), "5");
        assert_eq!(shop.policy.deny[0].to_string(), "*.users.email");
        assert_eq!(s.models["fast"].price.unwrap(), dbagent::metrics::Price::new(1.0, 2.5).cached(0.25));
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_one() {
        assert_eq!(
            refusal("model = \"offline\"\n[guardrails]\nquery_timout_s = 3\n"),
            "unknown key guardrails.query_timout_s (file: x.toml, line: 3) | did you mean query_timeout_s?"
        );
        assert!(refusal("modell = \"x\"").contains("did you mean model?"));
        assert!(refusal("[databases.shop]\nurl = \"x://y\"\npoliccy = {}").contains("line: 3"));
        assert!(
            refusal("[models.a]\nmodel = \"x\"\nprice = { inputs = 1 }").contains("models.a.price.inputs")
        );
    }

    #[test]
    fn wrong_types_and_values_name_key_and_line_but_not_the_value() {
        let text = refusal("[guardrails]\nquery_timeout_s = \"canary\"");
        assert!(text.contains("guardrails.query_timeout_s must be a whole number, not a text"), "{text}");
        assert!(text.contains("line: 2") && !text.contains("canary"), "{text}");
        assert!(refusal("[guardrails]\ndefault_rows = -1").contains("at least 1"));
        assert!(refusal("[models.a]\nmodel = \"x\"\nactions = \"jason\"").contains("\"native\" or \"json\""));
        assert!(refusal("[models.a]\nwindow = 1").contains("models.a needs the key model"));
        let text = refusal("[databases.a]\nurl = \"x://y\"\ncredential = { password = [\"canary\"] }");
        assert!(text.contains("databases.a.credential.password") && !text.contains("canary"), "{text}");
        assert!(
            refusal("[databases.a]\nurl = \"x://y\"\npolicy = { deny = [\"a..b\"] }").contains("no pattern")
        );
    }

    #[test]
    fn a_missing_variable_is_an_error_that_names_file_key_and_variable() {
        let text =
            refusal("[databases.a]\nurl = \"x://y\"\n[databases.a.credential]\npassword = \"${NOPE}\"");
        assert!(text.contains("databases.a.credential.password"), "{text}");
        assert!(text.contains("NOPE") && text.contains("x.toml") && text.contains("line: 4"), "{text}");
    }

    #[test]
    fn an_error_of_the_parser_shows_no_line_of_the_file() {
        let text = refusal("a = 1\npassword = \"canary\" x");
        assert!(text.contains("line: 2") && !text.contains("canary"), "{text}");
    }
}
