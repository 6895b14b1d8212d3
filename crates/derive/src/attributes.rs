//! Parses the attributes of a projection.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Path, Token, Type};

/// A struct with the derive.
pub(crate) struct Projected {
    pub(crate) name: Ident,
    pub(crate) of: Of,
    /// The path of `kubist-apimachinery`.
    pub(crate) krate: Path,
    pub(crate) fields: Vec<Field>,
}

/// The type that is projected.
pub(crate) enum Of {
    Kind(Type),
    Message(Type),
}

/// A field and its path in the kind.
pub(crate) struct Field {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) path: LitStr,
    pub(crate) is_metadata: bool,
}

impl Projected {
    pub(crate) fn parse(input: &DeriveInput) -> Result<Self, Error> {
        if !input.generics.params.is_empty() {
            let text = "a projection cannot have type parameters";
            return Err(Error::new_spanned(&input.generics, text));
        }
        let (of, krate) = container(input)?;
        let Data::Struct(data) = &input.data else {
            return Err(Error::new_spanned(&input.ident, "a projection is a struct"));
        };
        let Fields::Named(fields) = &data.fields else {
            let text = "a projection must be a struct with named fields";
            return Err(Error::new_spanned(&input.ident, text));
        };
        let fields = fields.named.iter().map(Field::parse);
        Ok(Self {
            name: input.ident.clone(),
            of,
            krate,
            fields: fields.collect::<Result<_, _>>()?,
        })
    }
}

/// Parses the attribute of the struct.
fn container(input: &DeriveInput) -> Result<(Of, Path), Error> {
    let (mut of, mut krate) = (None, None);
    for attribute in ours(&input.attrs) {
        attribute.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                let word = input.call(Ident::parse_any)?;
                input.parse::<Token![=]>()?;
                match word.to_string().as_str() {
                    "of" => of = Some(Of::Kind(input.parse()?)),
                    "part_of" => of = Some(Of::Message(input.parse()?)),
                    "crate" => krate = Some(input.call(Path::parse_mod_style)?),
                    _ => {
                        let text = "expected `of = KIND`, `part_of = MESSAGE` or `crate = PATH`";
                        return Err(Error::new(word.span(), text));
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    }
    let of = of.ok_or_else(|| {
        let text = "missing kind: write `#[projection(of = Pod)]`, or `part_of` for a message";
        Error::new_spanned(&input.ident, text)
    })?;
    let krate = krate.unwrap_or_else(|| syn::parse_quote!(::kubist_apimachinery));
    Ok((of, krate))
}

impl Field {
    fn parse(field: &syn::Field) -> Result<Self, Error> {
        let name = field.ident.clone().ok_or_else(|| {
            let text = "a projection must be a struct with named fields";
            Error::new_spanned(field, text)
        })?;
        let mut found = None;
        for attribute in ours(&field.attrs) {
            found = Some(attribute.parse_args_with(|input: ParseStream<'_>| {
                if input.peek(LitStr) {
                    return Ok((input.parse::<LitStr>()?, false));
                }
                let word = input.call(Ident::parse_any)?;
                if word != "metadata" {
                    let text = "expected a path as in \"spec.nodeName\", or `metadata`";
                    return Err(Error::new(word.span(), text));
                }
                Ok((LitStr::new("metadata", word.span()), true))
            })?);
        }
        let (path, is_metadata) = found.ok_or_else(|| {
            let text = "missing path: write `#[projection(\"spec.nodeName\")]`";
            Error::new(name.span(), text)
        })?;
        Ok(Self {
            name,
            ty: field.ty.clone(),
            path,
            is_metadata,
        })
    }
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes
        .iter()
        .filter(|it| it.path().is_ident("projection"))
}
