//! `At`: the place of a value, as text only where there is an error.

/// The place of a value below the validated value.
#[derive(Clone, Copy, Debug)]
pub(super) enum At<'a> {
    Root,
    /// A property.
    Property(&'a Self, &'a str),
    /// A member that no property names; upstream's name begins with a dot even at the root.
    Member(&'a Self, &'a str),
    /// An item.
    Item(&'a Self, usize),
}

impl At<'_> {
    /// Returns upstream's name of the place, such as `spec.items[0]`; empty at the root.
    pub(super) fn text(self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    pub(super) fn is_root(self) -> bool {
        matches!(self, Self::Root)
    }

    fn write(self, text: &mut String) {
        match self {
            Self::Root => {}
            Self::Property(above, name) => {
                above.write(text);
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Self::Member(above, name) => {
                above.write(text);
                text.extend([".", name]);
            }
            Self::Item(above, index) => {
                above.write(text);
                text.extend(["[", &index.to_string(), "]"]);
            }
        }
    }
}
