//! Generates what the definition is made of.

use super::options::{Column, Options, Validation};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, LitStr, Path};

/// Generates the trait.
pub(super) fn custom_resource(input: &DeriveInput, options: &Options) -> TokenStream {
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
    let facts = facts(options);
    quote! {
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
    }
}

fn facts(options: &Options) -> TokenStream {
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
    let has_status = status.is_some();
    let scale = scale(options);
    let columns = columns(options);
    let rules = validations.iter().map(|it| rule(krate, it));
    let is_deprecated = deprecated.is_deprecated;
    let warning = option(deprecated.warning.as_ref());
    let pairs = |pairs: &[(LitStr, LitStr)]| {
        let pairs = pairs.iter().map(|(name, value)| quote!((#name, #value)));
        quote!(&[#(#pairs),*])
    };
    let (annotations, labels) = (pairs(annotations), pairs(labels));
    quote!(#krate::private::Facts {
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
    })
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

fn option(text: Option<&LitStr>) -> TokenStream {
    text.map_or_else(
        || quote!(::core::option::Option::None),
        |text| quote!(::core::option::Option::Some(#text)),
    )
}

fn scale(options: &Options) -> TokenStream {
    let (Some(scale), krate) = (&options.scale, &options.krate) else {
        return quote!(::core::option::Option::None);
    };
    let (spec, status) = (&scale.spec_replicas, &scale.status_replicas);
    let selector = option(scale.label_selector.as_ref());
    quote!(::core::option::Option::Some(#krate::private::Scale {
        spec_replicas: #spec,
        status_replicas: #status,
        label_selector: #selector,
    }))
}

fn columns(options: &Options) -> impl Iterator<Item = TokenStream> {
    let krate = &options.krate;
    options.columns.iter().map(move |column| {
        let Column {
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
    })
}
