//! Generates the projection of a kind.

use crate::attributes::{Field, Of, Projected};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Error, Path, Type};

pub(crate) fn implement(projected: &Projected) -> Result<TokenStream, Error> {
    let Projected {
        name,
        of: Of::Kind(kind) | Of::Message(kind),
        krate,
        fields,
    } = projected;
    let meta = metadata(projected)?;
    let checks = fields.iter().map(|field| check(krate, kind, field));
    let meetings = meetings(krate, kind, fields)?;
    let paths: Vec<_> = fields.iter().map(|field| &field.path).collect();
    let indexes: Vec<_> = (0..fields.len()).collect();
    let names: Vec<_> = fields.iter().map(|field| &field.name).collect();
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let ingest = ingest(projected, kind, &meta);
    let object = object(krate, name, meta.name);
    let resource = resource(krate, name, kind);
    Ok(quote! {
        const _: () = {
            #(#checks)*
            #(#meetings)*

            #[automatically_derived]
            impl #krate::wire::ProjectionFields for #name {
                fn slot(&mut self, index: usize) -> ::core::option::Option<#krate::wire::Slot<'_>> {
                    match index {
                        #(#indexes => ::core::option::Option::Some(
                            #krate::wire::FieldAccess::slot(&mut self.#names),
                        ),)*
                        _ => ::core::option::Option::None,
                    }
                }

                fn view(&self, index: usize) -> ::core::option::Option<#krate::wire::View<'_>> {
                    match index {
                        #(#indexes => ::core::option::Option::Some(
                            #krate::wire::FieldAccess::view(&self.#names),
                        ),)*
                        _ => ::core::option::Option::None,
                    }
                }
            }

            #[automatically_derived]
            impl #krate::wire::Projection for #name {
                type Kind = #kind;
                const PATHS: &'static [&'static str] = &[#(#paths),*];

                fn plan() -> ::core::result::Result<
                    &'static #krate::wire::ProjectionPlan,
                    &'static #krate::wire::PathError,
                > {
                    static PLAN: ::std::sync::OnceLock<::core::result::Result<
                        #krate::wire::ProjectionPlan,
                        #krate::wire::PathError,
                    >> = ::std::sync::OnceLock::new();
                    PLAN.get_or_init(|| #krate::wire::ProjectionPlan::new(
                        <#kind as #krate::wire::Wire>::SCHEMA,
                        &[#((#paths, <#types as #krate::wire::ProjectionField>::TAKES)),*],
                    ))
                    .as_ref()
                }
            }

            #ingest
            #object
            #resource
        };
    })
}

fn ingest(projected: &Projected, kind: &Type, meta: &Metadata<'_>) -> TokenStream {
    let Projected {
        name,
        krate,
        fields,
        ..
    } = projected;
    let metadata_only = fields
        .iter()
        .map(|field| field.path.value())
        .all(|path| path == "metadata" || path.starts_with("metadata."));
    quote! {
        #[automatically_derived]
        impl #krate::wire::Ingest for #name {
            type Kind = #kind;
            const METADATA_ONLY: bool = #metadata_only;
            const PROTOBUF: bool = #metadata_only || <#kind as #krate::wire::Ingest>::PROTOBUF;

            fn ingest(
                bytes: #krate::wire::Bytes,
                encoding: #krate::wire::Encoding,
                cx: &mut #krate::wire::DecodeContext,
            ) -> ::core::result::Result<Self, #krate::wire::WireError> {
                #krate::wire::project(&bytes, encoding, cx)
            }

            fn drop_managed_fields(&mut self) {
                #meta
            }
        }
    }
}

/// The field that holds the metadata.
struct Metadata<'a> {
    krate: &'a Path,
    name: &'a syn::Ident,
}

impl quote::ToTokens for Metadata<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { krate, name } = self;
        tokens.extend(quote! {
            #krate::wire::ProjectionMeta::drop_managed_fields(&mut self.#name);
        });
    }
}

