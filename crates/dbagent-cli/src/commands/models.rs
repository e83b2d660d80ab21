//! `dbagent models`: which language models could answer, and the setting that would use each.

use crate::app::App;
use crate::exit::Outcome;
use crate::format::{Format, NO_ROWS, only};

/// List the model servers on this machine and the keys in the environment, with the setting for each
///
/// Looks at the usual ports of this machine only; nothing is sent elsewhere, and keys are shown by the names
/// of their variables alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How the list is written
    #[arg(long, short, default_value = "table", value_parser = only(NO_ROWS))]
    format: Format,
}

#[cfg(not(feature = "openai"))]
pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    app.ui.warn("this build cannot reach language models; build with the feature `openai`");
    let mut out = app.stdout();
    if args.format == Format::Json {
        out.line("[]")?;
    }
    out.flush()?;
    Ok(crate::exit::Exit::Done)
}

#[cfg(feature = "openai")]
pub(crate) fn run(app: &App, args: &Args) -> Outcome {
    with_servers::run(app, args)
}

#[cfg(feature = "openai")]
mod with_servers {
    use dbagent::openai::providers;
    use serde_json::{Value, json};

    use super::Args;
    use crate::app::{App, Running};
    use crate::exit::{Exit, Outcome};
    use crate::format::{Column, Format, Grid, Layout, Text, safe_json};
    use crate::model::{Depth, Found, ServerState, look};

    /// One way to a language model.
    struct Way {
        what: String,
        state: String,
        setting: String,
    }

    pub(super) fn run(app: &App, args: &Args) -> Outcome {
        let config = app.config()?;
        let found = Running::new()?.run(async {
            let _busy = app.ui.busy("looking at the usual ports of this machine");
            Ok(look(Depth::Thorough).await)
        })?;
        let mut ways: Vec<Way> = config
            .settings
            .models
            .iter()
            .map(|(name, model)| Way {
                what: format!("[models.{name}]"),
                state: model.model.clone(),
                setting: format!("--model {name}"),
            })
            .collect();
        ways.extend(ways_of(&found));
        ways.push(Way {
            what: "offline planner".to_owned(),
            state: if cfg!(feature = "offline") { "needs nothing" } else { "not in this build" }.to_owned(),
            setting: "--model offline".to_owned(),
        });
        let mut out = app.stdout();
        let mut shortened = 0;
        match args.format {
            Format::Json => {
                out.line(safe_json(&Value::Array(ways.iter().map(as_json).collect()).to_string()))?;
            }
            Format::Jsonl => ways.iter().try_for_each(|w| out.line(safe_json(&as_json(w).to_string())))?,
            format => {
                let layout = if format == Format::Markdown { Layout::Markdown } else { Layout::Table };
                shortened = grid(&ways).write(&mut out, layout)?;
            }
        }
        out.flush()?;
        app.ui.shortened(shortened);
        let used = config.settings.model.as_deref().unwrap_or("offline, because nothing is configured");
        app.ui.note(&format!(
            "In use: {used}. To change it: --model MODEL, or model = \"MODEL\" in dbagent.toml."
        ));
        if found.servers.is_empty() {
            let places: Vec<String> = providers()
                .iter()
                .filter(|p| p.local)
                .map(|p| {
                    format!(
                        "{} ({})",
                        p.name,
                        p.base_url.trim_start_matches("http://").trim_end_matches("/v1")
                    )
                })
                .collect();
            app.ui
                .note(&format!("No model server answers on this machine. Looked for {}.", places.join(", ")));
        }
        Ok(Exit::Done)
    }

    fn ways_of(found: &Found) -> Vec<Way> {
        let mut ways = Vec::new();
        for server in &found.servers {
            let provider = server.provider;
            match &server.state {
                ServerState::Locked => ways.push(Way {
                    what: format!("{} at {}", provider.name, provider.base_url),
                    state: "wants a key".to_owned(),
                    setting: match provider.key_variable {
                        Some(variable) => format!("{variable}=… --model {}:MODEL", provider.id),
                        None => format!("--model {}:MODEL", provider.id),
                    },
                }),
                ServerState::Models(models) if models.is_empty() => ways.push(Way {
                    what: format!("{} at {}", provider.name, provider.base_url),
                    state: "has no model yet".to_owned(),
                    setting: String::new(),
                }),
                ServerState::Models(models) => ways.extend(models.iter().map(|model| Way {
                    what: format!("{} at {}", provider.name, provider.base_url),
                    state: model.clone(),
                    setting: format!("--model {}:{model}", provider.id),
                })),
            }
        }
        for (provider, variable) in &found.keys {
            ways.push(Way {
                what: provider.name.to_owned(),
                state: format!("{variable} is set"),
                setting: format!("--model {}:MODEL", provider.id),
            });
        }
        ways
    }

    fn grid(ways: &[Way]) -> Grid {
        let mut grid = Grid::new(vec![Column::left("where"), Column::left("what"), Column::left("setting")]);
        for way in ways {
            grid.row([Text::of(&way.what), Text::of(&way.state), Text::of(&way.setting)]);
        }
        grid
    }

    fn as_json(way: &Way) -> Value {
        json!({"where": way.what, "what": way.state, "setting": way.setting})
    }
}
