//! `PostOptions` and `PatchOptions`: the options of create, update and patch.
//!
//! Upstream has an identical type for each verb. Here create and update share one; only the kind
//! named in errors differs. Options that exist are valid.

use crate::go_text::is_print;
use crate::query::{OptionsError, Query, QueryPairs, push_some, push_text};
use crate::{BadValue, FieldError, FieldPath, Str};
use std::fmt;

/// The options of create and update, also part of patch options. By default, changes are stored.
///
/// ```
/// use kubist_apimachinery::{PostOptions, WriteVerb};
/// let options = PostOptions::from_query(WriteVerb::Create, [("dryRun", "All")])?;
/// assert!(options.dry_run);
/// # Ok::<(), kubist_apimachinery::OptionsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers fill it in; the API defines the fields"
)]
pub struct PostOptions {
    /// Whether this is a dry run. Default: no.
    pub dry_run: bool,
    /// The field manager, at most 128 bytes. Default: unset, the server derives it from the user
    /// agent.
    pub field_manager: Str,
    /// How unknown and duplicate fields are handled. Default: the server decides (it warns).
    pub field_validation: Option<FieldValidation>,
}

/// Options of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "callers fill it in; the API defines the fields"
)]
pub struct PatchOptions {
    /// The options shared by all writes.
    pub post: PostOptions,
    /// Whether an apply takes over fields of other managers. Only for apply. Default: unset.
    pub force: Option<bool>,
}

/// How a server handles unknown and duplicate fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a server must handle each")]
pub enum FieldValidation {
    /// It drops them.
    Ignore,
    /// It drops them and sends a warning.
    Warn,
    /// It refuses the request.
    Strict,
}

/// The verb that the options belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there are no other verbs that write a body"
)]
pub enum WriteVerb {
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH, other than apply.
    Patch,
    /// PATCH with an apply configuration: `fieldManager` is required, `force` allowed.
    Apply,
}

/// The longest `fieldManager`, in bytes.
pub const FIELD_MANAGER_LENGTH_MAX: usize = 128;

impl FieldValidation {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

impl fmt::Display for FieldValidation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PostOptions {
    /// Parses the decoded query pairs of a create or an update.
    pub fn from_query<K: AsRef<str>, V: AsRef<str>>(
        verb: WriteVerb,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OptionsError> {
        Ok(PatchOptions::read(verb, &Query::new(pairs))?.post)
    }

    /// Returns the options as query pairs.
    pub fn to_query(&self) -> QueryPairs {
        let mut pairs = QueryPairs::new();
        push_some(&mut pairs, "dryRun", self.dry_run.then_some("All"));
        push_text(&mut pairs, "fieldManager", &self.field_manager);
        push_some(&mut pairs, "fieldValidation", self.field_validation);
        pairs
    }
}

impl PatchOptions {
    /// Returns the options of an apply by a field manager, a short fixed name of the applier.
    ///
    /// ```
    /// use kubist_apimachinery::PatchOptions;
    /// assert_eq!(PatchOptions::managed_by("scaler").post.field_manager, "scaler");
    /// ```
    pub fn managed_by(field_manager: impl Into<Str>) -> Self {
        let mut options = Self::default();
        options.post.field_manager = field_manager.into();
        options
    }

