//! Why definitions cannot be read, or types cannot be generated.

/// Why text has no definitions to generate from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is neither YAML nor JSON.
    #[error("not valid YAML: line {line} column {column}: {reason}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem.
        reason: String,
    },
    /// A definition has a value of the wrong type.
    #[error("document at line {line}: {reason}")]
    Invalid {
        /// The line at which the document begins, from 1.
        line: usize,
        /// The problem, with its path.
        reason: String,
    },
    /// A definition of `apiextensions.k8s.io/v1beta1`, which servers no longer accept.
    #[error(
        "document at line {line}: definitions of {api_version} are not supported; convert it to \
         apiextensions.k8s.io/v1"
    )]
    Version {
        /// The line at which the document begins, from 1.
        line: usize,
        /// The version that it has.
        api_version: String,
    },
}

/// Why types of a definition cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The definition lacks a name that the types need.
    #[error("{definition}: {field} is missing")]
    Incomplete {
        /// The definition.
        definition: String,
        /// The path of the field.
        field: &'static str,
    },
    /// A served version has no schema.
    #[error(
        "{definition}: version {version} has no schema; use `Unstructured` for objects of any form"
    )]
    NoSchema {
        /// The definition.
        definition: String,
        /// The version.
        version: String,
    },
    /// Two different definitions have a kind in common.
    #[error("two different definitions of {kind} in {group}/{version}; name one of them")]
    Duplicate {
        /// The group.
        group: String,
        /// The version.
        version: String,
        /// The kind.
        kind: String,
    },
    /// A version has more types than [`TYPES_MAX`](crate::TYPES_MAX).
    #[error(
        "{definition}: version {version} has more than {} types",
        crate::TYPES_MAX
    )]
    TooLarge {
        /// The definition.
        definition: String,
        /// The version.
        version: String,
    },
}
