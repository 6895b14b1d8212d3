//! The macros that configurations are declared with.

/// Declares a configuration of a type: a struct with a setter for each field.
///
/// The schema is that of the type, if no other is given. A row is `form rust "json" type`. The
/// form says what a setter takes: `value` (a number or a boolean), `text`, `bytes`, `raw` (JSON),
/// `plain` (a type that is taken whole), `config` (a configuration) or `field` (an
/// [`ApplyField`](crate::apply::ApplyField)), each also as `…_list` and `…_map`.
#[macro_export]
macro_rules! apply_configuration {
    (
        $(#[$attribute:meta])*
        $vis:vis $name:ident: $type:ty, $(schema: $schema:expr,)? new: [$($key:ident $key_json:literal $key_type:ty),*],
        fields: [$($form:ident $rust:ident $json:literal $field:ty;)*]
    ) => {
        $crate::apply_struct! { $(#[$attribute])* $vis $name: $type, $($schema)? }
        impl $name {
            /// Returns a configuration with nothing but the keys that lists know it by, if any.
            #[allow(clippy::new_without_default, reason = "some have keys")]
            pub fn new($($key: impl Into<$key_type>),*) -> Self {
                #[allow(unused_mut, reason = "some have no keys")]
                let mut fields = $crate::wire::serde_json::Map::new();
                $(fields.insert($key_json.to_owned(), {
                    let key: $key_type = $key.into();
                    key.into()
                });)*
                Self(fields)
            }
            $($crate::apply_setter! { $form $rust $json $field })*
        }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis $name:ident: $type:ty, $(schema: $schema:expr,)? kind,
        fields: [$($form:ident $rust:ident $json:literal $field:ty;)*]
    ) => {
        $crate::apply_struct! { $(#[$attribute])* $vis $name: $type, $($schema)? }
        impl $name {
            /// Returns a configuration of the object with this name, with no other field.
            pub fn new(name: impl Into<$crate::Str>) -> Self {
                let mut fields = $crate::wire::serde_json::Map::new();
                let schema = <Self as $crate::apply::ApplyConfiguration>::SCHEMA;
                $crate::apply::add_type(schema, &mut fields);
                Self(fields).metadata($crate::apply::ObjectMetaApply::new().name(name))
            }
            /// Sets `metadata.namespace`. An `Api` of one namespace does not need it.
            #[must_use]
            pub fn namespace(self, namespace: impl Into<$crate::Str>) -> Self {
                self.metadata($crate::apply::ObjectMetaApply::new().namespace(namespace))
            }
            /// Adds labels.
            #[must_use]
            pub fn labels<A: Into<$crate::Str>, B: Into<$crate::Str>>(
                self,
                labels: impl IntoIterator<Item = (A, B)>,
            ) -> Self {
                self.metadata($crate::apply::ObjectMetaApply::new().labels(labels))
            }
            /// Adds annotations.
            #[must_use]
            pub fn annotations<A: Into<$crate::Str>, B: Into<$crate::Str>>(
                self,
                annotations: impl IntoIterator<Item = (A, B)>,
            ) -> Self {
                self.metadata($crate::apply::ObjectMetaApply::new().annotations(annotations))
            }
            /// Adds an owner.
            #[must_use]
            pub fn owner(self, owner: $crate::OwnerReference) -> Self {
                self.metadata($crate::apply::ObjectMetaApply::new().owner_references([owner]))
            }
            $($crate::apply_setter! { $form $rust $json $field })*
        }
        impl $crate::apply::ApplyBody<$type> for $name {
            fn applied_name(&self) -> $crate::ObjectName {
                $crate::apply::name_of(&self.0)
            }
            fn encode_applied(&self, _: bool) -> Result<Vec<u8>, $crate::wire::EncodeError> {
                $crate::apply::encode_kind(self)
            }
        }
    };
}

/// Declares the struct of a configuration.
#[doc(hidden)]
#[macro_export]
macro_rules! apply_struct {
    ($(#[$attribute:meta])* $vis:vis $name:ident: $type:ty,) => {
        $crate::apply_struct! {
            $(#[$attribute])* $vis $name: $type, <$type as $crate::wire::Wire>::SCHEMA
        }
    };
    ($(#[$attribute:meta])* $vis:vis $name:ident: $type:ty, $schema:expr) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name($crate::wire::serde_json::Map<String, $crate::wire::serde_json::Value>);

        impl $crate::apply::ApplyConfiguration for $name {
            type Type = $type;
            const SCHEMA: &'static $crate::wire::Schema = $schema;

            fn fields(&self) -> &$crate::wire::serde_json::Map<String, $crate::wire::serde_json::Value> {
                &self.0
            }
            fn fields_mut(&mut self) -> &mut $crate::wire::serde_json::Map<String, $crate::wire::serde_json::Value> {
                &mut self.0
            }
            fn into_value(self) -> $crate::wire::serde_json::Value {
                $crate::wire::serde_json::Value::Object(self.0)
            }
        }
    };
}

/// Declares the setter of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! apply_setter {
    (value $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], $type, |it| $crate::wire::serde_json::Value::from(it) }
    };
    (text $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl Into<$type>, |it| {
            {
            let it: $type = it.into();
            $crate::wire::serde_json::Value::from(it)
        }
        } }
    };
    (bytes $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl Into<$type>, |it| {
            $crate::apply::bytes(&it.into())
        } }
    };
    (raw $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], $crate::wire::serde_json::Value, |it| it }
    };
    (plain $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl Into<$type>, |it| {
            let it: $type = it.into();
            $crate::apply::plain(&it)
        } }
    };
    (config $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], $type, |it| {
            $crate::apply::ApplyConfiguration::into_value(it)
        } }
    };
    (field $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @
            $rust $json, [], <$type as $crate::apply::ApplyField>::Value,
            |it| <$type as $crate::apply::ApplyField>::into_json(it)
        }
    };
    (field_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @
            $rust $json, [], impl IntoIterator<Item = <$type as $crate::apply::ApplyField>::Value>,
            |it| it.into_iter().map(<$type as $crate::apply::ApplyField>::into_json).collect()
        }
    };
    (field_map $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [A: Into<$crate::Str>],
            impl IntoIterator<Item = (A, <$type as $crate::apply::ApplyField>::Value)>, |it| {
                let pairs = it.into_iter().map(|(key, value)| (String::from(key.into()), value));
                let value = <$type as $crate::apply::ApplyField>::into_json;
                pairs.map(|(key, it)| (key, value(it))).collect()
            }
        }
    };
    (value_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl IntoIterator<Item = $type>, |it| {
            it.into_iter().map($crate::wire::serde_json::Value::from).collect()
        } }
    };
    (text_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl IntoIterator<Item: Into<$type>>, |it| {
            it.into_iter().map(|it| $crate::wire::serde_json::Value::from(String::from(it.into()))).collect()
        } }
    };
    (bytes_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl IntoIterator<Item: Into<$type>>, |it| {
            it.into_iter().map(|it| $crate::apply::bytes(&it.into())).collect()
        } }
    };
    (raw_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @
            $rust $json, [], impl IntoIterator<Item = $crate::wire::serde_json::Value>,
            |it| it.into_iter().collect()
        }
    };
    (plain_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl IntoIterator<Item = $type>, |it| {
            it.into_iter().map(|it| $crate::apply::plain(&it)).collect()
        } }
    };
    (config_list $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [], impl IntoIterator<Item = $type>, |it| {
            it.into_iter().map($crate::apply::ApplyConfiguration::into_value).collect()
        } }
    };
    (text_map $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [A: Into<$crate::Str>, B: Into<$type>],
            impl IntoIterator<Item = (A, B)>, |it| {
                let pairs = it.into_iter();
                let pairs = pairs.map(|(key, value)| (key.into(), String::from(value.into())));
                pairs.map(|(key, value)| (String::from(key), value)).collect()
            }
        }
    };
    (bytes_map $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [A: Into<$crate::Str>, B: Into<$type>],
            impl IntoIterator<Item = (A, B)>, |it| {
                let pairs = it.into_iter();
                let pairs = pairs.map(|(key, value)| (key.into(), value.into()));
                pairs.map(|(key, value)| (String::from(key), $crate::apply::bytes(&value))).collect()
            }
        }
    };
    (plain_map $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [A: Into<$crate::Str>, B: Into<$type>],
            impl IntoIterator<Item = (A, B)>, |it| {
                let pairs = it.into_iter();
                let pairs = pairs.map(|(key, value)| (key.into(), value.into()));
                pairs.map(|(key, value)| (String::from(key), $crate::apply::plain(&value))).collect()
            }
        }
    };
    (config_map $rust:ident $json:literal $type:ty) => {
        $crate::apply_setter! { @ $rust $json, [A: Into<$crate::Str>],
            impl IntoIterator<Item = (A, $type)>, |it| {
                let pairs = it.into_iter().map(|(key, value)| (String::from(key.into()), value));
                let value = |it| $crate::apply::ApplyConfiguration::into_value(it);
                pairs.map(|(key, it)| (key, value(it))).collect()
            }
        }
    };
    (@ $rust:ident $json:literal, [$($generic:ident: $bound:path),*], $type:ty, |$it:ident| $value:expr) => {
        #[doc = concat!("Sets `", $json, "`.")]
        #[must_use]
        pub fn $rust<$($generic: $bound),*>(self, $it: $type) -> Self {
            let value: $crate::wire::serde_json::Value = $value;
            $crate::apply::ApplyConfiguration::set(self, $json, value)
        }
    };
}
