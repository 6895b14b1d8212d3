//! The paths of API groups and versions: which there are, and what each serves.

use super::Service;
use crate::discovery;
use crate::negotiation::response_encoder::negotiated;
use crate::request::Request;
use crate::request::route::Route;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use kubist_apimachinery::Status;
use kubist_codec::negotiate::Offer;

impl Service {
    /// Answers a request for the groups, their versions or the resources of one.
    pub(super) fn discovery(
        &self,
        route: &Route,
        request: &Request,
    ) -> Result<ApiResponse, Status> {
        let groups = self.context.registry.groups();
        let (group, version) = match route {
            Route::Group(group) => (Some(group), None),
            Route::GroupVersion { group, version } => (Some(group), Some(version)),
            _ => (None, None),
        };
        let mut defined = false;
        let aggregation = &self.context.aggregation;
        let aggregated = group.filter(|_| version.is_none()).and_then(|name| {
            let local = discovery::group(&groups, name).map(discovery::api_group);
            aggregation.legacy_group(name, local.as_ref())
        });
        if let Some(name) = group.filter(|_| aggregated.is_none()) {
            let Some(group) = discovery::group(&groups, name) else {
                return Ok(ApiResponse::page_not_found());
            };
            defined = self.context.is_custom(group);
            match version {
                Some(version) if group.version(version).is_some() => {}
                Some(_) if defined => return Ok(ApiResponse::page_not_found()),
                Some(_) => return Err(not_found()),
                None => {}
            }
        }
        // As upstream, these accept any method, like its root path.
        let any_method = matches!(route, Route::Groups | Route::Group(_));
        if !any_method && request.method != "GET" {
            return Err(method_not_allowed(&request.method));
        }
        let offer = Offer {
            discovery: matches!(route, Route::CoreVersions | Route::Groups),
            routed: !defined && !any_method,
            ..Offer::DISCOVERY
        };
        let mut chosen = negotiated(request, &offer)?;
        chosen.pretty |= request.wants_pretty();
        let if_none_match = request.if_none_match();
        match route {
            Route::CoreVersions => {
                discovery::core_versions(&groups, &chosen, self.address, if_none_match)
            }
            Route::Groups => {
                let add = |local: &mut Vec<_>, form| aggregation.add_groups(local, form);
                discovery::groups(&groups, &chosen, if_none_match, add)
            }
            Route::Group(name) => {
                let local = || discovery::group(&groups, name).map(discovery::api_group);
                match aggregated.or_else(local) {
                    Some(group) => discovery::document(&chosen, &group),
                    None => Ok(ApiResponse::page_not_found()),
                }
            }
            Route::GroupVersion { group, version } => {
                let Some(served) = discovery::group(&groups, group) else {
                    return Ok(ApiResponse::page_not_found());
                };
                let version = served.version(version).ok_or_else(not_found)?;
                discovery::document(&chosen, &discovery::resource_list(group, version))
            }
            Route::Resource(_) | Route::Malformed | Route::Other => {
                Ok(ApiResponse::page_not_found())
            }
        }
    }
}
