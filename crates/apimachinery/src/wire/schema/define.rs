//! `schema!`: defines the schema of a type that is written by hand.

/// Defines a schema static from its fields, for types written by hand: orders are computed at
/// compile time. `atomic` after the fields calls [`Schema::atomic`](crate::wire::Schema::atomic).
#[macro_export]
macro_rules! schema {
    ($vis:vis $name:ident = $go:literal, $full:literal, $form:expr, $kind:expr, [$($field:expr),* $(,)?] $(, $rule:ident)?) => {
        #[doc = concat!("The schema of `", $go, "`.")]
        $vis static $name: $crate::wire::Schema = {
            const N: usize = [$(stringify!($field)),*].len();
            static FIELDS: [$crate::wire::Field; N] = [$($field),*];
            static NAMES: [u16; $crate::wire::names_size(N)] =
                $crate::wire::table_of_names(&FIELDS);
            static ORDER: [$crate::wire::Entry; N] = $crate::wire::order_by_number(&FIELDS);
            $crate::wire::Schema {
                name: $go,
                full_name: $full,
                kind: $kind,
                form: $form,
                atomic: false,
                defaults: &[],
                fields: &FIELDS,
                names: &NAMES,
                order: &ORDER,
            }
            $(.$rule())?
        };
    };
}
