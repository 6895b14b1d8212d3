//! Authentication of requests, and their seats in flight.

use super::{Service, non_resource};
use crate::authentication::authenticator::{self, ANONYMOUS_USER, UNAUTHENTICATED_GROUP};
use crate::authentication::service_accounts;
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

/// Upstream's warning, word for word.
const EXTRA_SPACE: &str = "the provided Authorization header contains extra space before the bearer \
                           token, and is ignored";

impl Service {
    /// Authenticates a request. The first of these that identifies a user decides:
    ///
    /// 1. the client certificate of the connection (`Authenticator::authenticate`);
    /// 2. a static bearer token (same function);
    /// 3. the user of an in-process stream, for a request without an `Authorization` header (same
    ///    function);
    /// 4. a service account token (`service_accounts::user_of`, which reads from storage);
    /// 5. on public paths, the anonymous user: for a request without credentials, or while service
    ///    accounts cannot be looked up.
    ///
    /// One valid credential is sufficient, as upstream: refused ones before it do not matter.
    ///
    /// # Errors
    /// 401 for missing or wrong credentials; storage errors while a service account is looked up.
    pub(super) async fn authenticated(
        &self,
        cx: &RequestContext,
        connection: &ConnectionInfo,
        request: &Request,
    ) -> Result<User, Status> {
        if authenticator::has_extra_space(&request.headers) {
            cx.warn(EXTRA_SPACE);
        }
        let known = self.context.authenticator.authenticate(
            &connection.peer,
            &request.headers,
            cx.received,
        );
        let user = match known {
            Ok(user) => user,
            Err(refused) => {
                let public = self.anonymous_health && non_resource::is_public(&request.path);
                match self.service_account(cx, request).await {
                    Ok(Some(user)) => user,
                    // Health is public: anonymous requests may see it, even while service accounts
                    // cannot be looked up.
                    Ok(None) if public && !connection.peer.has_credentials(&request.headers) => {
                        anonymous()
                    }
                    Err(_) if public => anonymous(),
                    Ok(None) => return Err(refused),
                    Err(status) => return Err(status),
                }
            }
        };
        if *user.name != *ANONYMOUS_USER {
            connection.client_state.mark_authenticated();
        }
        Ok(user)
    }

    /// Returns whom a user impersonates in this request, or the user.
    ///
    /// # Errors
    /// 403 if the user may not.
    pub(super) async fn impersonated(
        &self,
        request: &Request,
        user: User,
        record: &RequestRecord,
    ) -> Result<User, Status> {
        let own = record.audit().map(|_| user.clone());
        let authorization = &self.context.authorization;
        let user = impersonation::impersonated(&request.headers, user, authorization).await?;
        if let (Some(audit), Some(own)) = (record.audit(), own)
            && own != user
        {
            audit.impersonates(&user);
        }
        Ok(user)
    }

    /// Returns the service account whose token a request has.
    async fn service_account(
        &self,
        cx: &RequestContext,
        request: &Request,
    ) -> Result<Option<User>, Status> {
        let authenticator = &self.context.authenticator;
        let Some(claims) = authenticator.service_account(&request.headers, cx.received) else {
            return Ok(None);
        };
        service_accounts::user_of(&self.context.registry, &claims).await
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

fn anonymous() -> User {
    User {
        name: ANONYMOUS_USER.into(),
        groups: vec![UNAUTHENTICATED_GROUP.into()],
        ..User::default()
    }
}
