//! Generates the kind of a custom resource from the struct of its spec.

mod facts;
mod message;
mod options;

use self::facts::custom_resource;
use self::message::message;
use self::options::Options;
use crate::object::{Decoders, codec_impls, object_impls};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error};

pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream, Error> {
    if !input.generics.params.is_empty() {
        let text = "a spec cannot have type parameters: a kind has one definition";
        return Err(Error::new_spanned(&input.generics, text));
    }
    let options = Options::parse(input)?;
    let root = root(input, &options);
    let krate = &options.krate;
    let machinery = quote!(#krate::private::apimachinery);
    let message = message(&options, &machinery);
    let object = object_impls(&options.names(), &machinery);
    let decoders = Decoders {
        from_protobuf: quote!(#krate::private::from_protobuf),
        from_json: quote!(#krate::private::from_json),
        deserialize: quote!(#krate::private::Parts::<Self>::deserialize),
    };
    let codec = codec_impls(&options.root, krate, &decoders);
    let custom_resource = custom_resource(input, &options);
    let configurations = configurations(input, &options)?;
    Ok(quote! {
        #root
        #configurations
        const _: () = {
            #message
            #codec
            #object
            #custom_resource
        };
    })
}

/// Generates the apply configurations of the kind and its spec, if they are asked for.
fn configurations(input: &DeriveInput, options: &Options) -> Result<TokenStream, Error> {
    let Options {
        root,
        krate,
        group,
        version,
        kind,
        status,
        ..
    } = options;
    if !options.apply {
        return Ok(TokenStream::new());
    }
    let spec = crate::apply::configuration(input, krate)?;
    let api_version = options.api_version();
    let facts = quote!((#krate::private::apimachinery::wire::KindFacts {
        group: #group,
        version: #version,
        kind: #kind,
        api_version: #api_version,
    }));
    let ident = &input.ident;
    let mut parts = vec![("spec", quote!(#ident))];
    parts.extend(status.iter().map(|it| ("status", quote!(#it))));
    let kind = crate::apply::kind(root, &input.vis, krate, &facts, &parts);
    Ok(quote!(#spec #kind))
}

/// Generates the struct.
fn root(input: &DeriveInput, options: &Options) -> TokenStream {
    let Options {
        root,
        krate,
        status,
        derives,
        description,
        ..
    } = options;
    let (vis, spec) = (&input.vis, &input.ident);
    let machinery = quote!(#krate::private::apimachinery);
    let doc = match description.as_str() {
        "" => format!("The kind whose spec is [`{spec}`]."),
        text => text.to_owned(),
    };
    let field = status.iter().map(|status| {
        quote! {
            /// The status; none before a controller has written one.
            pub status: ::core::option::Option<#status>,
        }
    });
    let none = status
        .iter()
        .map(|_| quote!(status: ::core::option::Option::None,));
    let none_again = none.clone();
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug, PartialEq #(, #derives)*)]
        #vis struct #root {
            /// The metadata.
            pub metadata: #machinery::ObjectMeta,
            /// The desired state.
            pub spec: #spec,
            #(#field)*
        }

        impl #root {
            /// Creates an object with a name and a spec.
            #[allow(dead_code, reason = "objects may only be read")]
            #vis fn new(name: impl ::core::convert::Into<#machinery::Str>, spec: #spec) -> Self {
                let metadata = #machinery::ObjectMeta {
                    name: ::core::convert::Into::into(name),
                    ..::core::default::Default::default()
                };
                Self { metadata, spec, #(#none)* }
            }
        }

        // The bound is not checked here, so that it may be false: then there is no default.
        #[automatically_derived]
        impl ::core::default::Default for #root
        where
            for<'unchecked> #spec: ::core::default::Default,
        {
            fn default() -> Self {
                Self {
                    metadata: ::core::default::Default::default(),
                    spec: ::core::default::Default::default(),
                    #(#none_again)*
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
