//! [`Cidr`]: IP networks, and the functions on them.

use super::ip::{self, Ip};
use super::{Library, addresses, costs};
use crate::cel_type::Type;
use crate::cost::{CallCost, CallEstimate, CostEstimate, Operands, STRING_TRAVERSAL, SizeEstimate};
use crate::error::EvalError;
use crate::function::Function;
use crate::value::format::quote;
use crate::value::{Opaque, OpaqueValue, Value};
use std::net::IpAddr;

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// The type's name.
const NAME: &str = "net.CIDR";

/// The sizes of addresses, in bytes.
const ADDRESS: SizeEstimate = SizeEstimate { min: 4, max: 16 };

/// An IP network. The bits behind its prefix are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cidr {
    address: IpAddr,
    bits: u8,
}

impl OpaqueValue for Cidr {
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
        Some(u64::from(self.bits).div_ceil(8))
    }
}

impl Cidr {
    /// Reports whether all addresses of a network are in this one.
    fn contains(self, address: IpAddr, bits: u8) -> bool {
        address.is_ipv4() == self.address.is_ipv4()
            && self.bits <= bits
            && addresses::masked(address, self.bits) == addresses::masked(self.address, self.bits)
    }

    fn text(self) -> String {
        format!("{}/{}", self.address, self.bits)
    }
}

/// The context of an error, which upstream adds twice.
const CONTEXT: &str = "network address parse error during conversion from string: ";

fn parse(text: &str) -> Result<Cidr, EvalError> {
    let (address, bits) = addresses::parse_prefix(text)
        .map_err(|why| EvalError::failed(format!("{CONTEXT}{CONTEXT}{why}")))?;
    if ip::is_mapped(address) {
        let text = quote(text);
        return Err(EvalError::failed(format!(
            "{CONTEXT}IPv4-mapped IPv6 address {text} is not allowed"
        )));
    }
    Ok(Cidr { address, bits })
}

fn text<'s>(arguments: &'s [Value<'_>]) -> Result<&'s str, EvalError> {
    let text = arguments.first().and_then(Value::as_str);
    text.ok_or_else(EvalError::no_such_overload)
}

fn cidr_of(arguments: &[Value<'_>]) -> Result<Cidr, EvalError> {
    match arguments {
        [Value::Opaque(it), ..] => it.downcast().copied(),
        _ => None,
    }
    .ok_or_else(EvalError::no_such_overload)
}

/// A text that is not an address is reported as if it had the wrong type.
fn contains_ip<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let cidr = cidr_of(arguments)?;
    let address = match arguments.get(1) {
        Some(Value::String(text)) => ip::parse(text.as_str()).ok(),
        Some(Value::Opaque(it)) => it.downcast().copied(),
        _ => None,
    };
    let Ip(address) = address.ok_or_else(EvalError::no_such_overload)?;
    Ok(Value::Bool(cidr.contains(address, u8::MAX)))
}

fn contains_cidr<'a>(arguments: &mut [Value<'a>]) -> Outcome<'a> {
    let cidr = cidr_of(arguments)?;
    let other = match arguments {
        [_, Value::String(text)] => parse(text.as_str())?,
        [_, other] => cidr_of(std::slice::from_ref(other))?,
        _ => return Err(EvalError::no_such_overload()),
    };
    Ok(Value::Bool(cidr.contains(other.address, other.bits)))
}

fn network<'a>(cidr: Cidr) -> Value<'a> {
    Value::Opaque(Opaque::new(cidr))
}

fn compared(call: &CallCost<'_, '_>) -> u64 {
    let size = call.size(0);
    crate::cost::estimate::scaled(size.saturating_add(size), STRING_TRAVERSAL)
}

#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
fn contains_ip_cost(call: &CallCost<'_, '_>) -> Option<u64> {
    let is_text = call.overload == Some("cidr_contains_ip_string");
    let parsing = if is_text { call.traversal(1, 1.0) } else { 0 };
    Some(compared(call).saturating_add(parsing))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of runtime costs")]
fn contains_cidr_cost(call: &CallCost<'_, '_>) -> Option<u64> {
    let is_text = call.overload == Some("cidr_contains_cidr_string");
    let parsing = if is_text { call.traversal(1, 1.0) } else { 0 };
    let masking = call.traversal(0, 1.0).saturating_add(1);
    Some(
        compared(call)
            .saturating_add(masking)
            .saturating_add(parsing),
    )
}

fn containment(operands: &Operands<'_, '_>) -> Option<CallEstimate> {
    let argument = operands.arguments.first()?;
    let mut cost = ADDRESS.plus(ADDRESS).times_factor(STRING_TRAVERSAL);
    if operands.overload.starts_with("cidr_contains_cidr") {
        let masking = ADDRESS.times_factor(STRING_TRAVERSAL);
        cost = cost.plus(masking).plus(CostEstimate::fixed(1));
    }
    if operands.overload.ends_with("_string") {
        cost = cost.plus(argument.size().times_factor(STRING_TRAVERSAL));
    }
    Some(CallEstimate::of(cost))
}

/// Returns the library.
pub(super) fn library(_: u32) -> Library {
    let functions = vec![
        Function::new("cidr")
            .overload("string_to_cidr", "string -> net.CIDR", |it| {
                parse(text(it)?).map(network)
            })
            .costs(costs::parsed, costs::parsing),
        Function::new("containsIP")
            .member(
                "cidr_contains_ip_string",
                "net.CIDR, string -> bool",
                contains_ip,
            )
            .member(
                "cidr_contains_ip_ip",
                "net.CIDR, net.IP -> bool",
                contains_ip,
            )
            .costs(contains_ip_cost, containment),
        Function::new("containsCIDR")
            .member(
                "cidr_contains_cidr_string",
                "net.CIDR, string -> bool",
                contains_cidr,
            )
            .member(
                "cidr_contains_cidr",
                "net.CIDR, net.CIDR -> bool",
                contains_cidr,
            )
            .costs(contains_cidr_cost, containment),
        Function::new("ip").member("cidr_ip", "net.CIDR -> net.IP", |it| {
            Ok(Value::Opaque(Opaque::new(Ip(cidr_of(it)?.address))))
        }),
        Function::new("prefixLength")
            .member("cidr_prefix_length", "net.CIDR -> int", |it| {
                Ok(Value::Int(i64::from(cidr_of(it)?.bits)))
            })
            .costs(costs::nominal, costs::nominal_estimate),
        Function::new("masked")
            .member("cidr_masked", "net.CIDR -> net.CIDR", |it| {
                let Cidr { address, bits } = cidr_of(it)?;
                let address = addresses::masked(address, bits);
                Ok(network(Cidr { address, bits }))
            })
            .costs(costs::nominal, costs::nominal_estimate),
        Function::new("isCIDR")
            .overload("is_cidr", "string -> bool", |it| {
                Ok(Value::Bool(parse(text(it)?).is_ok()))
            })
            .costs(costs::parsed, costs::parsing),
        Function::new("string").overload("cidr_to_string", "net.CIDR -> string", |it| {
            cidr_of(it).map(|it| Value::string(it.text()))
        }),
    ];
    Library {
        functions,
        types: vec![(NAME, Type::opaque(NAME, Vec::new()))],
    }
}
