//! `DeleteOptions`: the options of a deletion, in a query or as the request body.
//!
//! Values are stored as received, because the body is an API message; [`DeleteOptions::checked`]
//! validates them into a [`Deletion`].

use crate::post_options::read_dry_run;
use crate::query::{OptionsError, Query, QueryPairs, push_some};
use crate::wire::{Field, FieldFlags as F, FieldType, JsonForm, KindFacts};
use crate::{FieldError, FieldPath, Str, message, schema};
use std::fmt;

/// The options of delete and deletecollection. By default, the server decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct DeleteOptions {
    /// The grace period in seconds; 0 deletes at once. Default: that of the kind.
    pub grace_period_seconds: Option<i64>,
    /// Preconditions on the object. Default: none.
    pub preconditions: Option<Box<Preconditions>>,
    /// Deprecated form of `propagation_policy`: whether dependents are orphaned.
    pub orphan_dependents: Option<bool>,
    /// What happens to dependents; see [`PropagationPolicy`]. Default: that of the kind.
    pub propagation_policy: Option<Str>,
    /// `All` for a dry run. Default: not a dry run.
    pub dry_run: Vec<Str>,
    /// Whether to delete an object that cannot be decoded. Default: no.
    pub ignore_store_read_error_with_cluster_breaking_potential: Option<bool>,
}

/// Preconditions; if one does not hold, the request is a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the API defines the fields")]
pub struct Preconditions {
    /// The required uid.
    pub uid: Option<Str>,
    /// The required resource version.
    pub resource_version: Option<Str>,
}

/// What happens to the dependents of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a server must handle each")]
pub enum PropagationPolicy {
    /// They are orphaned.
    Orphan,
    /// They are deleted after the owner.
    Background,
    /// They are deleted before the owner.
    Foreground,
}

/// Validated [`DeleteOptions`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deletion {
    /// The grace period in seconds.
    pub grace_period_seconds: Option<i64>,
    /// Preconditions on the object; empty for none.
    pub preconditions: Preconditions,
    /// What happens to dependents; may come from `orphanDependents`.
    pub propagation: Option<PropagationPolicy>,
    /// Whether this is a dry run.
    pub dry_run: bool,
    /// Whether to delete an object that cannot be decoded.
    pub ignore_read_error: bool,
}

schema!(pub PRECONDITIONS = "Preconditions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions", JsonForm::Object, None, [
    Field::new("uid", 1, FieldType::Str, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("resourceVersion", 2, FieldType::Str, F::OMIT_EMPTY.or(F::POINTER)),
]);

message!(Preconditions, PRECONDITIONS, [0 uid, 1 resource_version]);

const FACTS: KindFacts = KindFacts {
    group: "",
    version: "v1",
    kind: "DeleteOptions",
    api_version: "v1",
};

schema!(pub DELETE_OPTIONS = "DeleteOptions",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", JsonForm::Object, Some(FACTS), [
    Field::new("gracePeriodSeconds", 1, FieldType::I64, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("preconditions", 2, FieldType::Message(&PRECONDITIONS),
        F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("orphanDependents", 3, FieldType::Bool, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("propagationPolicy", 4, FieldType::Str, F::OMIT_EMPTY.or(F::POINTER)),
    Field::new("dryRun", 5, FieldType::StrList, F::OMIT_EMPTY),
    Field::new(IGNORE_READ_ERROR, 6, FieldType::Bool, F::OMIT_EMPTY.or(F::POINTER)),
]);

message!(DeleteOptions, DELETE_OPTIONS, [
    0 grace_period_seconds, 1 preconditions, 2 orphan_dependents, 3 propagation_policy, 4 dry_run,
    5 ignore_store_read_error_with_cluster_breaking_potential,
]);

const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";
const KIND: &str = "DeleteOptions";

impl PropagationPolicy {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orphan => "Orphan",
            Self::Background => "Background",
            Self::Foreground => "Foreground",
        }
    }

    /// Returns the policy with a name.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Orphan, Self::Background, Self::Foreground]
            .into_iter()
            .find(|policy| policy.as_str() == word)
    }
}

impl fmt::Display for PropagationPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl DeleteOptions {
    /// Returns options for an immediate deletion, without a grace period.
    pub fn now() -> Self {
        Self {
            grace_period_seconds: Some(0),
            ..Self::default()
        }
    }

