//! Generates the kind of a custom resource from the struct of its spec.

mod names;
mod options;

use self::options::{Options, Validation};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, LitStr, Path};

pub(crate) fn implement(input: &DeriveInput) -> Result<TokenStream, Error> {
    if !input.generics.params.is_empty() {
        let text = "a spec cannot have type parameters: a kind has one definition";
        return Err(Error::new_spanned(&input.generics, text));
    }
    let options = Options::parse(input)?;
    let root = root(input, &options);
    let krate = &options.krate;
    let machinery = quote!(#krate::private::apimachinery);
    let message = message(input, &options, &machinery);
    let object = object(&options, &machinery);
    let client = client(&options, &machinery);
    let custom_resource = custom_resource(input, &options)?;
    Ok(quote! {
        #root
        const _: () = {
            #message
            #object
            #client
            #custom_resource
        };
    })
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

/// Generates what the wire engine and serde need.
fn message(input: &DeriveInput, options: &Options, machinery: &TokenStream) -> TokenStream {
    let Options {
        root,
        krate,
        status,
        group,
        version,
        kind,
        ..
    } = options;
    let spec = &input.ident;
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

        #[automatically_derived]
        impl #wire::Wire for #root {
            const SCHEMA: &'static #wire::Schema = &SCHEMA;

            fn from_protobuf(
                bytes: &[u8],
                cx: &mut #wire::DecodeContext,
            ) -> ::core::result::Result<Self, #wire::WireError> {
                #krate::private::from_protobuf(bytes, cx)
            }
            fn from_json(
                bytes: &[u8],
                cx: &mut #wire::DecodeContext,
            ) -> ::core::result::Result<Self, #wire::WireError> {
                #krate::private::from_json(bytes, cx)
            }
        }

        #[automatically_derived]
        impl #krate::private::serde::Serialize for #root {
            fn serialize<S: #krate::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let json = #wire::Json::top(self);
                #krate::private::serde::Serialize::serialize(&json, serializer)
            }
        }

        #[automatically_derived]
        impl<'de> #krate::private::serde::Deserialize<'de> for #root {
            fn deserialize<D: #krate::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #krate::private::Parts::<Self>::deserialize(deserializer)
            }
        }

        const _: fn(&#spec) = |_| ();
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

/// Generates what the definition is made of.
fn custom_resource(input: &DeriveInput, options: &Options) -> Result<TokenStream, Error> {
    let Options {
        root,
        krate,
        status,
        ..
    } = options;
    let spec = &input.ident;
    let (status_type, status_field) = match status {
        Some(status) => (quote!(#status), quote!(status,)),
        None => (quote!(()), quote!()),
    };
    let facts = facts(options)?;
    Ok(quote! {
        #[automatically_derived]
        impl #krate::CustomResource for #root {
            type Spec = #spec;
            type Status = #status_type;
            const FACTS: #krate::private::Facts = #facts;

            #[allow(unused_variables, reason = "a kind may have no status")]
            fn from_parts(
                metadata: #krate::private::apimachinery::ObjectMeta,
                spec: #spec,
                status: ::core::option::Option<#status_type>,
            ) -> Self {
                Self { metadata, spec, #status_field }
            }
        }
    })
}

fn facts(options: &Options) -> Result<TokenStream, Error> {
    let Options {
        krate,
        description,
        short_names,
        categories,
        status,
        selectable,
        validations,
        served,
        storage,
        deprecated,
        annotations,
        labels,
        ..
    } = options;
    let option = |text: &Option<LitStr>| match text {
        Some(text) => quote!(::core::option::Option::Some(#text)),
        None => quote!(::core::option::Option::None),
    };
    let has_status = status.is_some();
    let scale = match &options.scale {
        Some(scale) => {
            let (spec, status) = (&scale.spec_replicas, &scale.status_replicas);
            let selector = option(&scale.label_selector);
            quote!(::core::option::Option::Some(#krate::private::Scale {
                spec_replicas: #spec,
                status_replicas: #status,
                label_selector: #selector,
            }))
        }
        None => quote!(::core::option::Option::None),
    };
    let columns = options.columns.iter().map(|column| {
        let options::Column {
            name,
            kind,
            format,
            description,
            priority,
            json_path,
        } = column;
        quote!(#krate::private::Column {
            name: #name,
            kind: #kind,
            format: #format,
            description: #description,
            priority: #priority,
            json_path: #json_path,
        })
    });
    let rules = validations.iter().map(|it| rule(krate, it));
    let is_deprecated = deprecated.is_some();
    let warning = option(&deprecated.clone().flatten());
    let pairs = |pairs: &[(LitStr, LitStr)]| {
        let pairs = pairs.iter().map(|(name, value)| quote!((#name, #value)));
        quote!(&[#(#pairs),*])
    };
    let (annotations, labels) = (pairs(annotations), pairs(labels));
    Ok(quote!(#krate::private::Facts {
        description: #description,
        short_names: &[#(#short_names),*],
        categories: &[#(#categories),*],
        has_status: #has_status,
        scale: #scale,
        columns: &[#(#columns),*],
        selectable: &[#(#selectable),*],
        rules: || ::std::vec![#(#rules),*],
        served: #served,
        storage: #storage,
        deprecated: #is_deprecated,
        deprecation_warning: #warning,
        annotations: #annotations,
        labels: #labels,
    }))
}

fn rule(krate: &Path, validation: &Validation) -> TokenStream {
    let Validation {
        rule,
        texts,
        optional_old_self,
    } = validation;
    let texts = texts.iter().map(|(method, text)| quote!(.#method(#text)));
    let old = optional_old_self.then(|| quote!(.optional_old_self()));
    quote!(#krate::Rule::new(#rule) #(#texts)* #old)
}
