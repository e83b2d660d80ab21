//! The model servers that are known by name: plain data, so that a new one is one line.

use dbagent_core::model::{Actions, ModelProfile};

/// Whether a server wants an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyNeed {
    /// It refuses requests without one.
    Required,
    /// It takes one where it was started with one.
    Optional,
    /// It has none.
    None,
}

/// The field in which a server reads the most tokens of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LimitField {
    /// `max_tokens`, which nearly every server reads.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models insist on.
    MaxCompletionTokens,
}

/// A model server that is known by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Provider {
    /// The word before the colon of a model string.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Where its OpenAI-compatible interface is.
    pub base_url: &'static str,
    /// The environment variable that usually holds its key. Data for the host: this crate never reads
    /// the environment.
    pub key_variable: Option<&'static str>,
    /// Whether it wants a key.
    pub key: KeyNeed,
    /// Whether it runs on this machine by default.
    pub local: bool,
    /// Where it reads the most tokens of a reply.
    pub limit_field: LimitField,
    json_schema: bool,
    schema_with_tools: bool,
    replay_extras: bool,
    actions: Actions,
}

impl Provider {
    const fn cloud(
        id: &'static str,
        name: &'static str,
        base_url: &'static str,
        key_variable: &'static str,
    ) -> Self {
        Self {
            id,
            name,
            base_url,
            key_variable: Some(key_variable),
            key: KeyNeed::Required,
            local: false,
            limit_field: LimitField::MaxTokens,
            json_schema: true,
            schema_with_tools: false,
            replay_extras: false,
            actions: Actions::Native,
        }
    }

    const fn local(
        id: &'static str,
        name: &'static str,
        base_url: &'static str,
        key_variable: Option<&'static str>,
    ) -> Self {
        Self {
            key_variable,
            key: if key_variable.is_some() { KeyNeed::Optional } else { KeyNeed::None },
            local: true,
            ..Self::cloud(id, name, base_url, "")
        }
    }

    const fn without_json_schema(self) -> Self {
        Self { json_schema: false, ..self }
    }

    const fn replaying_extras(self) -> Self {
        Self { replay_extras: true, ..self }
    }

    /// What its models can do unless the host knows better.
    pub fn profile(&self) -> ModelProfile {
        ModelProfile {
            json_schema: self.json_schema,
            schema_with_tools: self.schema_with_tools,
            replay_extras: self.replay_extras,
            actions: self.actions,
            ..ModelProfile::default()
        }
    }
}

/// Reasoning that has to come back with its tool calls (`replaying_extras`) and a `response_format` that
/// is read (`json_schema`) are what the vendors document; the rest is the common ground of all of them.
static PROVIDERS: &[Provider] = &[
    Provider {
        limit_field: LimitField::MaxCompletionTokens,
        schema_with_tools: true,
        ..Provider::cloud("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    // Its compatible endpoint is for trying and comparing, says its vendor: no prompt caching, no
    // reasoning, several fields ignored.
    Provider::cloud("anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")
        .without_json_schema(),
    Provider::cloud(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
    )
    .replaying_extras(),
    Provider::cloud("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
        .replaying_extras(),
    Provider::cloud("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Provider::cloud("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Provider::cloud("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY")
        .without_json_schema()
        .replaying_extras(),
    Provider::cloud("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
    Provider::cloud("together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Provider::cloud("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    Provider::cloud("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    Provider {
        actions: Actions::Json,
        ..Provider::cloud("perplexity", "Perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY")
    },
    Provider::cloud("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN"),
    Provider::cloud("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    Provider::cloud("venice", "Venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY"),
    Provider::cloud("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY")
        .replaying_extras(),
    Provider::cloud(
        "dashscope",
        "Alibaba Model Studio",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
    ),
    Provider::cloud("zai", "Z.ai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    Provider::local("ollama", "Ollama", "http://localhost:11434/v1", None),
    Provider::local("lmstudio", "LM Studio", "http://localhost:1234/v1", Some("LM_API_TOKEN")),
    Provider::local("vllm", "vLLM", "http://localhost:8000/v1", Some("VLLM_API_KEY")),
    Provider::local("llamacpp", "llama.cpp", "http://localhost:8080/v1", Some("LLAMA_API_KEY")),
    Provider::local("sglang", "SGLang", "http://localhost:30000/v1", Some("SGLANG_API_KEY")),
    Provider::local("jan", "Jan", "http://localhost:1337/v1", Some("JAN_API_KEY")),
];

/// The model servers that are known by name, cloud ones first.
pub fn providers() -> &'static [Provider] {
    PROVIDERS
}

/// The one of that name.
pub fn provider(id: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|p| p.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        let mut ids: Vec<_> = PROVIDERS.iter().map(|p| p.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), PROVIDERS.len(), "an id twice");
        for p in PROVIDERS {
            let url = reqwest::Url::parse(p.base_url).unwrap();
            assert_eq!(crate::http::is_loopback(&url), p.local, "{}", p.id);
            assert_eq!(url.scheme(), if p.local { "http" } else { "https" }, "{}", p.id);
            assert!(!p.base_url.ends_with('/'), "{}", p.id);
            assert_eq!(p.key == KeyNeed::None, p.key_variable.is_none(), "{}", p.id);
        }
    }
}
