//! `View`: stored objects of a definition, in one of its versions.
//!
//! A single object is converted for each read and each write. Lists and watches reuse a conversion
//! that is known for an object, as upstream's watch cache does, and wait for one in progress.

use crate::custom::conversion::Conversion;
use crate::custom::conversion::flights::{Flights, Place};
use crate::storage::convert::ConvertStored;
use crate::stored::Stored;
use crate::stored::custom_object::custom;
use crate::stored::scheme::StoredKind;
use crate::strategy::BoxFuture;
use hashbrown::HashMap;
use kubist_api::Kind;
use kubist_apimachinery::{AnyObject, CustomObject, Status};
use std::sync::Arc;

/// One version of the objects of a definition.
#[derive(Debug)]
pub(crate) struct View {
    conversion: Arc<Conversion>,
    kind: StoredKind,
    /// The version in which objects are written.
    stored: &'static Kind,
    /// The conversions of lists and watches in progress.
    flights: Flights,
}

impl View {
    /// Creates a view in `kind` of objects that are written as `stored`.
    pub(crate) fn new(
        conversion: Arc<Conversion>,
        kind: &'static Kind,
        stored: &'static Kind,
    ) -> Self {
        Self {
            conversion,
            kind: StoredKind::plain(kind),
            stored,
            flights: Flights::default(),
        }
    }

    /// Returns the version.
    pub(crate) fn kind(&self) -> StoredKind {
        self.kind
    }

    /// Reports whether reading an object can change what selectors match.
    pub(crate) fn changes_objects(&self) -> bool {
        self.conversion.changes_objects()
    }

    /// Reports whether an object can be served as it is stored, which is found out once for each
    /// schema. It is decoded only if its text does not say so.
    pub(crate) fn is_ready(&self, stored: &Stored) -> bool {
        if !std::ptr::eq(stored.kind(), self.kind.kind) {
            return false;
        }
        let pipeline = self.conversion.pipeline(self.kind.kind);
        let Some(pipeline) = pipeline.filter(|it| it.reading() > 0) else {
            return true;
        };
        if let Some(is_complete) = stored.is_complete(pipeline.reading()) {
            return is_complete;
        }
        if stored
            .text()
            .is_some_and(|it| pipeline.is_settled(it.as_bytes()))
        {
            stored.set_complete(pipeline.reading(), true);
            return true;
        }
        let Ok(object) = stored.to_object() else {
            return false;
        };
        let is_complete = custom(&*object).is_some_and(|it| pipeline.reads_unchanged(it));
        stored.set_complete(pipeline.reading(), is_complete);
        is_complete
    }

    /// Converts one object anew.
    pub(crate) async fn one(&self, stored: &Stored) -> Result<Stored, Status> {
        if self.is_ready(stored) {
            return Ok(stored.clone());
        }
        let converted = self.anew(std::slice::from_ref(stored)).await?;
        converted.into_iter().next().ok_or_else(not_converted)
    }

    /// Converts objects anew, and keeps the results.
    async fn anew(&self, objects: &[Stored]) -> Result<Vec<Stored>, Status> {
        let read = objects.iter().map(|stored| self.read(stored));
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let made = self.conversion.convert(read, self.kind.kind).await;
        let made = made.map_err(Status::unmapped_error)?;
        let kept = objects.iter().zip(made).map(|(stored, object)| {
            let object = Stored::from_object(self.kind, stored.revision(), Box::new(object));
            stored.keep_converted(self.conversion.id(), &object);
            object
        });
        Ok(kept.collect())
    }

    /// Converts objects. Known conversions are used again, and those in progress are awaited.
    async fn shared(&self, objects: &[Stored]) -> Result<Vec<Stored>, Status> {
        let known = |stored: &Stored| {
            if self.is_ready(stored) {
                return Some(stored.clone());
            }
            stored.converted(self.conversion.id(), self.kind.kind)
        };
        let mut converted: Vec<Option<Stored>> = objects.iter().map(known).collect();
        loop {
            let mut missing = Vec::new();
            for (index, stored) in objects.iter().enumerate() {
                if converted.get(index).is_some_and(Option::is_none) {
                    missing.push((index, place_of(stored)?));
                }
            }
            if missing.is_empty() {
                return converted
                    .into_iter()
                    .map(|it| it.ok_or_else(not_converted))
                    .collect();
            }
            self.fly(objects, &missing, &mut converted).await?;
        }
    }

    /// Converts the missing objects that nobody converts yet, and waits for the others.
    async fn fly(
        &self,
        objects: &[Stored],
        missing: &[(usize, Place)],
        converted: &mut [Option<Stored>],
    ) -> Result<(), Status> {
        let places = missing.iter().map(|(_, place)| place.clone());
        let (claim, others) = self.flights.claim(places);
        let indexes = missing.iter().map(|(index, place)| (place, *index));
        let indexes: HashMap<&Place, usize> = indexes.collect();
        let index_of = |place: &Place| indexes.get(place).copied();
        let mine: Vec<usize> = claim.places.iter().filter_map(index_of).collect();
        if !mine.is_empty() {
            let claimed = mine.iter().filter_map(|it| objects.get(*it).cloned());
            let claimed: Vec<Stored> = claimed.collect();
            let made = self.anew(&claimed).await;
            claim.land(&made);
            for (index, stored) in mine.into_iter().zip(made?) {
                if let Some(place) = converted.get_mut(index) {
                    *place = Some(stored);
                }
            }
        }
        for other in others {
            let index = index_of(&other.place);
            let landed = other.landed().await?;
            if let Some(place) = index.and_then(|it| converted.get_mut(it)) {
                *place = landed;
            }
        }
        Ok(())
    }

    /// Returns an object as it is before a conversion.
    fn read(&self, stored: &Stored) -> Result<CustomObject, Status> {
        let mut object = custom(&**stored.object()?)
            .cloned()
            .ok_or_else(not_custom)?;
        if let Some(pipeline) = self.conversion.pipeline(stored.kind()) {
            pipeline.read(&mut object);
        }
        Ok(object)
    }

    /// Converts an object to the version in which it is written.
    pub(crate) async fn to_stored(
        &self,
        object: Box<dyn AnyObject>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        if std::ptr::eq(self.kind.kind, self.stored) {
            return Ok(object);
        }
        let object = custom(&*object).cloned().ok_or_else(not_custom)?;
        let converted = self.conversion.convert(vec![object], self.stored).await;
        let converted = converted.map_err(Status::unmapped_error)?;
        let object = converted.into_iter().next().ok_or_else(not_custom)?;
        Ok(Box::new(object))
    }
}

/// Returns the key of an object's version among the conversions in progress.
fn place_of(stored: &Stored) -> Result<Place, Status> {
    Ok((stored.object()?.meta().uid.clone(), stored.revision()))
}

fn not_converted() -> Status {
    Status::internal_error("an object was not converted")
}

fn not_custom() -> Status {
    Status::internal_error("a custom object was expected")
}

impl ConvertStored for View {
    fn convert<'a>(&'a self, objects: &'a [Stored]) -> BoxFuture<'a, Result<Vec<Stored>, Status>> {
        Box::pin(self.shared(objects))
    }
}

#[cfg(test)]
mod tests;
