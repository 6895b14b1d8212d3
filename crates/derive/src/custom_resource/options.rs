//! Parses `#[custom_resource(...)]`.

mod arguments;

use self::arguments::{column, scale, validation};
use crate::names::{check_group, check_kind, check_label, check_path, plural_of};
use crate::object::Names;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, DeriveInput, Error, Ident, LitBool, LitInt, LitStr, Path, Token, Type, parenthesized,
};

/// What the attributes say.
pub(super) struct Options {
    pub(super) root: Ident,
    pub(super) krate: Path,
    pub(super) group: LitStr,
    pub(super) version: LitStr,
    pub(super) kind: LitStr,
    pub(super) plural: LitStr,
    pub(super) singular: LitStr,
    pub(super) namespaced: bool,
    /// Whether there are apply configurations.
    pub(super) apply: bool,
    pub(super) description: String,
    pub(super) status: Option<Type>,
    pub(super) derives: Vec<Path>,
    pub(super) short_names: Vec<LitStr>,
    pub(super) categories: Vec<LitStr>,
    pub(super) scale: Option<Scale>,
    pub(super) columns: Vec<Column>,
    pub(super) selectable: Vec<LitStr>,
    pub(super) validations: Vec<Validation>,
    pub(super) served: bool,
    pub(super) storage: bool,
    pub(super) deprecated: Deprecated,
    pub(super) annotations: Vec<(LitStr, LitStr)>,
    pub(super) labels: Vec<(LitStr, LitStr)>,
}

/// Whether the version is deprecated, and the warning.
#[derive(Default)]
pub(super) struct Deprecated {
    pub(super) is_deprecated: bool,
    pub(super) warning: Option<LitStr>,
}

/// The subresource `scale`.
pub(super) struct Scale {
    pub(super) spec_replicas: LitStr,
    pub(super) status_replicas: LitStr,
    pub(super) label_selector: Option<LitStr>,
}

/// A printer column.
pub(super) struct Column {
    pub(super) name: LitStr,
    pub(super) kind: LitStr,
    pub(super) format: LitStr,
    pub(super) description: LitStr,
    pub(super) priority: LitInt,
    pub(super) json_path: LitStr,
}

/// A CEL rule, as calls of a builder.
pub(super) struct Validation {
    pub(super) rule: LitStr,
    pub(super) texts: Vec<(Ident, LitStr)>,
    pub(super) optional_old_self: bool,
}

const KNOWN: &str = "expected one of: group, version, kind, plural, singular, root, namespaced, apply, \
    status, shortname, category, scale, printcolumn, selectable, validation, served, storage, \
    deprecated, annotation, label, derive, doc, crate";

/// The options as they are found.
#[derive(Default)]
struct Found {
    texts: Vec<(String, LitStr)>,
    flags: Vec<String>,
    bools: Vec<(String, bool)>,
    status: Option<Type>,
    krate: Option<Path>,
    derives: Vec<Path>,
    scale: Option<Scale>,
    columns: Vec<Column>,
    validations: Vec<Validation>,
    deprecated: Deprecated,
    annotations: Vec<(LitStr, LitStr)>,
    labels: Vec<(LitStr, LitStr)>,
}

impl Options {
    pub(super) fn parse(input: &DeriveInput) -> Result<Self, Error> {
        let mut found = Found::default();
        for attribute in input
            .attrs
            .iter()
            .filter(|it| it.path().is_ident("custom_resource"))
        {
            attribute.parse_args_with(|input: ParseStream<'_>| {
                while !input.is_empty() {
                    found.option(input)?;
                    comma(input)?;
                }
                Ok(())
            })?;
        }
        found.finish(input)
    }

    pub(super) fn api_version(&self) -> String {
        format!("{}/{}", self.group.value(), self.version.value())
    }

    /// Returns the names of the kind.
    pub(super) fn names(&self) -> Names {
        let list_kind = format!("{}List", self.kind.value());
        Names {
            root: self.root.clone(),
            krate: self.krate.clone(),
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            list_kind: LitStr::new(&list_kind, self.kind.span()),
            plural: self.plural.clone(),
            singular: self.singular.clone(),
            namespaced: self.namespaced,
        }
    }
}

impl Found {
    fn option(&mut self, input: ParseStream<'_>) -> Result<(), Error> {
        let word = input.call(Ident::parse_any)?;
        let name = word.to_string();
        match name.as_str() {
            "group" | "version" | "kind" | "plural" | "singular" | "root" | "doc" => {
                let text = value(input)?;
                if self.texts.iter().any(|(before, _)| *before == name) {
                    let text = format!("`{name}` is given twice");
                    return Err(Error::new(word.span(), text));
                }
                self.texts.push((name, text));
            }
            "shortname" | "category" | "selectable" => {
                let text = value(input)?;
                self.texts.push((name, text));
            }
            "namespaced" | "apply" => self.flags.push(name),
            "served" | "storage" => {
                input.parse::<Token![=]>()?;
                self.bools.push((name, input.parse::<LitBool>()?.value));
            }
            "status" => {
                input.parse::<Token![=]>()?;
                self.status = Some(quoted(input)?);
            }
            "crate" => {
                input.parse::<Token![=]>()?;
                self.krate = Some(input.call(Path::parse_mod_style)?);
            }
            "derive" => {
                input.parse::<Token![=]>()?;
                self.derives.push(input.parse::<LitStr>()?.parse()?);
            }
            "deprecated" => {
                let warning = input.peek(Token![=]).then(|| value(input));
                self.deprecated = Deprecated {
                    is_deprecated: true,
                    warning: warning.transpose()?,
                };
            }
            "annotation" => self.annotations.push(pair(input)?),
            "label" => self.labels.push(pair(input)?),
            "scale" => self.scale = Some(scale(input, word.span())?),
            "printcolumn" => self.columns.push(column(input, word.span())?),
            "validation" => self.validations.push(validation(input, word.span())?),
            _ => return Err(Error::new(word.span(), unknown(&name))),
        }
        Ok(())
    }

