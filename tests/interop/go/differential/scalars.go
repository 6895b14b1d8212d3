package differential

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const quantityAlphabet = "0123456789..+-eEinumkKMGTP "

func (t *trace) digits(most int) string {
	var digits strings.Builder
	for range t.IntN(most + 1) {
		digits.WriteByte("0123456789005"[t.IntN(13)])
	}
	return digits.String()
}

func (t *trace) quantityText() string {
	if t.chance(8) {
		return t.garbage(quantityAlphabet)
	}
	most := pick(t, 2, 4, 6, 20, 40)
	parts := []string{pick(t, "", "", "", "-", "+"), t.digits(most)}
	if t.chance(40) {
		parts = append(parts, ".", t.digits(most))
	}
	parts = append(parts, pick(t, "", "", "n", "u", "m", "k", "M", "G", "T", "P", "E",
		"Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-3", "E6", "e1", "e-11", "E20", "K", "mi"))
	if t.chance(10) {
		return t.mutated(parts, quantityAlphabet)
	}
	return strings.Join(parts, "")
}

// runQuantities parses, prints, compares, adds and subtracts.
func runQuantities(_ *testing.T, t *trace) {
	t.begin(values{})
	last := resource.Quantity{}
	for range t.steps {
		text := t.quantityText()
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			t.op("parse", text, orError(nil, err))
			continue
		}
		value := quantity.DeepCopy()
		out := values{
			"text": value.String(), "format": value.Format, "sign": value.Sign(),
			"zero": value.IsZero(),
		}
		// Upstream's are wrong beyond 64 bits, and for long negative numbers.
		if size := abs(value); size.Cmp(valueLimit) < 0 {
			out["value"] = int64(value.Sign()) * size.Value()
			if size.Cmp(milliLimit) < 0 {
				out["milli"] = int64(value.Sign()) * size.MilliValue()
			}
		}
		t.op("parse", text, out)
		sum, difference := last.DeepCopy(), last.DeepCopy()
		sum.Add(quantity)
		difference.Sub(quantity)
		negated := quantity.DeepCopy()
		negated.Neg()
		t.op("arithmetic", text, values{
			"order": last.Cmp(quantity), "sum": sum.String(), "difference": difference.String(),
			"negated": negated.String(),
		})
		last = quantity
	}
}

func abs(quantity resource.Quantity) resource.Quantity {
	positive := quantity.DeepCopy()
	if positive.Sign() < 0 {
		positive.Neg()
	}
	return positive
}

var (
	valueLimit = resource.MustParse("9E")
	milliLimit = resource.MustParse("9P")
)

const durationAlphabet = "0123456789..+-hmsun \u00b5x"

// runDurations parses and prints metav1.Duration.
func runDurations(_ *testing.T, t *trace) {
	t.begin(values{})
	for range t.steps {
		parts := []string{pick(t, "", "", "-", "+")}
		for range 1 + t.IntN(3) {
			parts = append(parts, t.digits(pick(t, 1, 2, 3, 19)))
			if t.chance(30) {
				parts = append(parts, ".", t.digits(12))
			}
			parts = append(parts, pick(t, "h", "m", "s", "ms", "us", "\u00b5s", "\u03bcs", "ns", "s", "", "d"))
		}
		text := strings.Join(parts, "")
		if t.chance(15) {
			text = t.mutated(parts, durationAlphabet)
		}
		text = strings.ToValidUTF8(text, "x")
		var duration metav1.Duration
		err := json.Unmarshal(quoted(text), &duration)
		out := any(nil)
		if err == nil {
			out = values{"text": printed(duration), "nanos": duration.Nanoseconds()}
		}
		t.op("duration", text, orError(out, err))
	}
}

const timeAlphabet = "0123456789-:T.Z+ ,"

func (t *trace) timeText() string {
	number := func(least, most, width int) string {
		if t.chance(4) {
			most += 3
		}
		return fmt.Sprintf("%0*d", width, least+t.IntN(most-least+1))
	}
	parts := []string{
		number(0, 9999, 4), "-", number(1, 12, 2), "-", number(1, pick(t, 28, 31), 2), "T",
		number(0, 23, pick(t, 2, 2, 2, 1)), ":", number(0, 59, 2), ":", number(0, 59, 2),
	}
	switch t.IntN(4) {
	case 0:
		parts = append(parts, pick(t, ".", ".", ","), t.digits(9))
	case 1:
		parts = append(parts, fmt.Sprintf(".%06d", t.IntN(1_000_000)))
	}
	if t.chance(60) {
		parts = append(parts, "Z")
	} else {
		parts = append(parts, pick(t, "+", "-"), number(0, 23, 2), ":", number(0, 59, 2))
	}
	if t.chance(15) {
		return t.mutated(parts, timeAlphabet)
	}
	return strings.Join(parts, "")
}

// runTimes parses and prints metav1.Time and metav1.MicroTime.
func runTimes(_ *testing.T, t *trace) {
	t.begin(values{})
	for range t.steps {
		text := t.timeText()
		var time metav1.Time
		err := json.Unmarshal(quoted(text), &time)
		out := any(nil)
		if err == nil {
			out = values{"text": printed(time), "seconds": time.Unix(), "zero": time.IsZero()}
		}
		t.op("time", text, orError(out, err))
		var micro metav1.MicroTime
		err = json.Unmarshal(quoted(text), &micro)
		out = nil
		if err == nil {
			out = values{
				"text": printed(micro), "seconds": micro.Unix(), "nanos": micro.Nanosecond(),
				"zero": micro.IsZero(),
			}
		}
		t.op("micro-time", text, orError(out, err))
	}
}

func quoted(text string) []byte {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return encoded
}

// printed is the JSON encoding of a value.
func printed(value any) any {
	encoded, err := json.Marshal(value)
	if err != nil {
		return values{"error": err.Error()}
	}
	return json.RawMessage(encoded)
}