fn metadata(projected: &Projected) -> Result<Metadata<'_>, Error> {
    let mut marked = projected.fields.iter().filter(|field| field.is_metadata);
    match (marked.next(), marked.next()) {
        (Some(field), None) => Ok(Metadata {
            krate: &projected.krate,
            name: &field.name,
        }),
        (None, _) => Err(Error::new_spanned(
            &projected.name,
            "one field must hold the metadata: `#[projection(metadata)] meta: LeanMeta`",
        )),
        (Some(_), Some(second)) => Err(Error::new(
            second.name.span(),
            "another field holds the metadata already",
        )),
    }
}

/// Generates a compile-time check: the path leads to a field, and the Rust type accepts it.
pub(crate) fn check(krate: &Path, of: &Type, field: &Field) -> TokenStream {
    let Field { ty, path, .. } = field;
    let kind = quote!(#of).to_string();
    let no_field = format!("`{}` is no field of {kind}", path.value());
    let rust = quote!(#ty).to_string();
    let other_type = format!("`{}` of {kind} does not fit {rust}", path.value());
    quote_spanned! { path.span() =>
        const _: () = match #krate::wire::check_path(
            <#of as #krate::wire::Wire>::SCHEMA,
            #path,
            <#ty as #krate::wire::ProjectionField>::TAKES,
        ) {
            #krate::wire::PathCheck::Fits => (),
            #krate::wire::PathCheck::NoField => ::core::panic!(#no_field),
            #krate::wire::PathCheck::OtherType => ::core::panic!(#other_type),
        };
    }
}

/// Generates a compile-time check: no path lies inside another, unless both are keys of one map.
fn meetings(krate: &Path, kind: &Type, fields: &[Field]) -> Result<Vec<TokenStream>, Error> {
    let mut checks = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let path = field.path.value();
        for other in fields.iter().take(index) {
            let before = other.path.value();
            if path == before {
                let text = "another field has this path already";
                return Err(Error::new(field.path.span(), text));
            }
        }
        for outer in fields {
            let outer_path = outer.path.value();
            let rest = path.strip_prefix(&*outer_path);
            if rest.is_some_and(|rest| rest.starts_with(['.', '['])) {
                let text = format!("`{path}` stands inside `{outer_path}`, which is taken whole");
                checks.push(quote_spanned! { field.path.span() =>
                    const _: () = ::core::assert!(
                        #krate::wire::is_key_path(
                            <#kind as #krate::wire::Wire>::SCHEMA,
                            #outer_path,
                        ),
                        #text
                    );
                });
            }
        }
    }
    Ok(checks)
}

fn object(krate: &Path, name: &syn::Ident, meta: &syn::Ident) -> TokenStream {
    let text = ["name", "namespace", "uid", "resource_version"].map(|method| {
        let method = syn::Ident::new(method, meta.span());
        quote! {
            fn #method(&self) -> &str {
                #krate::Object::#method(&self.#meta)
            }
        }
    });
    let pairs = ["labels", "annotations"].map(|method| {
        let method = syn::Ident::new(method, meta.span());
        quote! {
            fn #method(&self) -> #krate::KeyValues<'_> {
                #krate::Object::#method(&self.#meta)
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #krate::Object for #name {
            #(#text)*
            #(#pairs)*
            fn owners(&self) -> #krate::Owners<'_> {
                #krate::Object::owners(&self.#meta)
            }
            fn is_terminating(&self) -> bool {
                #krate::Object::is_terminating(&self.#meta)
            }
        }
    }
}

fn resource(krate: &Path, name: &syn::Ident, kind: &Type) -> TokenStream {
    let constants = [
        "GROUP",
        "VERSION",
        "KIND",
        "LIST_KIND",
        "PLURAL",
        "SINGULAR",
        "API_VERSION",
    ]
    .map(|constant| {
        let constant = syn::Ident::new(constant, name.span());
        quote!(const #constant: &'static str = <#kind as #krate::Resource>::#constant;)
    });
    quote! {
        #[automatically_derived]
        impl #krate::Resource for #name {
            #(#constants)*
            type Scope = <#kind as #krate::Resource>::Scope;
        }
    }
}