    fn one(&self, name: &str) -> Option<LitStr> {
        self.all(name).into_iter().next()
    }

    fn all(&self, name: &str) -> Vec<LitStr> {
        let found = self.texts.iter().filter(|(it, _)| it == name);
        found.map(|(_, text)| text.clone()).collect()
    }

    fn required(&self, name: &str, example: &str, input: &DeriveInput) -> Result<LitStr, Error> {
        self.one(name).ok_or_else(|| {
            let text = format!(
                "missing `{name}`: write `#[custom_resource(group = \"example.com\", version = \
                 \"v1\", kind = \"Fig\")]` with `{name} = \"{example}\"`"
            );
            Error::new_spanned(&input.ident, text)
        })
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        let found = self.bools.iter().rfind(|(it, _)| it == name);
        found.map_or(default, |(_, value)| *value)
    }

    fn finish(self, input: &DeriveInput) -> Result<Options, Error> {
        let group = self.required("group", "example.com", input)?;
        let version = self.required("version", "v1", input)?;
        let kind = self.required("kind", "Fig", input)?;
        check_group(&group)?;
        check_label(&version, "version", "v1beta1")?;
        check_kind(&kind)?;
        let lower = kind.value().to_lowercase();
        let or = |name: &str, text: String| {
            self.one(name)
                .unwrap_or_else(|| LitStr::new(&text, kind.span()))
        };
        let singular = or("singular", lower.clone());
        let plural = or("plural", plural_of(&lower));
        check_label(&singular, "singular name", "fig")?;
        check_label(&plural, "plural name", "figs")?;
        let selectable = self.all("selectable");
        selectable.iter().try_for_each(check_path)?;
        let root = or("root", kind.value());
        let root: Ident = root.parse().map_err(|_| {
            Error::new(
                root.span(),
                format!("{:?} is no name of a struct", root.value()),
            )
        })?;
        if root == input.ident {
            let text = format!(
                "the struct of the spec has the name of the generated kind: rename it to \
                 `{root}Spec`, or give the kind's struct another name with `root`"
            );
            return Err(Error::new_spanned(&input.ident, text));
        }
        Ok(Options {
            root,
            description: self
                .one("doc")
                .map_or_else(|| docs(&input.attrs), |it| it.value()),
            short_names: self.all("shortname"),
            categories: self.all("category"),
            apply: self.flags.iter().any(|it| it == "apply"),
            namespaced: self.flags.iter().any(|it| it == "namespaced"),
            served: self.flag("served", true),
            storage: self.flag("storage", true),
            krate: self
                .krate
                .unwrap_or_else(|| syn::parse_quote!(::kubist_custom_resource)),
            group,
            version,
            kind,
            plural,
            singular,
            selectable,
            status: self.status,
            derives: self.derives,
            scale: self.scale,
            columns: self.columns,
            validations: self.validations,
            deprecated: self.deprecated,
            annotations: self.annotations,
            labels: self.labels,
        })
    }
}

fn unknown(name: &str) -> String {
    match name {
        "apiextensions" | "schema" | "crates" => {
            format!("`{name}` is kube's; here, `crate = PATH` names the path to this crate")
        }
        "shortnames" | "short_names" => "write `shortname = \"fg\"`, once for each".to_owned(),
        "categories" => "write `category = \"all\"`, once for each".to_owned(),
        "no_spec" => "a kind without a spec cannot be derived; every kind has a `spec`".to_owned(),
        _ => format!("unknown option `{name}`; {KNOWN}"),
    }
}

fn comma(input: ParseStream<'_>) -> Result<(), Error> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

fn value(input: ParseStream<'_>) -> Result<LitStr, Error> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// Parses a type, with or without quotes.
fn quoted(input: ParseStream<'_>) -> Result<Type, Error> {
    if input.peek(LitStr) {
        input.parse::<LitStr>()?.parse()
    } else {
        input.parse()
    }
}

/// Parses `("name", "value")`.
fn pair(input: ParseStream<'_>) -> Result<(LitStr, LitStr), Error> {
    let inner;
    parenthesized!(inner in input);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?;
    let mut texts = texts.into_iter();
    match (texts.next(), texts.next(), texts.next()) {
        (Some(name), Some(value), None) => Ok((name, value)),
        _ => Err(inner.error("expected a name and a value, as in `(\"a\", \"b\")`")),
    }
}

/// Returns the documentation of the struct.
fn docs(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|it| it.path().is_ident("doc"));
    let lines = lines.filter_map(|it| match &it.meta {
        syn::Meta::NameValue(pair) => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines.map(|it| it.trim().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
