//! `Flights`: the conversions in progress, so that many watches of one version convert each object
//! once.
//!
//! A request claims the objects that nobody converts yet, and waits for the others. If the request
//! that converts an object is cancelled, one that waits for it takes over.

use crate::stored::Stored;
use hashbrown::HashMap;
use kubist_apimachinery::{Status, Str};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::watch;

/// One version of an object: its uid and revision.
pub(crate) type Place = (Str, u64);

/// The result of a flight, once it has one.
type Landed = Option<Result<Arc<HashMap<Place, Stored>>, Status>>;

/// The conversions in progress.
#[derive(Debug, Default)]
pub(crate) struct Flights(Mutex<HashMap<Place, watch::Receiver<Landed>>>);

/// The objects that one request converts. Dropping it gives them up.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    flights: &'a Flights,
    pub(crate) places: Vec<Place>,
    landed: watch::Sender<Landed>,
}

/// The conversion of an object by another request.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) place: Place,
    landed: watch::Receiver<Landed>,
}

impl Flights {
    /// Claims these objects, except those that are being converted already.
    pub(crate) fn claim(&self, places: impl Iterator<Item = Place>) -> (Claim<'_>, Vec<Wait>) {
        let (landed, receiver) = watch::channel(None);
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        let mut flights = self.0.lock();
        for place in places {
            if let Some(landed) = flights.get(&place) {
                others.push(Wait {
                    landed: landed.clone(),
                    place,
                });
            } else {
                flights.insert(place.clone(), receiver.clone());
                mine.push(place);
            }
        }
        drop(flights);
        let claim = Claim {
            flights: self,
            places: mine,
            landed,
        };
        (claim, others)
    }
}

impl Claim<'_> {
    /// Passes the result on to the requests that wait for it.
    pub(crate) fn land(self, converted: &Result<Vec<Stored>, Status>) {
        let landed = match converted {
            Ok(converted) => {
                let places = self.places.iter().cloned();
                Ok(Arc::new(places.zip(converted.iter().cloned()).collect()))
            }
            Err(status) => Err(status.clone()),
        };
        self.landed.send_replace(Some(landed));
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut flights = self.flights.0.lock();
        for place in &self.places {
            flights.remove(place);
        }
    }
}

impl Wait {
    /// Returns the object; `None` if its conversion was given up.
    ///
    /// # Errors
    /// The conversion has failed.
    pub(crate) async fn landed(mut self) -> Result<Option<Stored>, Status> {
        let Ok(landed) = self
            .landed
            .wait_for(Option::is_some)
            .await
            .map(|it| it.clone())
        else {
            return Ok(None);
        };
        let converted = landed.transpose()?;
        Ok(converted.and_then(|it| it.get(&self.place).cloned()))
    }
}
