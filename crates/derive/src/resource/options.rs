//! Parses `#[resource(...)]` of the struct.

use crate::names::{check_group, check_kind, check_label, plural_of};
use crate::object::Names;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{DeriveInput, Error, Ident, LitStr, Path, Token};

const KNOWN: &str =
    "expected one of: group, version, kind, list_kind, plural, singular, namespaced, crate";

/// The options as they are found.
#[derive(Default)]
struct Found {
    texts: Vec<(String, LitStr)>,
    namespaced: bool,
    krate: Option<Path>,
}

/// Returns the names of the kind.
pub(super) fn parse(input: &DeriveInput) -> Result<Names, Error> {
    let mut found = Found::default();
    let attributes = input.attrs.iter();
    for attribute in attributes.filter(|it| it.path().is_ident("resource")) {
        attribute.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                found.option(input)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    }
    found.finish(input)
}

impl Found {
    fn option(&mut self, input: ParseStream<'_>) -> Result<(), Error> {
        let word = input.call(Ident::parse_any)?;
        let name = word.to_string();
        match name.as_str() {
            "group" | "version" | "kind" | "list_kind" | "plural" | "singular" => {
                input.parse::<Token![=]>()?;
                if self.text(&name).is_some() {
                    let text = format!("`{name}` is given twice");
                    return Err(Error::new(word.span(), text));
                }
                self.texts.push((name, input.parse()?));
            }
            "namespaced" => self.namespaced = true,
            "crate" => {
                input.parse::<Token![=]>()?;
                self.krate = Some(input.call(Path::parse_mod_style)?);
            }
            _ => {
                let text = format!("unknown option `{name}`; {KNOWN}");
                return Err(Error::new(word.span(), text));
            }
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<LitStr> {
        let mut texts = self.texts.iter();
        let found = texts.find(|(it, _)| it == name);
        found.map(|(_, text)| text.clone())
    }

    fn required(&self, name: &str, input: &DeriveInput) -> Result<LitStr, Error> {
        self.text(name).ok_or_else(|| {
            let text = format!(
                "missing `{name}`: write `#[resource(group = \"example.com\", version = \"v1\", \
                 kind = \"Fig\", namespaced)]`"
            );
            Error::new_spanned(&input.ident, text)
        })
    }

    fn finish(self, input: &DeriveInput) -> Result<Names, Error> {
        let group = self.required("group", input)?;
        let version = self.required("version", input)?;
        let kind = self.required("kind", input)?;
        check_group(&group)?;
        check_label(&version, "version", "v1beta1")?;
        check_kind(&kind)?;
        let lower = kind.value().to_lowercase();
        let or = |name: &str, text: String| {
            let found = self.text(name);
            found.unwrap_or_else(|| LitStr::new(&text, kind.span()))
        };
        let list_kind = or("list_kind", format!("{}List", kind.value()));
        let singular = or("singular", lower.clone());
        let plural = or("plural", plural_of(&lower));
        check_kind(&list_kind)?;
        check_label(&singular, "singular name", "fig")?;
        check_label(&plural, "plural name", "figs")?;
        Ok(Names {
            root: input.ident.clone(),
            krate: self
                .krate
                .unwrap_or_else(|| syn::parse_quote!(::kubist_custom_resource)),
            namespaced: self.namespaced,
            group,
            version,
            kind,
            list_kind,
            plural,
            singular,
        })
    }
}