    /// Parses the decoded query pairs of a patch.
    pub fn from_query<K: AsRef<str>, V: AsRef<str>>(
        verb: WriteVerb,
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OptionsError> {
        Self::read(verb, &Query::new(pairs))
    }

    /// Returns the options as query pairs.
    pub fn to_query(&self) -> QueryPairs {
        let mut pairs = self.post.to_query();
        push_some(&mut pairs, "force", self.force);
        pairs
    }

    fn read(verb: WriteVerb, query: &Query) -> Result<Self, OptionsError> {
        let mut errors = Vec::new();
        let field_manager = query.text("fieldManager");
        let force = match verb {
            WriteVerb::Create | WriteVerb::Update => None,
            WriteVerb::Patch | WriteVerb::Apply => query.flag("force"),
        };
        if verb == WriteVerb::Apply && field_manager.is_empty() {
            let path = FieldPath::new("fieldManager");
            errors.push(FieldError::required(&path, "is required for apply patch"));
        }
        if verb != WriteVerb::Apply && force.is_some() {
            let path = FieldPath::new("force");
            errors.push(FieldError::forbidden(
                &path,
                "may not be specified for non-apply patch",
            ));
        }
        errors.extend(field_manager_errors(
            &field_manager,
            &FieldPath::new("fieldManager"),
        ));
        let dry_run = read_dry_run(&query.all("dryRun"), &mut errors);
        let field_validation = read_field_validation(&query.text("fieldValidation"), &mut errors);
        OptionsError::check(verb.kind(), errors)?;
        Ok(Self {
            post: PostOptions {
                dry_run,
                field_manager,
                field_validation,
            },
            force,
        })
    }
}

impl WriteVerb {
    fn kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Patch | Self::Apply => "PatchOptions",
        }
    }
}

/// Reports whether a write is a dry run. `All` is the only stage.
pub(crate) fn read_dry_run(stages: &[Str], errors: &mut Vec<FieldError>) -> bool {
    if stages.iter().any(|stage| *stage != "All") {
        let path = FieldPath::new("dryRun");
        errors.push(FieldError::not_supported(
            &path,
            BadValue::json(stages),
            &["All"],
        ));
    }
    !stages.is_empty()
}

/// Returns the errors of the name of a field manager: it is too long, or has characters that cannot
/// be printed.
pub fn field_manager_errors(field_manager: &Str, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if field_manager.len() > FIELD_MANAGER_LENGTH_MAX {
        errors.push(FieldError::too_long(path, FIELD_MANAGER_LENGTH_MAX));
    }
    for (index, c) in field_manager.char_indices().filter(|&(_, c)| !is_print(c)) {
        let detail = format!(
            "invalid character U+{:04X} (at position {index})",
            u32::from(c)
        );
        errors.push(FieldError::invalid(path, field_manager, detail));
    }
    errors
}

fn read_field_validation(word: &str, errors: &mut Vec<FieldError>) -> Option<FieldValidation> {
    match word {
        "" => None,
        "Ignore" => Some(FieldValidation::Ignore),
        "Warn" => Some(FieldValidation::Warn),
        "Strict" => Some(FieldValidation::Strict),
        _ => {
            let path = FieldPath::new("fieldValidation");
            let supported = ["", "Ignore", "Strict", "Warn"];
            errors.push(FieldError::not_supported(&path, word, &supported));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verb: WriteVerb, pairs: &[(&str, &str)]) -> Result<PatchOptions, String> {
        PatchOptions::from_query(verb, pairs.iter().copied())
            .map_err(|error| error.to_status().message.to_string())
    }

    #[test]
    fn queries_are_read_and_written() {
        let query = [
            ("dryRun", "All"),
            ("fieldManager", "kubist"),
            ("fieldValidation", "Strict"),
            ("force", "true"),
        ];
        let options = read(WriteVerb::Apply, &query).expect("they are fine");
        let written = options.to_query();
        assert!(
            written
                .iter()
                .map(|(key, value)| (*key, value.as_str()))
                .eq(query)
        );
        assert_eq!(PatchOptions::default().to_query(), []);
        assert_eq!(
            read(WriteVerb::Create, &[("force", "1")]),
            Ok(PatchOptions::default())
        );
        for word in ["Ignore", "Warn", "Strict"] {
            let options = PostOptions::from_query(WriteVerb::Update, [("fieldValidation", word)]);
            let validation = options.ok().and_then(|it| it.field_validation);
            assert_eq!(validation.map(FieldValidation::as_str), Some(word));
        }
    }

    #[test]
    fn what_breaks_rules_is_named() {
        let long = "a".repeat(129);
        for (verb, pair, expected) in [
            (
                WriteVerb::Create,
                ("dryRun", "Some"),
                "Create: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"",
            ),
            (
                WriteVerb::Update,
                ("dryRun", ""),
                "Update: dryRun: Unsupported value: [\"\"]: supported values: \"All\"",
            ),
            (
                WriteVerb::Create,
                ("fieldManager", "\u{1}"),
                "Create: fieldManager: Invalid value: \"\\x01\": invalid character U+0001 (at \
                 position 0)",
            ),
            (
                WriteVerb::Create,
                ("fieldManager", &long),
                "Create: fieldManager: Too long: may not be more than 128 bytes",
            ),
            (
                WriteVerb::Patch,
                ("fieldValidation", "Foo"),
                "Patch: fieldValidation: Unsupported value: \"Foo\": supported values: \"\", \
                 \"Ignore\", \"Strict\", \"Warn\"",
            ),
            (
                WriteVerb::Patch,
                ("force", "true"),
                "Patch: force: Forbidden: may not be specified for non-apply patch",
            ),
            (
                WriteVerb::Apply,
                ("force", "true"),
                "Patch: fieldManager: Required value: is required for apply patch",
            ),
        ] {
            let expected = expected.replacen(": ", "Options.meta.k8s.io \"\" is invalid: ", 1);
            assert_eq!(read(verb, &[pair]), Err(expected));
        }
    }
}
