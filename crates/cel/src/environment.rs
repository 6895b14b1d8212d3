//! [`Environment`]: what expressions can use: a version of the language, variables and their sizes.

use crate::cel_type::Type;
use crate::check::scope::Scope;
use crate::check::{checker, literals};
use crate::cost::sizes::{SizeEstimator, UnknownSizes};
use crate::costing::estimator::estimate;
use crate::error::CompileError;
use crate::function::Function;
use crate::library;
use crate::plan::planner;
use crate::program::Program;
use crate::source::Source;
use crate::syntax::parser::{self, Syntax};
use std::sync::Arc;

/// The version with optional values.
const OPTIONALS: u32 = 28;
/// The version that validates literals.
const LITERALS: u32 = 29;
/// The version in which keywords can name fields.
const KEYWORD_FIELDS: u32 = 31;
/// The version with macros of two variables.
const TWO_VARIABLES: u32 = 32;
/// The version that sorts lists.
const SORTING: u32 = 34;

/// A Kubernetes version, which decides what the language has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u32);

impl Version {
    /// All that any version has: for expressions that were stored, perhaps by a newer server.
    pub const STORED: Self = Self(u32::MAX - 1);

    /// Returns version 1.`minor`.
    pub const fn minor(minor: u32) -> Self {
        Self(minor)
    }
}

/// What expressions can use. Clones share it.
#[derive(Debug, Clone)]
pub struct Environment {
    scope: Scope,
    syntax: Syntax,
    sizes: Arc<dyn SizeEstimator>,
}

impl Environment {
    /// Creates the environment of a version, without variables. It is built once and extended.
    pub fn new(version: Version) -> Self {
        let Version(minor) = version;
        let (functions, types) = library::of_version(minor);
        let scope = Scope {
            types: Arc::new(types),
            functions: Arc::new(functions),
            has_keyword_fields: minor >= KEYWORD_FIELDS,
            validates_literals: minor >= LITERALS,
            ..Scope::default()
        };
        let syntax = Syntax {
            has_optionals: minor >= OPTIONALS,
            has_two_variables: minor >= TWO_VARIABLES,
            has_sort_by: minor >= SORTING,
        };
        Self {
            scope,
            syntax,
            sizes: Arc::new(UnknownSizes),
        }
    }

    /// Returns this environment with more variables.
    pub fn extend<'n>(&self, variables: impl IntoIterator<Item = (&'n str, Type)>) -> Self {
        let mut extended = self.clone();
        extended.scope.variables.extend(
            variables
                .into_iter()
                .map(|(name, kind)| (name.into(), kind)),
        );
        extended
    }

    /// Returns this environment with more functions. Overloads of known functions are added to
    /// them.
    pub fn with_functions(&self, functions: impl IntoIterator<Item = Function>) -> Self {
        let mut extended = self.clone();
        let registry = Arc::make_mut(&mut extended.scope.functions);
        functions.into_iter().for_each(|it| registry.add(it));
        extended
    }

    /// Returns this environment with the messages and functions of patches: `Object{...}`,
    /// `JSONPatch{...}` and `jsonpatch.escapeKey`.
    pub fn with_patches(&self) -> Self {
        let mut extended = self.with_functions(library::patches::functions());
        extended.scope.has_patches = true;
        extended
    }

    /// Returns this environment with what estimates the sizes of variables.
    pub fn with_sizes(&self, sizes: impl SizeEstimator + 'static) -> Self {
        Self {
            sizes: Arc::new(sizes),
            ..self.clone()
        }
    }

    /// Returns this environment with a namespace in which names are looked up first.
    pub fn with_container(&self, container: &str) -> Self {
        let mut extended = self.clone();
        extended.scope.container = container.into();
        extended
    }

    /// Compiles an expression: parses it, checks its types, estimates its cost and plans it.
    ///
    /// # Errors
    /// What is wrong with the expression, in upstream's words.
    pub fn compile(&self, expression: &str) -> Result<Program, CompileError> {
        let ast = parser::parse(expression, self.syntax)?;
        let source = Source::new(expression);
        let checked = checker::check(&ast, &self.scope, &source)
            .map_err(|issues| CompileError::new(issues, &source))?;
        if self.scope.validates_literals {
            let issues = literals::validate(&ast, &checked, &source);
            if !issues.is_empty() {
                return Err(CompileError::new(issues, &source));
            }
        }
        let plan = planner::plan(&ast, &checked).map_err(CompileError::instantiation)?;
        let output = checked
            .types
            .get(ast.root as usize)
            .cloned()
            .unwrap_or(Type::Error);
        Ok(Program::new(
            plan,
            estimate(&ast, &checked, &*self.sizes),
            output,
            u32::from(ast.depth(ast.root).0),
        ))
    }
}
