//! Authentication of requests, and their seats in flight.

use super::{Service, non_resource};
use crate::authentication::authenticator::{ANONYMOUS_USER, Asked, Failure};
use crate::authentication::{authenticator, bearer};
use crate::filters::connection_info::ConnectionInfo;
use crate::filters::impersonation;
use crate::filters::incoming_request::IncomingRequest;
use crate::filters::request_record::RequestRecord;
use crate::filters::seat_reservation::SeatReservation;
use crate::filters::seats::TooManyRequests;
use crate::request::Request;
use crate::routes::health::Health;
use kubist_apimachinery::Status;
use kubist_authorization::Attributes;
use kubist_registry::{RequestContext, User};
use tokio::time::Instant;

/// Upstream's warning, word for word.
const EXTRA_SPACE: &str = "the provided Authorization header contains extra space before the bearer \
                           token, and is ignored";

impl Service {
    /// Authenticates a request: by its credentials (`Authenticator::authenticate`), or as the
    /// anonymous user, if it has none and such requests are served (`Anonymous`).
    ///
    /// # Errors
    /// 401 for missing or wrong credentials; storage errors while objects of tokens are looked up.
    pub(super) async fn authenticated(
        &self,
        cx: &RequestContext,
        connection: &ConnectionInfo,
        request: &Request,
    ) -> Result<User, Status> {
        if bearer::has_extra_space(&request.headers) {
            cx.warn(EXTRA_SPACE);
        }
        let authenticator = &self.context.authenticator;
        let asked = Asked {
            peer: &connection.peer,
            headers: &request.headers,
            path: &request.path,
            audiences: authenticator.issuer().audiences(),
            cx,
            registry: &self.context.registry,
        };
        let is_public = non_resource::is_public(&request.path);
        let user = match authenticator.authenticate(&asked).await {
            Ok(found) => found.user,
            Err(Failure::None) if self.serves_anonymous(&request.path) => {
                authenticator::anonymous(&asked).user
            }
            // Health is public: anonymous requests may see it, even while tokens cannot be judged.
            Err(Failure::Unavailable(_)) if is_public && self.serves_anonymous(&request.path) => {
                authenticator::anonymous(&asked).user
            }
            Err(Failure::Unavailable(status)) => return Err(*status),
            Err(Failure::None) => return Err(Status::unauthorized()),
            Err(Failure::Unauthorized(why)) => {
                tracing::debug!(%why, "unable to authenticate the request");
                return Err(Status::unauthorized());
            }
        };
        if *user.name != *ANONYMOUS_USER {
            connection.client_state.mark_authenticated();
        }
        Ok(user)
    }

    fn serves_anonymous(&self, path: &str) -> bool {
        let allows_all = self.context.authorization.allows_all();
        self.context
            .anonymous
            .serves(path, allows_all, non_resource::is_public(path))
    }

    /// Returns whom the sender of a request impersonates in it, if anybody. `asked` is the request
    /// by its sender.
    ///
    /// # Errors
    /// 403 if the sender may not.
    pub(super) async fn impersonated(
        &self,
        request: &Request,
        asked: Attributes<'_>,
        record: &RequestRecord,
    ) -> Result<Option<User>, Status> {
        let authorization = &self.context.authorization;
        let (headers, last) = (&request.headers, &self.last_modes);
        let began = Instant::now();
        let acting = impersonation::impersonated(headers, asked, authorization, last).await;
        let constraint = match &acting {
            Ok(acting) => acting.as_ref().map(|it| Some(it.constraint)),
            Err(status) => (status.code == 403).then_some(None),
        };
        if let Some(constraint) = constraint {
            let access = self.context.metrics.access();
            access.impersonated(constraint, began.elapsed());
        }
        let acting = acting?;
        if let (Some(audit), Some(acting)) = (record.audit(), &acting) {
            audit.impersonates(&acting.user, acting.constraint);
        }
        Ok(acting.map(|it| it.user))
    }

    /// Reserves a seat in flight for a request, if it needs one.
    ///
    /// # Errors
    /// Too many requests are in flight.
    pub(super) async fn reservation<'a>(
        &'a self,
        asked: Attributes<'a>,
        incoming: IncomingRequest<'a>,
    ) -> Result<SeatReservation<'a>, TooManyRequests> {
        let probe = Health::of_path(&incoming.request.path).is_some();
        // With priority levels the beginning of a watch is work like any other, as upstream.
        let begins_watch = asked.verb == "watch" && self.seats.flow().is_some();
        if probe || (incoming.labels.long_running && !begins_watch) {
            return Ok(SeatReservation::without_seat(&self.seats, asked, incoming));
        }
        SeatReservation::new(&self.seats, asked, incoming).await
    }
}
