//! Many small concurrent requests.

use crate::Outcome;
use crate::call::Call;
use crate::fill::config_maps;
use crate::stage::{Stage, repeat};
use std::sync::Arc;

/// Connections, and concurrent requests on each.
const CONNECTIONS: usize = 2;
const STREAMS: usize = 250;

/// Sends requests until the time is over.
pub(super) async fn run(stage: &Arc<Stage>) -> Outcome {
    let get = Call::get("get", config_maps() + "/m00000");
    let missing = Call::get("get what is not there", config_maps() + "/missing");
    let list = Call::get("list of one", config_maps());
    repeat(stage, CONNECTIONS, STREAMS, vec![get, missing, list]).await
}
