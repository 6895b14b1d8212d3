//! `Setter`: a field of an apply configuration.

use super::rename::Serde;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Field, Fields, GenericArgument, Ident, Lit, LitStr,
    PathArguments, Type,
};

/// A setter, as a row of `apply_configuration!`.
pub(super) struct Setter {
    ident: Ident,
    pub(super) json: LitStr,
    form: Form,
    list: List,
}

/// What a setter takes.
enum Form {
    /// JSON, unchecked.
    Json,
    /// The metadata of a kind.
    Metadata(TokenStream),
    /// A field, or many of them: `field`, `text_list`, …; the type in it, and the whole type.
    Field(Ident, TokenStream, TokenStream),
}

/// How the list or map merges, as the transforms of its schema say.
#[derive(Default)]
enum List {
    #[default]
    Unset,
    Atomic,
    Set,
    Map(Vec<LitStr>),
}

impl Setter {
    /// Returns the setters of a struct with named fields.
    pub(super) fn all(input: &DeriveInput) -> Result<Vec<Self>, Error> {
        let Data::Struct(data) = &input.data else {
            return Err(Error::new_spanned(
                &input.ident,
                "a configuration is that of a struct",
            ));
        };
        let Fields::Named(fields) = &data.fields else {
            return Err(Error::new_spanned(
                &input.ident,
                "a configuration needs named fields",
            ));
        };
        let container = Serde::parse(&input.attrs)?;
        let setters = fields.named.iter().map(|it| Self::parse(&container, it));
        setters.filter_map(Result::transpose).collect()
    }

    fn parse(container: &Serde, field: &Field) -> Result<Option<Self>, Error> {
        let serde = Serde::parse(&field.attrs)?;
        let Some(ident) = field.ident.clone().filter(|_| !serde.is_skipped) else {
            return Ok(None);
        };
        if serde.is_flattened {
            let text = "an apply configuration cannot set flattened fields: it does not know \
                        their names";
            return Err(Error::new_spanned(field, text));
        }
        Ok(Some(Self {
            json: container.name_of(&serde, &ident.unraw().to_string())?,
            form: if is_json(&field.attrs)? {
                Form::Json
            } else {
                form(&field.ty)
            },
            list: List::parse(&field.attrs),
            ident,
        }))
    }

    pub(super) fn metadata(machinery: &TokenStream) -> Self {
        Self::made("metadata", Form::Metadata(machinery.clone()))
    }

    /// The spec or the status of a kind.
    pub(super) fn part(json: &str, ty: &TokenStream) -> Self {
        Self::made(
            json,
            Form::Field(format_ident!("field"), ty.clone(), ty.clone()),
        )
    }

    fn made(json: &str, form: Form) -> Self {
        Self {
            ident: format_ident!("{json}"),
            json: LitStr::new(json, proc_macro2::Span::call_site()),
            form,
            list: List::Unset,
        }
    }

