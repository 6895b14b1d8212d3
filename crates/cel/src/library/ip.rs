//! [`Ip`]: IP addresses, and the functions on them.

use super::{Library, addresses, costs};
use crate::cel_type::Type;
use crate::cost::{CallCost, CallEstimate, Operands};
use crate::error::EvalError;
use crate::function::Function;
use crate::value::format::quote;
use crate::value::{Opaque, OpaqueValue, Value};
use std::net::IpAddr;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "net.IP";

/// An IP address without a zone, which is not an IPv4 address within IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ip(pub(super) IpAddr);

impl OpaqueValue for Ip {
    fn runtime_type(&self) -> Type {
        Type::opaque(NAME, Vec::new())
    }

    fn equals(&self, other: &dyn OpaqueValue) -> Result<bool, EvalError> {
        let other: &dyn std::any::Any = other;
        let other: Option<&Self> = other.downcast_ref();
        other
            .map(|it| it == self)
            .ok_or_else(EvalError::no_such_overload)
    }

    fn size(&self) -> Option<u64> {
        Some(u64::from(addresses::width(self.0) / 8))
    }
}

/// Parses an address, with upstream's words.
pub(super) fn parse(text: &str) -> Result<Ip, EvalError> {
    let quoted = quote(text);
    let parsed = addresses::parse(text).map_err(|why| {
        EvalError::failed(format!(
            "IP Address {quoted} parse error during conversion from string: {why}"
        ))
    })?;
    if parsed.has_zone {
        let words = format!("IP address {quoted} with zone value is not allowed");
        return Err(EvalError::failed(words));
    }
    if is_mapped(parsed.address) {
        let words = format!("IPv4-mapped IPv6 address {quoted} is not allowed");
        return Err(EvalError::failed(words));
    }
    Ok(Ip(parsed.address))
}

/// Reports whether an address is an IPv4 address within IPv6.
pub(super) fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(it) if it.to_ipv4_mapped().is_some())
}

fn text<'s>(arguments: &'s [Value<'_>]) -> Result<&'s str, EvalError> {
    let text = arguments.first().and_then(Value::as_str);
    text.ok_or_else(EvalError::no_such_overload)
}

fn ip_of(arguments: &[Value<'_>]) -> Result<IpAddr, EvalError> {
    match arguments {
        [Value::Opaque(it), ..] => it.downcast().map(|it: &Ip| it.0),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}

fn tested<'a>(arguments: &[Value<'a>], test: fn(IpAddr) -> bool) -> Outcome<'a> {
    ip_of(arguments).map(|it| Value::Bool(test(it)))
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.octets()[..3] == [224, 0, 0],
        IpAddr::V6(it) => it.segments()[0] & 0xff0f == 0xff02,
    }
}

fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => it.is_link_local(),
        IpAddr::V6(it) => it.is_unicast_link_local(),
    }
}

/// Private addresses are global unicast addresses, too.
fn is_global_unicast(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(it) if it.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local_unicast(address))
}

/// `ip` of a CIDR only reads it.
fn ip_cost(call: &CallCost<'_, '_>) -> Option<u64> {
    if call.overload == Some("cidr_ip") {
        return costs::nominal(call);
    }
    costs::parsed(call)
}

fn ip_estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    if operands.overload == "cidr_ip" {
        return costs::nominal_estimate(operands);
    }
    costs::parsing(operands)
}

#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
fn canonical_cost(call: &CallCost<'_, '_>) -> Option<u64> {
    Some(call.traversal(0, 2.0))
}

fn canonical_estimate(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let size = operands.arguments.first()?.size();
    Some(CallEstimate::of(costs::traversal(size, 2.0)))
}

/// Declares a member that tests an address.
fn test(
    name: &'static str,
    id: &'static str,
    implementation: crate::function::Implementation,
) -> Function {
    Function::new(name)
        .member(id, "net.IP -> bool", implementation)
        .costs(costs::nominal, costs::nominal_estimate)
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("ip")
            .overload("string_to_ip", "string -> net.IP", |it| {
                Ok(Value::Opaque(Opaque::new(parse(text(it)?)?)))
            })
            .costs(ip_cost, ip_estimate),
        Function::new("family")
            .member("ip_family", "net.IP -> int", |it| {
                Ok(Value::Int(if ip_of(it)?.is_ipv4() { 4 } else { 6 }))
            })
            .costs(costs::nominal, costs::nominal_estimate),
        Function::new("ip.isCanonical")
            .overload("ip_is_canonical", "string -> bool", |it| {
                let text = text(it)?;
                Ok(Value::Bool(parse(text)?.0.to_string() == text))
            })
            .costs(canonical_cost, canonical_estimate),
        test("isUnspecified", "ip_is_unspecified", |it| {
            tested(it, |it| it.is_unspecified())
        }),
        test("isLoopback", "ip_is_loopback", |it| {
            tested(it, |it| it.is_loopback())
        }),
        test("isLinkLocalMulticast", "ip_is_link_local_multicast", |it| {
            tested(it, is_link_local_multicast)
        }),
        test("isLinkLocalUnicast", "ip_is_link_local_unicast", |it| {
            tested(it, is_link_local_unicast)
        }),
        test("isGlobalUnicast", "ip_is_global_unicast", |it| {
            tested(it, is_global_unicast)
        }),
        Function::new("isIP")
            .overload("is_ip", "string -> bool", |it| {
                Ok(Value::Bool(parse(text(it)?).is_ok()))
            })
            .costs(costs::parsed, costs::parsing),
        Function::new("string").overload("ip_to_string", "net.IP -> string", |it| {
            ip_of(it).map(|it| Value::string(it.to_string()))
        }),
    ];
    Library {
        functions,
        types: vec![(NAME, Type::opaque(NAME, Vec::new()))],
    }
}
