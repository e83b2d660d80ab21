//! Dialects that each misbehave in exactly one way: the fake document dialect behind a wrapper.

mod fixture;
mod session;

use dbagent_core::dialect::{OpenFn, ParseFn};
use dbagent_core::guard::{Finding, Parsed, Rule, StatementClass};
use dbagent_core::{
    Capabilities, Dialect, Effects, Error, ErrorKind, ObjectName, ParseContext, Request, Result, Support,
};
use dbagent_testkit::documents::{self, DIALECT};

pub(crate) use fixture::BrokenFixture;

macro_rules! faults {
    ($($fault:ident,)+) => {
        /// One way to misbehave.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Fault { $($fault,)+ }

        impl Fault {
            const ALL: &'static [Fault] = &[$(Fault::$fault,)+];

            fn of(number: u8) -> Fault {
                Self::ALL[usize::from(number)]
            }

            fn functions(self) -> (ParseFn, OpenFn) {
                match self {
                    $(Fault::$fault => (parse::<{ Fault::$fault as u8 }>, session::open::<{ Fault::$fault as u8 }>),)+
                }
            }
        }
    };
}

faults! {
    None,
    NotRegistered,
    RoundsNumbers,
    ForgetsNulls,
    ForgetsColumns,
    FlattensMixed,
    CutsNested,
    StopsAtTheCapQuietly,
    IgnoresStop,
    StopsAfterSomeRows,
    ShortensValues,
    CollectsFirst,
    GiantBatches,
    IgnoresTheCall,
    LeaksLanes,
    LeaksDroppedLanes,
    OneLane,
    EverythingIsAnEngineError,
    MissingColumnsAreNull,
    OpenFailsVaguely,
    ParserPanics,
    EngineWrites,
    ClearsWrites,
    ClearsCode,
    RefusesEverything,
    HidesObjects,
    HidesColumns,
    ViewsAreOpaque,
    CloseClosesAll,
    SkipsOddNames,
    TrimsNamesInCounts,
    CountsPages,
    ListsBackwards,
    DescribesInItsOwnOrder,
    KeepsOldLists,
    ClaimsForeignKeys,
    ClaimsComments,
    ClaimsNamespaces,
    TrimsParameters,
    EstimatesByRunning,
    EstimatesBlindly,
    PlansNothing,
    LeaksInErrors,
    LeaksInDescriptions,
    HasNoSample,
    DisclaimsCancellation,
    DisclaimsColumnRules,
    Blocks,
}

impl Fault {
    /// The dialect that misbehaves so.
    pub(crate) fn dialect(self) -> &'static Dialect {
        let (parse, open) = self.functions();
        let good = DIALECT;
        let mut can = *good.can();
        match self {
            Fault::ClaimsForeignKeys => can.foreign_keys = Support::Yes,
            Fault::ClaimsComments => can.comments = Support::Emulated,
            Fault::ClaimsNamespaces => can.namespaces = Support::Yes,
            Fault::EstimatesBlindly => can.estimate_rows = Support::Yes,
            Fault::PlansNothing => can.explain = Support::Yes,
            Fault::DisclaimsCancellation => can.cancel = Support::No,
            Fault::DisclaimsColumnRules => can.column_rules = Support::No,
            Fault::TrimsParameters => {
                can = Capabilities {
                    positional_parameters: Support::Yes,
                    named_parameters: Support::Yes,
                    ..can
                };
            }
            _ => {}
        }
        let id = if self == Fault::NotRegistered { "unregistered" } else { good.id() };
        let mut dialect = Dialect::new(id, parse, open)
            .schemes(&["documents"])
            .language("JSON")
            .credential_keys(good.known_credentials())
            .capabilities(can)
            .prompt(good.prompt_text())
            .verbs(good.own_verbs())
            .count(if self == Fault::TrimsNamesInCounts { count_trimmed } else { count });
        if self != Fault::HasNoSample {
            dialect = dialect.sample(|name| DIALECT.sample_request(name).unwrap());
        }
        Box::leak(Box::new(dialect))
    }
}

fn count(name: &ObjectName) -> Request {
    DIALECT.count_request(name).unwrap()
}

fn count_trimmed(name: &ObjectName) -> Request {
    count(&ObjectName::new(name.name.replace(['\'', '"', '\n'], "")))
}

fn parse<const F: u8>(request: &Request, context: &ParseContext) -> Result<Parsed> {
    let fault = Fault::of(F);
    let text = request.as_str();
    let read = || Parsed::new(StatementClass::Read, Effects::READ);
    match fault {
        Fault::ParserPanics if text.len() > 50_000 => panic!("on purpose"),
        Fault::TrimsParameters if text.contains("\"echo\"") => {
            let mut parsed = read();
            parsed.parameters.positional = usize::from(!text.contains("named"));
            parsed.parameters.named = text.contains("named").then(|| "v".to_owned()).into_iter().collect();
            return Ok(parsed);
        }
        Fault::RefusesEverything => {
            let mut parsed = read();
            parsed.findings.push(Finding::new(Rule::TooComplex, "no", None));
            return Ok(parsed);
        }
        _ => {}
    }
    let parsed = documents::parse(request, context);
    match fault {
        Fault::EverythingIsAnEngineError => {
            Ok(parsed.ok().filter(|p| p.findings.is_empty()).unwrap_or_else(read))
        }
        Fault::ClearsWrites => parsed.map(|p| if p.effects.is_pure_read() { p } else { read() }),
        Fault::ClearsCode => parsed.map(|p| {
            let code = p.findings.iter().any(|f| f.rule == Rule::ForbiddenFunction);
            if code { read() } else { p }
        }),
        Fault::HidesObjects => parsed.map(|mut p| {
            p.objects.clear();
            p.columns.clear();
            p
        }),
        Fault::HidesColumns => parsed.map(|mut p| {
            p.columns.clear();
            p
        }),
        _ => parsed,
    }
}

/// An error that says nothing of its kind.
fn vague(e: &Error) -> Error {
    Error::new(ErrorKind::Engine, e.message().to_owned())
}
