//! The JSON names of fields, as serde's attributes say.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, LitStr, Token};

/// What serde's attributes say of a container or a field, as far as serializing is concerned.
#[derive(Default)]
pub(super) struct Serde {
    pub(super) rename: Option<LitStr>,
    pub(super) rename_all: Option<LitStr>,
    pub(super) is_skipped: bool,
    pub(super) is_flattened: bool,
}

impl Serde {
    pub(super) fn parse(attributes: &[Attribute]) -> Result<Self, Error> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    found.rename = serialized(&meta)?.or_else(|| found.rename.take());
                } else if meta.path.is_ident("rename_all") {
                    found.rename_all = serialized(&meta)?.or_else(|| found.rename_all.take());
                } else {
                    found.is_skipped |=
                        meta.path.is_ident("skip") || meta.path.is_ident("skip_serializing");
                    found.is_flattened |= meta.path.is_ident("flatten");
                    skip(&meta)?;
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Returns the JSON name of a field in a container with these attributes.
    pub(super) fn name_of(&self, field: &Self, ident: &str) -> Result<LitStr, Error> {
        if let Some(name) = &field.rename {
            return Ok(name.clone());
        }
        let span = proc_macro2::Span::call_site();
        let Some(rule) = &self.rename_all else {
            return Ok(LitStr::new(ident, span));
        };
        let renamed = apply_rule(&rule.value(), ident)
            .ok_or_else(|| Error::new(rule.span(), "no rule of serde has this name"))?;
        Ok(LitStr::new(&renamed, span))
    }
}

/// Parses `= "NAME"` or `(serialize = "NAME", …)`.
fn serialized(meta: &ParseNestedMeta<'_>) -> Result<Option<LitStr>, Error> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse().map(Some);
    }
    let mut found = None;
    meta.parse_nested_meta(|inner| {
        let text: LitStr = inner.value()?.parse()?;
        if inner.path.is_ident("serialize") {
            found = Some(text);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Skips the value of an attribute that does not matter here.
fn skip(meta: &ParseNestedMeta<'_>) -> Result<(), Error> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(|inner| skip(&inner))?;
    }
    Ok(())
}

/// Renames a field by one of serde's rules; none if there is no such rule.
pub(super) fn apply_rule(rule: &str, field: &str) -> Option<String> {
    let words = || field.split('_');
    let capitalized = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    Some(match rule {
        "lowercase" | "snake_case" => field.to_owned(),
        "UPPERCASE" | "SCREAMING_SNAKE_CASE" => field.to_ascii_uppercase(),
        "PascalCase" => words().map(capitalized).collect(),
        "camelCase" => {
            let pascal: String = words().map(capitalized).collect();
            let mut chars = pascal.chars();
            let first = chars.next().map(|it| it.to_ascii_lowercase());
            first.into_iter().chain(chars).collect()
        }
        "kebab-case" => field.replace('_', "-"),
        "SCREAMING-KEBAB-CASE" => field.to_ascii_uppercase().replace('_', "-"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::apply_rule;

    #[test]
    fn fields_are_renamed_as_serde_renames_them() {
        for (rule, expected) in [
            ("lowercase", "pod_cidr_v4"),
            ("UPPERCASE", "POD_CIDR_V4"),
            ("PascalCase", "PodCidrV4"),
            ("camelCase", "podCidrV4"),
            ("snake_case", "pod_cidr_v4"),
            ("SCREAMING_SNAKE_CASE", "POD_CIDR_V4"),
            ("kebab-case", "pod-cidr-v4"),
            ("SCREAMING-KEBAB-CASE", "POD-CIDR-V4"),
        ] {
            assert_eq!(apply_rule(rule, "pod_cidr_v4").as_deref(), Some(expected));
        }
        assert_eq!(apply_rule("Title Case", "pod"), None);
    }
}
