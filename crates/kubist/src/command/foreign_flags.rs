//! `ForeignFlags`: flags of another program that are accepted in its place and mean nothing here,
//! and those that are refused, because without them the server would be another one.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use std::marker::PhantomData;

/// The flags of a program: their names, and why they are not obeyed.
pub(super) trait Foreign {
    /// Those without effect.
    const IGNORED: &'static [(&'static str, &'static str)];
    /// Those that are refused.
    const REFUSED: &'static [(&'static str, &'static str)] = &[];

    /// Why a value of an ignored flag is refused, if it is: with it the server would be another.
    fn refusal(_flag: &str, _value: &str) -> Option<&'static str> {
        None
    }
}

/// The ignored flags of a command line.
#[derive(Debug)]
pub(super) struct ForeignFlags<P>(Vec<(&'static str, &'static str)>, PhantomData<fn() -> P>);

impl<P> ForeignFlags<P> {
    /// Logs which flags have no effect, and why.
    pub(super) fn say(&self) {
        if !self.0.is_empty() {
            let flags: Vec<_> = self.0.iter().map(|(flag, _)| format!("--{flag}")).collect();
            let flags = flags.join(", ");
            tracing::warn!("flags without effect (at level info the log says why): {flags}");
        }
        for (flag, why) in &self.0 {
            tracing::info!("--{flag} has no effect: {why}");
        }
    }
}

fn hidden(name: &'static str, help: String) -> Arg {
    let arg = Arg::new(name).long(name).help(help).hide(true);
    arg.num_args(0..=1).action(ArgAction::Append)
}

impl<P: Foreign> Args for ForeignFlags<P> {
    fn augment_args(command: Command) -> Command {
        let ignored = P::IGNORED.iter();
        let ignored =
            ignored.map(|&(flag, why)| hidden(flag, format!("Accepted without effect: {why}")));
        let refused = P::REFUSED.iter();
        let refused = refused.map(|&(flag, why)| hidden(flag, format!("Refused: {why}")));
        command.args(ignored.chain(refused))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Foreign> FromArgMatches for ForeignFlags<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut refused = P::REFUSED.iter();
        if let Some((flag, why)) = refused.find(|(flag, _)| matches.contains_id(flag)) {
            let message = format!("--{flag} is not supported: {why}\n");
            return Err(Error::raw(ErrorKind::UnknownArgument, message));
        }
        let all = P::IGNORED.iter().copied();
        let given: Vec<_> = all.filter(|(flag, _)| matches.contains_id(flag)).collect();
        for (flag, _) in &given {
            let mut values: Vec<_> = matches
                .get_many::<String>(flag)
                .into_iter()
                .flatten()
                .collect();
            // A flag alone is that of a boolean.
            let alone = "true".to_owned();
            if values.is_empty() {
                values.push(&alone);
            }
            for value in values {
                if let Some(why) = P::refusal(flag, value) {
                    let message = format!("--{flag}={value} is not supported: {why}\n");
                    return Err(Error::raw(ErrorKind::InvalidValue, message));
                }
            }
        }
        Ok(Self(given, PhantomData))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
