//! Generates the kind of a custom resource from the struct of its spec.

mod facts;
mod message;
mod names;
mod options;

use self::facts::custom_resource;
use self::message::{message, serde_impls};
use self::options::Options;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
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
    let object = object(&options, &machinery);
    let metadata = metadata(&options, &machinery);
    let client = client(&options, &machinery);
    let serde = serde_impls(&options);
    let custom_resource = custom_resource(input, &options);
    let configurations = configurations(input, &options)?;
    Ok(quote! {
        #root
        #configurations
        const _: () = {
            #message
            #serde
            #object
            #metadata
            #client
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

/// Generates access to the metadata, and the names of the kind.
fn object(options: &Options, machinery: &TokenStream) -> TokenStream {
    let Options {
        root,
        group,
        version,
        kind,
        plural,
        singular,
        namespaced,
        ..
    } = options;
    let api_version = options.api_version();
    let list_kind = format!("{}List", kind.value());
    let scope = format_ident!(
        "{}",
        if *namespaced {
            "Namespaced"
        } else {
            "ClusterScoped"
        }
    );
    let texts = ["name", "namespace", "uid", "resource_version"].map(|method| {
        let method = format_ident!("{method}");
        quote! {
            fn #method(&self) -> &str {
                #machinery::Object::#method(&self.metadata)
            }
        }
    });
    let pairs = ["labels", "annotations"].map(|method| {
        let method = format_ident!("{method}");
        quote! {
            fn #method(&self) -> #machinery::KeyValues<'_> {
                #machinery::Object::#method(&self.metadata)
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #machinery::Object for #root {
            #(#texts)*
            #(#pairs)*
            fn owners(&self) -> #machinery::Owners<'_> {
                #machinery::Object::owners(&self.metadata)
            }
            fn is_terminating(&self) -> bool {
                #machinery::Object::is_terminating(&self.metadata)
            }
        }

        #[automatically_derived]
        impl #machinery::Resource for #root {
            const GROUP: &'static str = #group;
            const VERSION: &'static str = #version;
            const KIND: &'static str = #kind;
            const LIST_KIND: &'static str = #list_kind;
            const PLURAL: &'static str = #plural;
            const SINGULAR: &'static str = #singular;
            const API_VERSION: &'static str = #api_version;
            type Scope = #machinery::#scope;
        }
    }
}

/// Generates changes of the metadata, and its generation.
fn metadata(options: &Options, machinery: &TokenStream) -> TokenStream {
    let root = &options.root;
    quote! {
        #[automatically_derived]
        impl #machinery::HasMetadata for #root {
            type Metadata = #machinery::ObjectMeta;

            fn object_metadata(&self) -> &#machinery::ObjectMeta {
                &self.metadata
            }
            fn object_metadata_mut(&mut self) -> &mut #machinery::ObjectMeta {
                &mut self.metadata
            }
        }

        #[automatically_derived]
        impl #machinery::Generation for #root {
            fn generation(&self) -> i64 {
                self.metadata.generation
            }
        }
    }
}

/// Generates what clients and caches need.
fn client(options: &Options, machinery: &TokenStream) -> TokenStream {
    let Options { root, krate, .. } = options;
    let wire = quote!(#machinery::wire);
    quote! {
        #[automatically_derived]
        impl #wire::Ingest for #root {
            type Kind = Self;
            const PROTOBUF: bool = false;

            fn ingest(
                bytes: #wire::Bytes,
                encoding: #wire::Encoding,
                cx: &mut #wire::DecodeContext,
            ) -> ::core::result::Result<Self, #wire::WireError> {
                #wire::decode(&bytes, encoding, cx)
            }
            fn drop_managed_fields(&mut self) {
                self.metadata.drop_managed_fields();
            }
        }

        #[automatically_derived]
        impl #wire::Encode for #root {
            const PROTOBUF: bool = false;

            fn encode(
                &self,
                encoding: #wire::Encoding,
            ) -> ::core::result::Result<::std::vec::Vec<u8>, #wire::EncodeError> {
                #wire::try_encode(self, encoding)
            }
            fn encode_wanted(
                &self,
                with_status: bool,
            ) -> ::core::result::Result<::std::vec::Vec<u8>, #wire::EncodeError> {
                #krate::private::encode_wanted(self, with_status)
            }
        }

        #[automatically_derived]
        impl #machinery::KubeObject for #root {
            fn metadata(&self) -> &#machinery::ObjectMeta {
                &self.metadata
            }
            fn metadata_mut(&mut self) -> &mut #machinery::ObjectMeta {
                &mut self.metadata
            }
        }
    }
}

#[cfg(test)]
mod tests;
