//! `Key`: the keys that the screen knows.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C: a terminal in raw mode sends no signal.
    Interrupt,
    Char(char),
}

impl Key {
    /// Returns the key that was pressed, if the screen knows it.
    pub(in super::super) fn of(event: &KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        Some(match event.code {
            KeyCode::Char('c') if control => Self::Interrupt,
            KeyCode::Char(_) if control || event.modifiers.contains(KeyModifiers::ALT) => {
                return None;
            }
            KeyCode::Char(character) => Self::Char(character),
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            _ => return None,
        })
    }

    /// Returns the position that it moves to, from `at`, in a list of `length` of which `page` are
    /// visible; none if it moves nowhere.
    pub(super) fn moved(self, at: usize, length: usize, page: usize) -> Option<usize> {
        let page = page.max(1);
        let to = match self {
            Self::Up | Self::Char('k') => at.saturating_sub(1),
            Self::Down | Self::Char('j') => at.saturating_add(1),
            Self::PageUp => at.saturating_sub(page),
            Self::PageDown | Self::Char(' ') => at.saturating_add(page),
            Self::Home | Self::Char('g') => 0,
            Self::End | Self::Char('G') => usize::MAX,
            _ => return None,
        };
        Some(to.min(length.saturating_sub(1)))
    }
}
