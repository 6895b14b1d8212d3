//! Generates what the wire engine needs.

use super::options::Options;
use proc_macro2::TokenStream;
use quote::quote;

/// Generates the schema, and access to the fields.
pub(super) fn message(options: &Options, machinery: &TokenStream) -> TokenStream {
    let Options {
        root,
        krate,
        status,
        group,
        version,
        kind,
        ..
    } = options;
    let has_status = status.is_some();
    let api_version = options.api_version();
    let wire = quote!(#machinery::wire);
    let slot = status
        .iter()
        .map(|_| quote!(2 => ::core::option::Option::Some(#wire::Slot::Serde(&mut self.status)),));
    let view = status.iter().map(|_| {
        quote!(2 => ::core::option::Option::Some(match &self.status {
            ::core::option::Option::Some(status) => #wire::View::Serde(status),
            ::core::option::Option::None => #wire::View::OptMessage(::core::option::Option::None),
        }),)
    });
    quote! {
        static SCHEMA: #wire::Schema = #krate::private::schema_of(
            #wire::KindFacts {
                group: #group,
                version: #version,
                kind: #kind,
                api_version: #api_version,
            },
            #has_status,
        );

        #[automatically_derived]
        impl #wire::Message for #root {
            fn schema(&self) -> &'static #wire::Schema {
                &SCHEMA
            }
            fn slot(&mut self, index: usize) -> ::core::option::Option<#wire::Slot<'_>> {
                match index {
                    0 => ::core::option::Option::Some(#wire::Slot::Message(&mut self.metadata)),
                    1 => ::core::option::Option::Some(#wire::Slot::Serde(&mut self.spec)),
                    #(#slot)*
                    _ => ::core::option::Option::None,
                }
            }
            fn view(&self, index: usize) -> ::core::option::Option<#wire::View<'_>> {
                match index {
                    0 => ::core::option::Option::Some(#wire::View::Message(&self.metadata)),
                    1 => ::core::option::Option::Some(#wire::View::Serde(&self.spec)),
                    #(#view)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    }
}
