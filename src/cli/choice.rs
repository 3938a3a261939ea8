//! Which profile a stream is held against: the one that is named, or the one it shows.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::OnceLock;

use super::contract_of;
use super::outputs::convert_next;
use crate::check::Checker;
use crate::check::contract::Contract;
use crate::cli::args::Cli;
use crate::output::convert::Conversion;
use crate::profile::detect::{
    AUTO, DetectRules, Detection, ProfileDetector, ProfileSource, Replay,
};
use crate::profile::{self, Profile};

/// What streams are held against, each profile's made when it is first needed and then shared.
pub(super) struct Contracts<'c> {
    cli: &'c Cli,
    /// Of the profile that is named; or of the one used where a stream shows none.
    first: Contract,
    others: BTreeMap<&'static str, OnceLock<Contract>>,
}

impl<'c> Contracts<'c> {
    /// As the command line says.
    ///
    /// # Errors
    ///
    /// As [`super::contract`].
    pub(super) fn new(cli: &'c Cli) -> Result<Self, String> {
        let first = super::contract(cli)?;
        let others = Profile::names().filter(|name| *name != profile::DEFAULT);
        Ok(Self { cli, first, others: others.map(|name| (name, OnceLock::new())).collect() })
    }

    /// The contract of the profile that is named, or of the one used where a stream shows none.
    pub(super) fn first(&self) -> &Contract {
        &self.first
    }

    /// The contract of a stream that is like these profiles.
    fn of(
        &self,
        name: &str,
        detection: Detection<'_>,
    ) -> Result<(&Contract, ProfileSource), String> {
        match detection {
            Detection::One(profile) => Ok((self.of_profile(profile)?, ProfileSource::Detected)),
            Detection::None => Ok((&self.first, ProfileSource::Fallback)),
            Detection::Several(profiles) => {
                let profiles = profiles.join(" or ");
                Err(format!("{name}: the stream may be of {profiles}: say which with --profile"))
            }
        }
    }

    /// The contract of a profile that is built in.
    fn of_profile(&self, name: &str) -> Result<&Contract, String> {
        let Some(made) = self.others.get(name) else { return Ok(&self.first) };
        if let Some(contract) = made.get() {
            return Ok(contract);
        }
        let contract = contract_of(self.cli, name)?;
        Ok(made.get_or_init(|| contract))
    }
}

/// Checks streams, one after the other, each by the contract of its profile.
pub(super) struct Checkers<'c> {
    contracts: &'c Contracts<'c>,
    detector: ProfileDetector,
    /// By the name of the profile.
    made: BTreeMap<&'c str, Checker<'c>>,
    /// The one that was used last: it has the buffer, which all share.
    latest: Option<&'c str>,
}

/// A stream, and who is to check it.
pub(super) struct Chosen<'k, 'c, R> {
    pub(super) stream: Replay<R>,
    pub(super) checker: &'k mut Checker<'c>,
}

impl<'c> Checkers<'c> {
    pub(super) fn new(contracts: &'c Contracts<'c>) -> Self {
        Self {
            contracts,
            detector: ProfileDetector::default(),
            made: BTreeMap::new(),
            latest: None,
        }
    }

    /// Chooses the profile of a stream, for its conversion as well; `heard` is told of the events
    /// that it takes.
    ///
    /// # Errors
    ///
    /// When it may be of several profiles, or cannot be converted: one line for the user. The
    /// stream is read to its end then, or its producer would be killed.
    pub(super) fn choose<R: Read>(
        &mut self,
        stream: R,
        name: &str,
        conversion: Option<&mut Conversion<'c>>,
        heard: impl FnMut(),
    ) -> Result<Chosen<'_, 'c, R>, String> {
        let contracts = self.contracts;
        if let Some(latest) = self.latest.take().and_then(|name| self.made.get_mut(name)) {
            self.detector.lend_buffer(latest.take_buffer());
        }
        let (chosen, mut stream) = if contracts.cli.profile == AUTO {
            let (detection, stream) = self.detector.detect(stream, DetectRules::built_in(), heard);
            (contracts.of(name, detection), stream)
        } else {
            (Ok((&contracts.first, ProfileSource::Named)), Replay::new(stream))
        };
        let chosen = chosen.and_then(|(contract, choice)| {
            conversion.map_or(Ok(()), |it| convert_next(it, contract.profile()))?;
            Ok((contract, choice))
        });
        match chosen {
            Ok((contract, choice)) => {
                let name = contract.profile().name.as_str();
                let made = self.made.entry(name);
                let checker = made.or_insert_with(|| Checker::new(contract));
                self.latest = Some(name);
                checker.lend_buffer(self.detector.take_buffer());
                checker.choice = choice;
                Ok(Chosen { stream, checker })
            }
            Err(message) => {
                // Nothing more is to be said of it.
                let _ = io::copy(&mut stream, &mut io::sink());
                Err(message)
            }
        }
    }
}
