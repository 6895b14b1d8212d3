//! Who asks: the user of a request, and whether there is a place for it.

use super::{Asked, Service, other};
use crate::authn::{ANONYMOUS_USER, Peer, UNAUTHENTICATED_GROUP};
use crate::health::Health;
use crate::in_flight::Place;
use crate::request::Request;
use crate::{impersonation, service_accounts};
use kubist_apimachinery::Status;
use kubist_registry::{RequestContext, User};

impl Service {
    /// The user of a request.
    ///
    /// # Errors
    /// 401; 403 for who wants to be somebody else; what storage says when it cannot tell whether a
    /// service account is there.
    pub(super) async fn user(
        &self,
        cx: &RequestContext,
        peer: &Peer,
        request: &Request,
    ) -> Result<User, Status> {
        let known = self
            .authenticator
            .authenticate(peer, &request.headers, cx.received);
        let user = match known {
            Ok(user) => user,
            Err(refused) => {
                let public = self.anonymous_health && other::is_public(&request.path);
                match self.service_account(cx, request).await {
                    Ok(Some(user)) => user,
                    // Whether the server is well is told to whoever does not say who they are,
                    // and where nobody can tell.
                    Ok(None) if public && !peer.is_told(&request.headers) => anonymous(),
                    Err(_) if public => anonymous(),
                    Ok(None) => return Err(refused),
                    Err(status) => return Err(status),
                }
            }
        };
        impersonation::refuse(&request.headers, &user)?;
        Ok(user)
    }

    /// The service account whose token a request has.
    async fn service_account(
        &self,
        cx: &RequestContext,
        request: &Request,
    ) -> Result<Option<User>, Status> {
        let authenticator = &self.authenticator;
        let Some(claims) = authenticator.service_account(&request.headers, cx.received) else {
            return Ok(None);
        };
        service_accounts::user_of(&self.registry, &claims).await
    }

    /// A place among the requests that are answered at a time. None for those that need none.
    ///
    /// # Errors
    /// There is no room.
    pub(super) fn place(&self, user: &User, asked: Asked<'_>) -> Result<Option<Place>, NoRoom> {
        let probe = Health::of_path(&asked.request.path).is_some();
        if asked.labels.long_running || probe {
            return Ok(None);
        }
        let place = self.in_flight.admit(user, asked.labels);
        place.map(Some).ok_or(NoRoom)
    }
}

/// As many requests are answered as may be.
#[derive(Debug)]
pub(super) struct NoRoom;

fn anonymous() -> User {
    User {
        name: ANONYMOUS_USER.into(),
        groups: vec![UNAUTHENTICATED_GROUP.into()],
        ..User::default()
    }
}
