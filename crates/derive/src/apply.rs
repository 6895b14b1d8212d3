//! Generates the apply configuration of a struct, and what makes it a field of another.

mod field;
mod rename;

use self::field::Setter;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::parse::ParseStream;
use syn::{Data, DeriveInput, Error, Fields, Ident, Path, Token};

/// Generates for `#[derive(ApplyConfiguration)]`.
pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream, Error> {
    let krate = crate_of(input)?;
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => configuration(input, &krate),
            _ => Err(Error::new_spanned(
                &input.ident,
                "an apply configuration needs named fields; put `#[apply(json)]` on the fields \
                 that have this type",
            )),
        },
        Data::Enum(data) if data.variants.iter().all(|it| it.fields.is_empty()) => {
            Ok(enumeration(&input.ident, &krate))
        }
        _ => Err(Error::new_spanned(
            &input.ident,
            "an apply configuration is made of structs, and of enums whose variants have no \
             fields; put `#[apply(json)]` on the fields that have this type",
        )),
    }
}

/// Generates the configuration of a struct with named fields.
pub(crate) fn configuration(input: &DeriveInput, krate: &Path) -> Result<TokenStream, Error> {
    if !input.generics.params.is_empty() {
        let text = "a type with an apply configuration cannot have type parameters";
        return Err(Error::new_spanned(&input.generics, text));
    }
    let setters = Setter::all(input)?;
    let (vis, ident) = (&input.vis, &input.ident);
    let name = format_ident!("{ident}Apply");
    let doc = format!("Fields of a [`{ident}`] to apply.");
    let apply = quote!(#krate::private::apimachinery::apply);
    let rows = setters.iter().map(Setter::row);
    let schema = schema(&ident.to_string(), &setters, krate, &quote!(None));
    Ok(quote! {
        #krate::private::apimachinery::apply_configuration! {
            #[doc = #doc]
            #[allow(dead_code, reason = "not every field may be applied")]
            #vis #name: #ident, schema: #schema, new: [], fields: [#(#rows)*]
        }

        #[automatically_derived]
        impl #apply::ApplyField for #ident {
            type Value = #name;
            const TYPE: #krate::private::apimachinery::wire::FieldType =
                #krate::private::apimachinery::wire::FieldType::Message(
                    <#name as #apply::ApplyConfiguration>::SCHEMA,
                );

            fn into_json(value: #name) -> #krate::private::serde_json::Value {
                #apply::ApplyConfiguration::into_value(value)
            }
        }
    })
}

/// Generates the configuration of a kind: its metadata, spec and status.
pub(crate) fn kind(
    root: &Ident,
    vis: &syn::Visibility,
    krate: &Path,
    facts: &TokenStream,
    parts: &[(&str, TokenStream)],
) -> TokenStream {
    let name = format_ident!("{root}Apply");
    let doc = format!("Fields of a [`{root}`] to apply.");
    let machinery = quote!(#krate::private::apimachinery);
    let mut setters = vec![Setter::metadata(&machinery)];
    setters.extend(parts.iter().map(|(json, ty)| Setter::part(json, ty)));
    let rows = setters.iter().map(Setter::row);
    let schema = schema(&root.to_string(), &setters, krate, &quote!(Some #facts));
    quote! {
        #machinery::apply_configuration! {
            #[doc = #doc]
            #[allow(dead_code, reason = "not every field may be applied")]
            #vis #name: #root, schema: #schema, kind, fields: [#(#rows)*]
        }
    }
}

/// Generates the schema by which the fields merge, as a block.
fn schema(name: &str, setters: &[Setter], krate: &Path, facts: &TokenStream) -> TokenStream {
    let wire = quote!(#krate::private::apimachinery::wire);
    let apply = quote!(#krate::private::apimachinery::apply);
    let count = setters.len();
    let fields = setters.iter().zip(1..).map(|(setter, number)| {
        let (json, ty, list) = (
            &setter.json,
            setter.field_type(&apply, &wire),
            setter.list(&wire),
        );
        let number = Literal::u32_unsuffixed(number);
        quote!(#apply::derived_field(#json, #number, #ty).with_list(#list))
    });
    quote! {{
        static FIELDS: [#wire::Field; #count] = [#(#fields),*];
        static NAMES: [u16; #wire::names_size(#count)] = #wire::table_of_names(&FIELDS);
        static ORDER: [#wire::Entry; #count] = #wire::order_by_number(&FIELDS);
        static SCHEMA: #wire::Schema = #wire::Schema {
            name: #name,
            full_name: ::core::concat!(::core::module_path!(), "::", #name),
            kind: ::core::option::Option::#facts,
            form: #wire::JsonForm::Object,
            atomic: false,
            defaults: &[],
            fields: &FIELDS,
            names: &NAMES,
            order: &ORDER,
        };
        &SCHEMA
    }}
}

/// Makes an enum the value of a field.
fn enumeration(ident: &Ident, krate: &Path) -> TokenStream {
    let machinery = quote!(#krate::private::apimachinery);
    quote! {
        #[automatically_derived]
        impl #machinery::apply::ApplyField for #ident {
            type Value = Self;
            const TYPE: #machinery::wire::FieldType = #machinery::wire::FieldType::Str;

            fn into_json(value: Self) -> #krate::private::serde_json::Value {
                // A variant without fields is a string.
                #krate::private::serde_json::to_value(value).unwrap_or_default()
            }
        }
    }
}

/// Returns the path of `kubist-custom-resource`: that of the attribute, or the crate itself.
fn crate_of(input: &DeriveInput) -> Result<Path, Error> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|it| it.path().is_ident("apply")) {
        attribute.parse_args_with(|input: ParseStream<'_>| {
            let word = input.parse::<Token![crate]>();
            word.map_err(|error| Error::new(error.span(), "expected `crate = PATH`"))?;
            input.parse::<Token![=]>()?;
            found = Some(input.call(Path::parse_mod_style)?);
            Ok(())
        })?;
    }
    Ok(found.unwrap_or_else(|| syn::parse_quote!(::kubist_custom_resource)))
}

#[cfg(test)]
mod tests;
