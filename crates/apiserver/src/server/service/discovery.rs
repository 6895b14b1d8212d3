//! The paths of API groups and versions: which there are, and what each serves.

use super::Service;
use crate::discovery;
use crate::negotiation::response_encoder::not_acceptable;
use crate::request::Request;
use crate::request::route::Route;
use crate::response::ApiResponse;
use crate::response::errors::{method_not_allowed, not_found};
use kubist_apimachinery::Status;
use kubist_codec::negotiate::{Offer, negotiate};

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
        if let Some(name) = group {
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
        let chosen = negotiate(request.accept(), &offer);
        let mut chosen = chosen.map_err(|refusal| not_acceptable(&refusal))?;
        chosen.pretty |= request.wants_pretty();
        let if_none_match = request.if_none_match();
        match route {
            Route::CoreVersions => {
                discovery::core_versions(&groups, &chosen, self.address, if_none_match)
            }
            Route::Groups => discovery::groups(&groups, &chosen, if_none_match),
            Route::Group(name) => match discovery::group(&groups, name) {
                Some(group) => discovery::document(&chosen, &discovery::api_group(group)),
                None => Ok(ApiResponse::page_not_found()),
            },
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