    pub(super) fn row(&self) -> TokenStream {
        let Self { ident, json, .. } = self;
        match &self.form {
            Form::Json => quote!(raw #ident #json ();),
            Form::Metadata(machinery) => {
                quote!(config #ident #json #machinery::apply::ObjectMetaApply;)
            }
            Form::Field(form, inner, _) => quote!(#form #ident #json #inner;),
        }
    }

    pub(super) fn field_type(&self, apply: &TokenStream, wire: &TokenStream) -> TokenStream {
        match &self.form {
            Form::Json => quote!(#wire::FieldType::Message(&#wire::RAW_JSON)),
            Form::Metadata(machinery) => {
                quote!(#wire::FieldType::Message(&#machinery::OBJECT_META))
            }
            Form::Field(_, _, whole) => quote!(<#whole as #apply::ApplyField>::TYPE),
        }
    }

    pub(super) fn list(&self, wire: &TokenStream) -> TokenStream {
        match &self.list {
            List::Unset => quote!(#wire::ListType::Unset),
            List::Atomic => quote!(#wire::ListType::Atomic),
            List::Set => quote!(#wire::ListType::Set),
            List::Map(keys) => quote!(#wire::ListType::Map(&[#(#keys),*])),
        }
    }
}

impl List {
    /// Reads `#[schemars(transform = ListType::map("name"))]`.
    fn parse(attributes: &[Attribute]) -> Self {
        let mut found = Self::Unset;
        for attribute in attributes
            .iter()
            .filter(|it| it.path().is_ident("schemars"))
        {
            let metas = attribute.parse_args_with(
                syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated,
            );
            for meta in metas.into_iter().flatten() {
                if let syn::Meta::NameValue(pair) = &meta
                    && pair.path.is_ident("transform")
                    && let Some(list) = Self::of(&pair.value)
                {
                    found = list;
                }
            }
        }
        found
    }

    fn of(transform: &Expr) -> Option<Self> {
        match transform {
            Expr::MethodCall(call) if call.method == "and_key" => {
                let Self::Map(mut keys) = Self::of(&call.receiver)? else {
                    return None;
                };
                keys.extend(call.args.first().and_then(text));
                Some(Self::Map(keys))
            }
            Expr::Call(call) => {
                let Expr::Path(function) = &*call.func else {
                    return None;
                };
                let mut segments = function.path.segments.iter().rev();
                let (method, owner) = (segments.next()?, segments.next()?);
                match (owner.ident == "ListType")
                    .then(|| method.ident.to_string())?
                    .as_str()
                {
                    "map" => Some(Self::Map(
                        call.args.first().and_then(text).into_iter().collect(),
                    )),
                    "set" => Some(Self::Set),
                    "atomic" => Some(Self::Atomic),
                    _ => None,
                }
            }
            Expr::Path(path) => {
                let mut segments = path.path.segments.iter().rev();
                let (variant, owner) = (segments.next()?, segments.next()?);
                (owner.ident == "MapType" && variant.ident == "Atomic").then_some(Self::Atomic)
            }
            _ => None,
        }
    }
}

fn text(expression: &Expr) -> Option<LitStr> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Reports `#[apply(json)]`.
fn is_json(attributes: &[Attribute]) -> Result<bool, Error> {
    let mut found = false;
    for attribute in attributes.iter().filter(|it| it.path().is_ident("apply")) {
        attribute.parse_nested_meta(|meta| {
            found = meta.path.is_ident("json");
            found
                .then_some(())
                .ok_or_else(|| meta.error("expected `json`"))
        })?;
    }
    Ok(found)
}

/// Returns what the setter of a field of a type takes. Lists and maps are taken as iterators, text
/// as anything that becomes it.
fn form(whole: &Type) -> Form {
    let mut inner = whole;
    while let Some((_, Some(next))) = generic(inner, &["Option", "Box"]) {
        inner = next;
    }
    let mut suffix = "";
    if let Some((_, Some(item))) = generic(inner, &["Vec"]) {
        (inner, suffix) = (item, "_list");
    } else if let Some((_, Some(value))) = generic(inner, &["BTreeMap", "HashMap"]) {
        (inner, suffix) = (value, "_map");
    }
    let is_text = generic(inner, &["String", "Str"]).is_some();
    let form = if is_text { "text" } else { "field" };
    Form::Field(
        format_ident!("{form}{suffix}"),
        inner.to_token_stream(),
        whole.to_token_stream(),
    )
}

/// Returns the name of a type and its last argument, if it has one of these names.
fn generic<'a>(ty: &'a Type, names: &[&str]) -> Option<(&'a Ident, Option<&'a Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    names.iter().any(|name| last.ident == name).then(|| {
        let argument = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => {
                arguments.args.iter().rev().find_map(|it| match it {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
            }
            _ => None,
        };
        (&last.ident, argument)
    })
}
