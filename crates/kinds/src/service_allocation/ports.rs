//! Node ports: a single `RangeAllocation` object, changed with compare-and-set, as upstream's.
//! Ports are numbers: all protocols share them.

use super::Ranges;
use super::port_set::PortSet;
use kubist_api::core::v1::RangeAllocation;
use kubist_apimachinery::Status;
use kubist_registry::storage::{Change, Changed, PutOptions, Storage, UpdateRequest};
use kubist_registry::{BoxFuture, Random, RawStorage, StorageError, Stored};
use std::any::Any;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// The resource and the name of the object, as upstream.
pub(super) const PLURAL: &str = "ranges";
const NAME: &str = "servicenodeports";
/// The number of random picks before a linear search.
const RANDOM_PICKS: usize = 16;

/// The node ports of one store.
#[derive(Debug)]
pub(super) struct Ports {
    storage: RawStorage,
    ranges: Ranges,
    random: Arc<Random>,
}

/// A requested port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PortRequest {
    Any,
    Specific(i32),
}

/// The reason why a port cannot be allocated.
#[derive(Debug)]
pub(super) enum PortError {
    /// The request with this index cannot be satisfied.
    Refused(usize, Refusal),
    Storage(StorageError),
}

impl From<Status> for PortError {
    fn from(status: Status) -> Self {
        Self::Storage(status.into())
    }
}

/// The reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Allocated,
    OutOfRange,
    Full,
}

impl Ports {
    pub(super) fn new(storage: RawStorage, ranges: Ranges, random: Arc<Random>) -> Self {
        Self {
            storage,
            ranges,
            random,
        }
    }

    pub(super) fn range(&self) -> &RangeInclusive<u16> {
        &self.ranges.node_ports
    }

    /// Allocates all requested ports in one write, or none. A dry run only checks; for
    /// [`PortRequest::Any`] it returns numbers beyond the range, as upstream.
    pub(super) async fn allocate(
        &self,
        requests: &[PortRequest],
        dry_run: bool,
    ) -> Result<Vec<u16>, PortError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let mut change = AllocatePorts {
            ports: self,
            requests,
            dry_run,
            granted: Ok(Vec::new()),
        };
        if dry_run {
            let stored = self.storage.get(&self.key()?, None).await;
            let stored = stored.map_err(PortError::Storage)?;
            return change.allocate(&mut read(stored.as_ref())?.0);
        }
        let key = self.key()?;
        let updated = self.storage.update(key, CREATES, &mut change).await;
        match (change.granted, updated) {
            (Ok(granted), Ok(_)) => Ok(granted),
            (Err(refused), _) => Err(refused),
            (Ok(_), Err(error)) => Err(PortError::Storage(error)),
        }
    }

    /// Releases ports.
    pub(super) async fn release(&self, ports: &[u16]) -> Result<(), StorageError> {
        if ports.is_empty() {
            return Ok(());
        }
        let mut edit = |set: &mut BTreeSet<u16>| {
            for port in ports {
                set.remove(port);
            }
        };
        self.change(&mut EditPorts {
            range: self.range(),
            edit: &mut edit,
        })
        .await
    }

    /// Changes the set, and retries after each conflicting write.
    pub(super) async fn change(&self, change: &mut dyn Change) -> Result<(), StorageError> {
        let key = self.key()?;
        self.storage.update(key, CREATES, change).await.map(drop)
    }

    fn key(&self) -> Result<String, Status> {
        self.storage.keys().key("", NAME)
    }

    /// Returns the number of free ports.
    fn count(&self, allocated: &BTreeSet<u16>) -> usize {
        let range = self.range();
        // An inverted range is empty, and `BTreeSet::range` panics on it.
        if range.is_empty() {
            return 0;
        }
        range.len() - allocated.range(range.clone()).count()
    }

    /// Returns a free port. The linear search removes visited ports from the bands: they are not
    /// free until one is released, and are not visited again.
    fn free(&self, allocated: &BTreeSet<u16>, bands: &mut [Range<u32>; 2]) -> Option<u16> {
        let free = |port: u32| {
            let port = u16::try_from(port).ok()?;
            (!allocated.contains(&port)).then_some(port)
        };
        bands.iter_mut().find_map(|band| {
            let count = u64::from(band.end.checked_sub(band.start).filter(|it| *it > 0)?);
            let picked = (0..RANDOM_PICKS).find_map(|_| {
                let offset = u32::try_from(self.random.below(count)).ok()?;
                free(band.start + offset)
            });
            picked.or_else(|| band.by_ref().find_map(free))
        })
    }
}

