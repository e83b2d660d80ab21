//! The engine: collections in one JSON file, and connections that read or also write.
//!
//! It knows nothing of the guard. A connection that was opened for reading refuses writes by itself, which
//! is what `read_only_session` means.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use dbagent_core::json::{Json, JsonLimits};
use dbagent_core::text::near_misses;
use dbagent_core::{Error, ErrorKind, Request, Result, Secret};

use super::language::{Command, Path};
use super::run::{self, Documents, Stop};

/// A file may be larger than a request.
const FILE_LIMITS: JsonLimits = JsonLimits { bytes: 64 << 20, depth: 120 };

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads. The engine refuses everything else.
    ReadOnly,
    /// Reads and writes.
    ReadWrite,
}

/// A connection of the engine, beside every session and every guard: for preparing data, and for showing
/// what the engine itself refuses.
#[derive(Debug, Clone)]
pub struct Connection {
    file: PathBuf,
    mode: Mode,
}

/// What a command came to.
pub(super) enum Ran {
    Documents(Vec<String>, Documents),
    Changed,
}

/// Everything in the file, as it was when it was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Store {
    token: Option<Secret>,
    pub(super) collections: BTreeMap<String, Collection>,
}

#[derive(Debug, Clone)]
pub(super) enum Collection {
    Documents(Arc<Vec<Json>>),
    /// Documents `{"n": 1}`, `{"n": 2}` and so on, without end where there is none.
    Sequence(Option<u64>),
}

impl Connection {
    /// Opens a file. The token must be the one that the file asks for, if it asks.
    ///
    /// # Errors
    /// [`ErrorKind::DatabaseNotFound`], [`ErrorKind::IsDirectory`], [`ErrorKind::NotADatabase`],
    /// [`ErrorKind::Authentication`].
    pub fn open(file: impl AsRef<FilePath>, token: Option<&Secret>, mode: Mode) -> Result<Self> {
        let file = file.as_ref().to_owned();
        let store = Store::load(&file)?;
        if let Some(wanted) = &store.token
            && token != Some(wanted)
        {
            return Err(Error::new(ErrorKind::Authentication, "the token is missing or wrong")
                .op("open")
                .hint("give the credential token"));
        }
        Ok(Self { file, mode })
    }

    /// Runs one request to its end and throws its documents away.
    ///
    /// # Errors
    /// What the engine says; [`ErrorKind::Permission`] for a write on a connection for reading.
    pub fn execute(&self, request: &Request) -> Result<()> {
        match self.run(request, Arc::new(|| None))? {
            Ran::Changed => Ok(()),
            Ran::Documents(_, documents) => {
                documents.into_iter().try_for_each(|document| document.map(|_| ()))
            }
        }
    }

    /// Runs one request. `stop` is asked between documents whether to go on.
    pub(super) fn run(&self, request: &Request, stop: Stop) -> Result<Ran> {
        let (_, command) = super::command(request, FILE_LIMITS)?;
        let command = command.map_err(|finding| Error::new(ErrorKind::Syntax, finding.message).op("read"))?;
        let mut store = self.store()?;
        if let Command::Read { collection, stages } = &command {
            let (columns, documents) = run::pipeline(&store, collection, stages, &stop)?;
            let Some(into) = run::out(stages) else { return Ok(Ran::Documents(columns, documents)) };
            self.writes()?;
            let written: Vec<Json> = documents.collect::<Result<_>>()?;
            store.collections.insert(into.to_owned(), Collection::Documents(Arc::new(written)));
        } else {
            self.writes()?;
            store.change(command)?;
        }
        store.save(&self.file)?;
        Ok(Ran::Changed)
    }

    pub(super) fn store(&self) -> Result<Store> {
        Store::load(&self.file)
    }

    fn writes(&self) -> Result<()> {
        if self.mode == Mode::ReadWrite {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Permission, "the connection is open for reading only").code("read_only"))
    }
}

