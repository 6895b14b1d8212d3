//! Generates the projection of a message.

use crate::attributes::{Of, Projected};
use crate::kind::check;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Error;

pub(crate) fn implement(projected: &Projected) -> Result<TokenStream, Error> {
    let Projected {
        name,
        of: Of::Kind(of) | Of::Message(of),
        krate,
        fields,
    } = projected;
    for field in fields {
        if field.is_metadata || field.path.value().contains(['.', '[']) {
            let text = "the fields of a part are direct fields of its message";
            return Err(Error::new(field.path.span(), text));
        }
    }
    let checks = fields.iter().map(|field| check(krate, of, field));
    let count = fields.len();
    let paths = fields.iter().map(|field| &field.path);
    let indexes = (0..count).map(Literal::usize_unsuffixed);
    let names = fields.iter().map(|field| &field.name);
    Ok(quote! {
        const _: () = {
            #(#checks)*

            const OF: &'static #krate::wire::Schema = <#of as #krate::wire::Wire>::SCHEMA;
            static FIELDS: [#krate::wire::Field; #count] =
                [#(#krate::wire::part_field(OF, #paths)),*];
            static NAMES: [u16; #krate::wire::names_size(#count)] = #krate::wire::table_of_names(&FIELDS);
            static ORDER: [#krate::wire::Entry; #count] = #krate::wire::order_by_number(&FIELDS);
            static SCHEMA: #krate::wire::Schema = #krate::wire::Schema {
                name: OF.name,
                full_name: OF.full_name,
                kind: ::core::option::Option::None,
                form: OF.form,
                atomic: OF.atomic,
                defaults: OF.defaults,
                fields: &FIELDS,
                names: &NAMES,
                order: &ORDER,
            };
            #krate::message!(#name, SCHEMA, [#(#indexes #names),*]);
        };
    })
}
