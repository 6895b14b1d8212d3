//! Implements a kind for the struct of the whole object: the metadata, and fields that serde
//! encodes and decodes.
//!
//! It makes no definition: the definition is somebody else's.

mod fields;
mod options;

use self::fields::Member;
use crate::object::{Decoders, Names, codec_impls, object_impls};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Path};

pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream, Error> {
    if !input.generics.params.is_empty() {
        let text = "a kind cannot have type parameters";
        return Err(Error::new_spanned(&input.generics, text));
    }
    let names = options::parse(input)?;
    let members = fields::parse(input)?;
    let krate = &names.krate;
    let machinery = quote!(#krate::private::apimachinery);
    let object = object_impls(&names, &machinery);
    let wire = quote!(#machinery::wire);
    let schema = schema(&names, &members, &wire);
    let message = message(&names, &members, &wire);
    let krate = &names.krate;
    let decoders = Decoders {
        from_protobuf: quote!(#krate::private::default_from_protobuf),
        from_json: quote!(#krate::private::default_from_json),
        deserialize: quote!(#machinery::wire::deserialize),
    };
    let codec = codec_impls(&names.root, krate, &decoders);
    let new = new(input, &members, &machinery);
    Ok(quote! {
        #new
        const _: () = {
            #schema
            #message
            #object
            #codec
        };
    })
}

/// Generates the constructor of a kind that has a spec.
fn new(input: &DeriveInput, members: &[Member], machinery: &TokenStream) -> Option<TokenStream> {
    let spec = members.iter().find(|it| it.json == "spec")?;
    let metadata = members.iter().find(|it| it.is_metadata)?;
    let (vis, root) = (&input.vis, &input.ident);
    let (spec, ty, metadata) = (&spec.name, &spec.ty, &metadata.name);
    Some(quote! {
        impl #root {
            /// Creates an object with a name and a spec.
            #[allow(dead_code, reason = "objects may only be read")]
            #vis fn new(name: impl ::core::convert::Into<#machinery::Str>, spec: #ty) -> Self {
                #[allow(clippy::needless_update, reason = "there may be no other fields")]
                Self {
                    #metadata: #machinery::ObjectMeta {
                        name: ::core::convert::Into::into(name),
                        ..::core::default::Default::default()
                    },
                    #spec: spec,
                    ..::core::default::Default::default()
                }
            }
        }
    })
}

/// Generates the schema.
fn schema(names: &Names, members: &[Member], wire: &TokenStream) -> TokenStream {
    let Names {
        krate,
        group,
        version,
        kind,
        ..
    } = names;
    let api_version = names.api_version();
    let count = members.len();
    let facts = members.iter().map(|it| {
        let (json, optional) = (&it.json, it.optional);
        quote!((#json, #optional))
    });
    quote! {
        static FIELDS: [#wire::Field; #count] = #krate::private::fields([#(#facts),*]);
        static NAMES: [u16; #wire::names_size(#count)] = #wire::table_of_names(&FIELDS);
        static ORDER: [#wire::Entry; #count] = #krate::private::order();
        static SCHEMA: #wire::Schema = #krate::private::schema_with(
            #wire::KindFacts {
                group: #group,
                version: #version,
                kind: #kind,
                api_version: #api_version,
            },
            &FIELDS,
            &NAMES,
            &ORDER,
        );
    }
}

/// Generates access to the fields.
fn message(names: &Names, members: &[Member], wire: &TokenStream) -> TokenStream {
    let Names { root, krate, .. } = names;
    let flattened = members.iter().find(|it| it.is_flattened);
    let others = flattened.map(|it| others(it, krate));
    let members = || members.iter().enumerate();
    let slots = members().map(|(index, it)| slot(index, it, wire));
    let views = members().map(|(index, it)| view(index, it, wire));
    quote! {
        #[automatically_derived]
        impl #wire::Message for #root {
            fn schema(&self) -> &'static #wire::Schema {
                &SCHEMA
            }
            fn slot(&mut self, index: usize) -> ::core::option::Option<#wire::Slot<'_>> {
                match index {
                    #(#slots)*
                    _ => ::core::option::Option::None,
                }
            }
            fn view(&self, index: usize) -> ::core::option::Option<#wire::View<'_>> {
                match index {
                    #(#views)*
                    _ => ::core::option::Option::None,
                }
            }
            #others
        }
    }
}

/// Generates access to the members that no field has.
fn others(member: &Member, krate: &Path) -> TokenStream {
    let name = &member.name;
    let json = quote!(#krate::private::serde_json);
    let map = quote!(#json::Map<::std::string::String, #json::Value>);
    quote! {
        fn others(&self) -> ::core::option::Option<&#map> {
            ::core::option::Option::Some(&self.#name)
        }
        fn others_mut(&mut self) -> ::core::option::Option<&mut #map> {
            ::core::option::Option::Some(&mut self.#name)
        }
    }
}

/// Generates the arm that returns the place of a field.
fn slot(index: usize, member: &Member, wire: &TokenStream) -> TokenStream {
    let name = &member.name;
    let slot = if member.is_metadata {
        quote!(Message)
    } else {
        quote!(Serde)
    };
    quote!(#index => ::core::option::Option::Some(#wire::Slot::#slot(&mut self.#name)),)
}

/// Generates the arm that returns a field. An absent optional field is left out.
fn view(index: usize, member: &Member, wire: &TokenStream) -> TokenStream {
    let name = &member.name;
    if member.is_metadata {
        return quote!(#index => ::core::option::Option::Some(#wire::View::Message(&self.#name)),);
    }
    if !member.optional {
        return quote!(#index => ::core::option::Option::Some(#wire::View::Serde(&self.#name)),);
    }
    quote! {
        #index => ::core::option::Option::Some(match &self.#name {
            ::core::option::Option::Some(value) => #wire::View::Serde(value),
            ::core::option::Option::None => #wire::View::OptMessage(::core::option::Option::None),
        }),
    }
}

#[cfg(test)]
mod tests;