    /// Sets the policy for dependents.
    #[must_use]
    pub fn with_propagation(mut self, policy: PropagationPolicy) -> Self {
        self.propagation_policy = Some(policy.as_str().into());
        self
    }

    /// Requires the object to have this uid.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<Str>) -> Self {
        self.preconditions.get_or_insert_default().uid = Some(uid.into());
        self
    }

    /// Requires the object to have this resource version.
    #[must_use]
    pub fn with_resource_version(mut self, version: impl Into<Str>) -> Self {
        self.preconditions.get_or_insert_default().resource_version = Some(version.into());
        self
    }

    /// Parses the decoded pairs of a query, which apply if the request has no body.
    pub fn from_query<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OptionsError> {
        let query = Query::new(pairs);
        let given = |key: &str| query.first(key).filter(|it| !it.is_empty()).cloned();
        let preconditions = Preconditions {
            uid: given("uid"),
            resource_version: given("resourceVersion"),
        };
        let some = preconditions != Preconditions::default();
        Ok(Self {
            grace_period_seconds: query.number("gracePeriodSeconds")?,
            preconditions: some.then(|| Box::new(preconditions)),
            orphan_dependents: query.flag("orphanDependents"),
            propagation_policy: query.first("propagationPolicy").cloned(),
            dry_run: query.all("dryRun"),
            ignore_store_read_error_with_cluster_breaking_potential: query.flag(IGNORE_READ_ERROR),
        })
    }

    /// Returns the options as query pairs.
    pub fn to_query(&self) -> QueryPairs {
        let mut pairs = QueryPairs::new();
        push_some(&mut pairs, "gracePeriodSeconds", self.grace_period_seconds);
        if let Some(preconditions) = &self.preconditions {
            push_some(&mut pairs, "uid", preconditions.uid.as_ref());
            push_some(
                &mut pairs,
                "resourceVersion",
                preconditions.resource_version.as_ref(),
            );
        }
        push_some(&mut pairs, "orphanDependents", self.orphan_dependents);
        push_some(
            &mut pairs,
            "propagationPolicy",
            self.propagation_policy.as_ref(),
        );
        for stage in &self.dry_run {
            push_some(&mut pairs, "dryRun", Some(stage));
        }
        let ignore = self.ignore_store_read_error_with_cluster_breaking_potential;
        push_some(&mut pairs, IGNORE_READ_ERROR, ignore);
        pairs
    }

    /// Validates the options.
    pub fn checked(&self) -> Result<Deletion, OptionsError> {
        let mut errors = Vec::new();
        let path = FieldPath::new("propagationPolicy");
        let word = self.propagation_policy.as_ref();
        if let (Some(word), Some(_)) = (word, self.orphan_dependents) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(&path, word, detail));
        }
        let policy = word.and_then(|word| PropagationPolicy::from_word(word));
        if let (Some(word), None) = (word, policy) {
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(FieldError::not_supported(&path, word, &supported));
        }
        let dry_run = read_dry_run(&self.dry_run, &mut errors);
        let ignore_read_error = self
            .ignore_store_read_error_with_cluster_breaking_potential
            .unwrap_or(false);
        if ignore_read_error {
            self.check_ignore_read_error(&mut errors);
        }
        OptionsError::check(KIND, errors)?;
        let orphan = self.orphan_dependents.map(|orphan| {
            if orphan {
                PropagationPolicy::Orphan
            } else {
                PropagationPolicy::Background
            }
        });
        Ok(Deletion {
            grace_period_seconds: self.grace_period_seconds,
            preconditions: self.preconditions.as_deref().cloned().unwrap_or_default(),
            propagation: policy.or(orphan),
            dry_run,
            ignore_read_error,
        })
    }

    /// The other options cannot apply to an object that cannot be decoded.
    fn check_ignore_read_error(&self, errors: &mut Vec<FieldError>) {
        let path = FieldPath::new(IGNORE_READ_ERROR);
        let others = [
            (!self.dry_run.is_empty(), "dryRun"),
            (self.propagation_policy.is_some(), "propagationPolicy"),
            (self.orphan_dependents.is_some(), "orphanDependents"),
            (self.grace_period_seconds.is_some(), "gracePeriodSeconds"),
            (self.preconditions.is_some(), "preconditions"),
        ];
        for (_, name) in others.into_iter().filter(|(given, _)| *given) {
            let detail = format!("cannot be set together with .{name}");
            errors.push(FieldError::invalid(&path, true, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{DecodeContext, Wire};

    fn checked(pairs: &[(&str, &str)]) -> Result<Deletion, (i32, String)> {
        let options = DeleteOptions::from_query(pairs.iter().copied());
        options
            .and_then(|options| options.checked())
            .map_err(|error| {
                let status = error.to_status();
                (status.code, status.message.to_string())
            })
    }

    #[test]
    fn queries_are_read_and_written() {
        let query = [
            ("gracePeriodSeconds", "5"),
            ("uid", "u"),
            ("resourceVersion", "7"),
            ("propagationPolicy", "Foreground"),
            ("dryRun", "All"),
        ];
        let options = DeleteOptions::from_query(query).expect("they are fine");
        let written = options.to_query();
        assert!(
            written
                .iter()
                .map(|(key, value)| (*key, value.as_str()))
                .eq(query)
        );
        let deletion = options.checked().expect("they are fine");
        assert_eq!(deletion.propagation, Some(PropagationPolicy::Foreground));
        assert_eq!(
            (deletion.grace_period_seconds, deletion.dry_run),
            (Some(5), true)
        );
        assert_eq!(deletion.preconditions.uid.as_deref(), Some("u"));
        assert_eq!(DeleteOptions::default().to_query(), []);
        let built = DeleteOptions {
            grace_period_seconds: Some(5),
            ..DeleteOptions::default()
        }
        .with_uid("u")
        .with_resource_version("7")
        .with_propagation(PropagationPolicy::Foreground);
        assert_eq!(
            DeleteOptions {
                dry_run: vec!["All".into()],
                ..built
            },
            options
        );
        assert_eq!(DeleteOptions::now().grace_period_seconds, Some(0));
    }

    #[test]
    fn the_older_form_of_the_policy_is_understood() {
        let propagation = |value| checked(&[("orphanDependents", value)]).map(|it| it.propagation);
        assert_eq!(propagation("true"), Ok(Some(PropagationPolicy::Orphan)));
        assert_eq!(
            propagation("false"),
            Ok(Some(PropagationPolicy::Background))
        );
        assert_eq!(checked(&[]).map(|it| it.propagation), Ok(None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (pairs, expected) in [
            (
                &[("propagationPolicy", "Foo")][..],
                "propagationPolicy: Unsupported value: \"Foo\": supported values: \"Foreground\", \
                 \"Background\", \"Orphan\", \"nil\"",
            ),
            (
                &[
                    ("propagationPolicy", "Orphan"),
                    ("orphanDependents", "true"),
                ],
                "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and \
                 deletionPropagation cannot be both set",
            ),
            (
                &[("dryRun", "All"), ("dryRun", "Some")],
                "dryRun: Unsupported value: [\"All\",\"Some\"]: supported values: \"All\"",
            ),
            (
                &[(IGNORE_READ_ERROR, "true"), ("dryRun", "All")],
                "ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be \
                 set together with .dryRun",
            ),
        ] {
            let message = format!("DeleteOptions.meta.k8s.io \"\" is invalid: {expected}");
            assert_eq!(checked(pairs), Err((422, message)));
        }
        let message = "strconv.ParseInt: parsing \"x\": invalid syntax".to_owned();
        assert_eq!(checked(&[("gracePeriodSeconds", "x")]), Err((400, message)));
    }

    #[test]
    fn a_body_says_the_same() {
        let json = concat!(
            r#"{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"#,
            r#""preconditions":{"uid":"u"},"propagationPolicy":"Orphan"}"#
        );
        let cx = &mut DecodeContext::new();
        let options = DeleteOptions::from_json(json.as_bytes(), cx).expect("it is valid");
        let expected = DeleteOptions::now()
            .with_uid("u")
            .with_propagation(PropagationPolicy::Orphan);
        assert_eq!(options, expected);
        assert_eq!(String::from_utf8(options.to_json()).as_deref(), Ok(json));
        assert_eq!(
            DeleteOptions::from_protobuf(&options.to_protobuf(), cx),
            Ok(options)
        );
    }
}