const CREATES: UpdateRequest<'static> = UpdateRequest {
    preconditions: None,
    missing_ok: true,
    suggestion: None,
};

/// Returns the stored set; empty if there is none yet.
pub(super) fn read(stored: Option<&Stored>) -> Result<(PortSet, RangeAllocation), Status> {
    let Some(stored) = stored else {
        return Ok(Default::default());
    };
    let object: &dyn Any = &**stored.object()?;
    let allocation = object.downcast_ref::<RangeAllocation>();
    let allocation = allocation.cloned().unwrap_or_default();
    Ok((PortSet::read(&allocation), allocation))
}

/// Returns the new version of the stored set.
pub(super) fn written(
    ports: BTreeSet<u16>,
    range: &RangeInclusive<u16>,
    mut allocation: RangeAllocation,
) -> Changed {
    PortSet(ports).write(range, &mut allocation);
    Changed::Write(Box::new(allocation), PutOptions::default())
}

/// An edit that cannot fail.
struct EditPorts<'a> {
    range: &'a RangeInclusive<u16>,
    edit: &'a mut (dyn FnMut(&mut BTreeSet<u16>) + Send),
}

impl Change for EditPorts<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let (PortSet(mut ports), allocation) = read(current)?;
            (self.edit)(&mut ports);
            Ok(written(ports, self.range, allocation))
        })
    }
}

struct AllocatePorts<'a> {
    ports: &'a Ports,
    requests: &'a [PortRequest],
    dry_run: bool,
    /// The result of the last attempt.
    granted: Result<Vec<u16>, PortError>,
}

impl AllocatePorts<'_> {
    fn allocate(&self, PortSet(allocated): &mut PortSet) -> Result<Vec<u16>, PortError> {
        let mut granted = vec![0; self.requests.len()];
        // Specific ports are allocated before unspecific ones.
        for (at, request) in self.requests.iter().enumerate() {
            let PortRequest::Specific(number) = *request else {
                continue;
            };
            let port = u16::try_from(number).ok();
            let port = port.filter(|it| self.ports.range().contains(it));
            let port = port.ok_or(PortError::Refused(at, Refusal::OutOfRange))?;
            if !allocated.insert(port) {
                return Err(PortError::Refused(at, Refusal::Allocated));
            }
            granted[at] = port;
        }
        let any = self.requests.iter().enumerate();
        let any = any.filter(|(_, request)| **request == PortRequest::Any);
        // The first request that exceeds the free count is rejected before any search.
        let count = self.ports.count(allocated);
        if let Some((at, _)) = any.clone().nth(count).filter(|_| !self.dry_run) {
            return Err(PortError::Refused(at, Refusal::Full));
        }
        let mut bands = self.ports.ranges.port_bands();
        // The first number beyond the range is skipped, as upstream.
        let mut beyond = self.ports.range().end().saturating_add(1);
        for (at, _) in any {
            let port = if self.dry_run {
                beyond = beyond.saturating_add(1);
                Some(beyond)
            } else {
                self.ports.free(allocated, &mut bands)
            };
            let port = port.ok_or(PortError::Refused(at, Refusal::Full))?;
            allocated.insert(port);
            granted[at] = port;
        }
        Ok(granted)
    }
}

impl Change for AllocatePorts<'_> {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let (mut ports, allocation) = read(current)?;
            self.granted = self.allocate(&mut ports);
            if self.granted.is_err() {
                // Ends the update; the result is in `granted`.
                return Err(Status::bad_request("no such node port"));
            }
            Ok(written(ports.0, self.ports.range(), allocation))
        })
    }
}
