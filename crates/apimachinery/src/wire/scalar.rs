//! Messages that are one scalar in JSON: times, durations, quantities, int-or-string.

use super::protobuf::each_field;
use super::protobuf_encode::prepend_int;
use super::{
    DecodeContext, Field, FieldFlags as F, FieldType, JsonForm, JsonScalar, Message, ReverseWriter,
    Schema, Slot, View, Wire, WireError, WireErrorKind,
};
use crate::{Duration, IntOrString, MicroTime, Quantity, Str, Time, schema};

schema!(pub TIME = "Time", "io.k8s.apimachinery.pkg.apis.meta.v1.Time", JsonForm::Scalar, None, [
    Field::new("seconds", 1, FieldType::I64, F::NONE),
    Field::new("nanos", 2, FieldType::I32, F::NONE),
]);
schema!(pub MICRO_TIME = "MicroTime", "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
    JsonForm::Scalar, None, [
    Field::new("seconds", 1, FieldType::I64, F::NONE),
    Field::new("nanos", 2, FieldType::I32, F::NONE),
]);
schema!(pub DURATION = "Duration", "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
    JsonForm::Scalar, None, [Field::new("duration", 1, FieldType::I64, F::NONE)]);
schema!(pub QUANTITY = "Quantity", "io.k8s.apimachinery.pkg.api.resource.Quantity",
    JsonForm::Scalar, None, [Field::new("string", 1, FieldType::Str, F::NONE)]);
schema!(pub INT_OR_STRING = "IntOrString", "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    JsonForm::Scalar, None, [
    Field::new("type", 1, FieldType::I64, F::NONE),
    Field::new("intVal", 2, FieldType::I32, F::NONE),
    Field::new("strVal", 3, FieldType::Str, F::NONE),
]);