impl Store {
    fn load(file: &FilePath) -> Result<Self> {
        let failed = |kind, message: &str| Error::new(kind, message).op("open").with("file", file.display());
        if file.is_dir() {
            return Err(failed(ErrorKind::IsDirectory, "a folder is there where a file is needed"));
        }
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(failed(ErrorKind::DatabaseNotFound, "there is no such file").source(e));
            }
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                return Err(failed(ErrorKind::NotADatabase, "the file is not text").source(e));
            }
            Err(e) => return Err(failed(ErrorKind::Io, "the file cannot be read").source(e)),
        };
        Json::parse(&text, FILE_LIMITS).ok().and_then(|json| Self::from_json(&json)).ok_or_else(|| {
            failed(ErrorKind::NotADatabase, "the file holds no collections")
                .hint("it must be {\"collections\": {…}}")
        })
    }

    fn from_json(json: &Json) -> Option<Self> {
        let mut collections = BTreeMap::new();
        for (name, value) in json.get("collections")?.as_object()? {
            let collection = match (value.get("documents"), value.get("sequence")) {
                (Some(documents), None) => Collection::Documents(Arc::new(documents.as_array()?.to_vec())),
                (None, Some(Json::Null)) => Collection::Sequence(None),
                (None, Some(end)) => Collection::Sequence(Some(end.as_u64()?)),
                _ => return None,
            };
            collections.insert(name.clone(), collection);
        }
        let token = json.get("token").map(|t| t.as_str().map(Secret::new));
        Some(Self { token: token.unwrap_or_default(), collections })
    }

    pub(super) fn save(&self, file: &FilePath) -> Result<()> {
        let collections = self.collections.iter().map(|(name, collection)| {
            let content = match collection {
                Collection::Documents(documents) => ("documents", Json::Array(documents.to_vec())),
                Collection::Sequence(end) => {
                    ("sequence", end.map_or(Json::Null, |n| Json::Number(n.to_string())))
                }
            };
            (name.clone(), Json::Object(vec![(content.0.to_owned(), content.1)]))
        });
        let mut members = vec![("collections".to_owned(), Json::Object(collections.collect()))];
        if let Some(token) = &self.token {
            members.push(("token".to_owned(), Json::String(token.expose().to_owned())));
        }
        std::fs::write(file, Json::Object(members).to_string()).map_err(|e| {
            Error::new(ErrorKind::Io, "the file cannot be written").with("file", file.display()).source(e)
        })
    }

    pub(super) fn collection(&self, name: &str) -> Result<&Collection> {
        self.collections.get(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::UnknownObject, format!("there is no collection {name:?}"));
            let near = near_misses(name, self.collections.keys().map(String::as_str), 3);
            if near.is_empty() { error } else { error.hint(format!("near: {}", near.join(", "))) }
        })
    }

    fn change(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Insert { collection, documents } => {
                let mut all = self.documents(&collection)?;
                all.extend(documents);
                self.collections.insert(collection, Collection::Documents(Arc::new(all)));
            }
            Command::Update { collection, filter, set } => {
                let mut all = self.documents(&collection)?;
                for document in all.iter_mut().filter(|document| run::holds(document, &filter)) {
                    let Json::Object(members) = document else { continue };
                    members.retain(|(key, _)| !set.iter().any(|(changed, _)| changed == key));
                    members.extend(set.iter().cloned());
                }
                self.collections.insert(collection, Collection::Documents(Arc::new(all)));
            }
            Command::Delete { collection, filter } => {
                let mut all = self.documents(&collection)?;
                all.retain(|document| !run::holds(document, &filter));
                self.collections.insert(collection, Collection::Documents(Arc::new(all)));
            }
            Command::Create { collection } => {
                self.collections.entry(collection).or_insert_with(|| Collection::Documents(Arc::default()));
            }
            Command::Drop { collection } => {
                self.collection(&collection)?;
                self.collections.remove(&collection);
            }
            // Reads change nothing; those that write their result are handled where they run.
            Command::Read { .. } => {}
        }
        Ok(())
    }

    fn documents(&self, collection: &str) -> Result<Vec<Json>> {
        match self.collections.get(collection) {
            Some(Collection::Documents(documents)) => Ok(documents.to_vec()),
            Some(Collection::Sequence(_)) => {
                Err(Error::new(ErrorKind::Unsupported, "a sequence cannot be changed"))
            }
            None => Ok(Vec::new()),
        }
    }
}

/// The values at a path; a list on the way stands for each of its items.
pub(super) fn values<'a>(document: &'a Json, path: &Path) -> Vec<&'a Json> {
    // A projection may have made a field whose name holds the dots.
    if let Some(value) = document.get(&path.to_string()) {
        return vec![value];
    }
    let mut found = vec![document];
    for part in &path.0 {
        let items = found.into_iter().flat_map(|value| match value {
            Json::Array(items) => items.iter().collect::<Vec<_>>(),
            other => vec![other],
        });
        found = items.filter_map(|value| value.get(part)).collect();
    }
    found
}
