//! The keys, as the last line of the screen names them.

/// The texts for each view.
pub(super) struct Help {
    pub(super) table: &'static str,
    pub(super) details: &'static str,
}

/// The texts.
pub(super) const HELP: Help = Help {
    table: "↑↓ jk: move  Enter: details  /: filter  w: wide  q: quit",
    details: "↑↓ jk: scroll  g G: start, end  Esc: back  q: quit",
};
