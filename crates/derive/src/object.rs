//! Generates the traits that every kind with a `metadata` field has: its names, its metadata, and
//! what clients and caches need.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Path};

/// The struct of a kind, and the kind's names.
pub(crate) struct Names {
    pub(crate) root: Ident,
    pub(crate) krate: Path,
    pub(crate) group: LitStr,
    pub(crate) version: LitStr,
    pub(crate) kind: LitStr,
    pub(crate) list_kind: LitStr,
    pub(crate) plural: LitStr,
    pub(crate) singular: LitStr,
    pub(crate) namespaced: bool,
}

impl Names {
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.group.value(), self.version.value())
    }
}

/// Generates the traits.
pub(crate) fn object_impls(names: &Names, machinery: &TokenStream) -> TokenStream {
    let object = object(names, machinery);
    let metadata = metadata(names, machinery);
    let client = client(names, machinery);
    quote! {
        #object
        #metadata
        #client
    }
}

/// How a kind is decoded: paths of functions.
pub(crate) struct Decoders {
    pub(crate) from_protobuf: TokenStream,
    pub(crate) from_json: TokenStream,
    pub(crate) deserialize: TokenStream,
}

/// Generates decoding and encoding: the wire traits, and serde's.
pub(crate) fn codec_impls(root: &Ident, krate: &Path, decoders: &Decoders) -> TokenStream {
    let wire = quote!(#krate::private::apimachinery::wire);
    let serde = quote!(#krate::private::serde);
    let Decoders {
        from_protobuf,
        from_json,
        deserialize,
    } = decoders;
    quote! {
        #[automatically_derived]
        impl #wire::Wire for #root {
            const SCHEMA: &'static #wire::Schema = &SCHEMA;

            fn from_protobuf(
                bytes: &[u8],
                cx: &mut #wire::DecodeContext,
            ) -> ::core::result::Result<Self, #wire::WireError> {
                #from_protobuf(bytes, cx)
            }
            fn from_json(
                bytes: &[u8],
                cx: &mut #wire::DecodeContext,
            ) -> ::core::result::Result<Self, #wire::WireError> {
                #from_json(bytes, cx)
            }
        }

        #[automatically_derived]
        impl #serde::Serialize for #root {
            fn serialize<S: #serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                #serde::Serialize::serialize(&#wire::Json::top(self), serializer)
            }
        }

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #root {
            fn deserialize<D: #serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #deserialize(deserializer)
            }
        }
    }
}

/// Generates access to the metadata, and the names of the kind.
fn object(names: &Names, machinery: &TokenStream) -> TokenStream {
    let Names {
        root,
        group,
        version,
        kind,
        list_kind,
        plural,
        singular,
        namespaced,
        ..
    } = names;
    let api_version = names.api_version();
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
fn metadata(names: &Names, machinery: &TokenStream) -> TokenStream {
    let root = &names.root;
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
fn client(names: &Names, machinery: &TokenStream) -> TokenStream {
    let Names { root, krate, .. } = names;
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
