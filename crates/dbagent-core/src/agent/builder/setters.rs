//! What every kind of agent can be given, written once: the setters of [`AgentBuilder`], and a macro by which
//! the builders that hold one offer the same under the same names.

use std::sync::Arc;

use super::AgentBuilder;
use crate::tool::TraceContent;

macro_rules! setters {
    ($d:tt $($(#[doc = $doc:literal])+ $name:ident $([$($generics:tt)+])? ($self:ident $(, $arg:ident: $type:ty)?) $body:block)+) => {
        impl AgentBuilder {
            $($(#[doc = $doc])+
            pub fn $name $(<$($generics)+>)? (mut $self $(, $arg: $type)?) -> Self {
                $body
                $self
            })+
        }

        /// The setters of an agent, in the `impl` of a builder that holds an `AgentBuilder` in this field.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __agent_setters {
            ($d field:ident) => {
                $($(#[doc = $doc])+
                pub fn $name $(<$($generics)+>)? (mut self $(, $arg: $type)?) -> Self {
                    self.$d field = self.$d field.$name($($arg)?);
                    self
                })+
            };
        }
    };
}

// Types are named from the root of this crate as others see it: the same words are read there.
setters! { $
    /// Adds text to the system role, after the databases' own.
    system(self, text: impl Into<String>) { self.system.push(text.into()); }

    /// Adds a tool of the host.
    tool(self, tool: std::sync::Arc<dyn ::dbagent_core::tool::Tool>) { self.tools.push(tool); }

    /// Adds middleware.
    middleware(self, middleware: std::sync::Arc<dyn ::dbagent_core::middleware::Middleware>) {
        self.middleware.push(middleware);
    }

    /// Sets the budgets of each run.
    budgets(self, budgets: ::dbagent_core::budget::Budgets) { self.budgets = budgets; }

    /// Counts into these counters.
    metrics(self, metrics: ::dbagent_core::metrics::SessionMetrics) { self.metrics = metrics; }

    /// Sets what a million tokens cost, instead of what the model's profile says. Without either the cost of
    /// a call is unknown, unless its server says it.
    price(self, price: ::dbagent_core::metrics::Price) { self.price = Some(price); }

    /// Keeps threads there; in memory when not set.
    store(self, store: std::sync::Arc<dyn ::dbagent_core::store::Store>) { self.store = Some(store); }

    /// Asks for answers that fit a JSON schema; see [`Answer::structured`](::dbagent_core::Answer::structured).
    output(self, output: ::dbagent_core::OutputSchema) { self.output = Some(output); }

    /// Gives tools of the host an object by type.
    host_object[T: std::any::Any + Send + Sync](self, object: std::sync::Arc<T>) {
        self.host = self.host.with(object);
    }

    /// Lets traces hold the text of statements. Off by default: it may hold personal data. Rows, bound
    /// values and what people and models say never stand in traces.
    trace_content(self) { self.host = self.host.with(Arc::new(TraceContent)); }

    /// Sets how often and how patiently the model is asked again after failures that may pass.
    retry(self, policy: ::dbagent_core::model::RetryPolicy) { self.retry = policy; }

    /// Sets the sampling temperature; the server's default when not set.
    temperature(self, temperature: f32) { self.temperature = Some(temperature); }
}
