//! A tool from a name, a description and an async closure over a type.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{Arguments, Tool, ToolContext, ToolError, ToolHints, ToolOutput, ToolSpec};

/// A tool over a closure; made by [`tool`].
pub struct TypedTool<A, F> {
    spec: ToolSpec,
    run: F,
    _arguments: PhantomData<fn(A)>,
}

/// Makes a tool whose arguments are read into `A`. The schema comes from `A`'s own documentation.
///
/// ```
/// use dbagent_core::tool::{tool, ToolHints, ToolOutput};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Rate {
///     /// Currency, such as EUR.
///     currency: String,
/// }
///
/// let rates = tool("exchange_rate", "Today's rate of a currency.", ToolHints::READ_ONLY, async |rate: Rate| {
///     Ok(ToolOutput::text(format!("1 {} = 1.08 USD", rate.currency)))
/// });
/// ```
pub fn tool<A, F, Fut>(name: &str, description: &str, hints: ToolHints, run: F) -> TypedTool<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    let parameters = schemars::schema_for!(A).to_value();
    let spec = ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: Arc::new(parameters),
        hints,
    };
    TypedTool { spec, run, _arguments: PhantomData }
}

#[async_trait]
impl<A, F, Fut> Tool for TypedTool<A, F>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(A) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _context: &ToolContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
        let value = arguments.json().to_value();
        let arguments = serde_json::from_value(value)
            .map_err(|e| ToolError::ForModel(format!("invalid arguments: {e}")))?;
        (self.run)(arguments).await
    }
}
