//! The fields of a struct that is a kind, and their names in JSON.

use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Token, Type};

/// A field.
pub(super) struct Member {
    pub(super) name: Ident,
    pub(super) json: String,
    pub(super) is_metadata: bool,
    /// Whether it is an `Option`, which is left out while it is empty.
    pub(super) optional: bool,
    /// Whether it has the members of the object that no other field has.
    pub(super) is_flattened: bool,
    pub(super) ty: Type,
}

/// Returns the fields in their order; a flattened one is the last, and has no name in JSON.
pub(super) fn parse(input: &DeriveInput) -> Result<Vec<Member>, Error> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a kind must be a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        let text = "a kind needs named fields, one of them `metadata`";
        return Err(Error::new_spanned(&input.ident, text));
    };
    let members = fields.named.iter().map(member);
    let mut members = members.collect::<Result<Vec<_>, _>>()?;
    members.sort_by_key(|it| it.is_flattened);
    if !members.iter().any(|it| it.is_metadata) {
        let text = "missing the field `metadata: ObjectMeta`";
        return Err(Error::new_spanned(&input.ident, text));
    }
    let mut flattened = members.iter().filter(|it| it.is_flattened);
    if let (Some(_), Some(second)) = (flattened.next(), flattened.next()) {
        let text = "only one field can have the members that no other field has";
        return Err(Error::new_spanned(&second.name, text));
    }
    for (index, it) in members
        .iter()
        .enumerate()
        .filter(|(_, it)| !it.is_flattened)
    {
        let mut before = members[..index].iter().filter(|it| !it.is_flattened);
        let taken = before.any(|other| other.json == it.json);
        if taken || it.json == "apiVersion" || it.json == "kind" {
            let text = format!("{:?} names another field of the object", it.json);
            return Err(Error::new_spanned(&it.name, text));
        }
    }
    Ok(members)
}

fn member(field: &Field) -> Result<Member, Error> {
    let Some(name) = field.ident.clone() else {
        return Err(Error::new_spanned(field, "a field needs a name"));
    };
    let mut json = camel_case(&name.unraw().to_string());
    let mut is_flattened = false;
    let attributes = field.attrs.iter();
    for attribute in attributes.filter(|it| it.path().is_ident("resource")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("flatten") {
                is_flattened = true;
                return Ok(());
            }
            if !meta.path.is_ident("rename") {
                let text = "unknown option of a field; expected `rename = \"name\"` or `flatten`";
                return Err(meta.error(text));
            }
            meta.input.parse::<Token![=]>()?;
            json = meta.input.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    if is_flattened {
        json.clear();
    }
    Ok(Member {
        is_metadata: json == "metadata",
        optional: is_option(&field.ty),
        is_flattened,
        ty: field.ty.clone(),
        name,
        json,
    })
}

fn is_option(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|it| it.ident == "Option")
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        text.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        text.push_str(letters.as_str());
    }
    text
}
