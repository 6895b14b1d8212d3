package differential

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// mutated joins the words, sometimes with a letter too many or too few.
func (t *trace) mutated(parts []string, alphabet string) string {
	text := strings.Join(parts, "")
	for t.chance(25) {
		place := 0
		if len(text) > 0 {
			place = t.IntN(len(text))
		}
		letter := string(alphabet[t.IntN(len(alphabet))])
		switch t.IntN(3) {
		case 0:
			text = text[:place] + letter + text[place:]
		case 1:
			text = text[:place]
		case 2:
			if place < len(text) {
				text = text[:place] + text[place+1:]
			}
		}
	}
	return text
}

// garbage is any text of an alphabet.
func (t *trace) garbage(alphabet string) string {
	var text strings.Builder
	for range t.IntN(12) {
		text.WriteByte(alphabet[t.IntN(len(alphabet))])
	}
	return text.String()
}

const labelAlphabet = "ab01,,==!!<>() \t-_./inotX\"\\"

// labelSets are matched with every selector.
var labelSets = []map[string]string{
	{},
	{"app": "a"},
	{"app": "b", "tier": "1"},
	{"app": "", "tier": "10", "example.com/x": "in"},
	{"app": "a", "tier": "-5", "in": "notin"},
	{"tier": "9223372036854775808", "notin": "a"},
	{"tier": "0x10", "app": "c", "a": "a"},
}

func (t *trace) labelKey() string {
	if t.chance(90) {
		return pick(t, "app", "tier", "example.com/x", "in", "notin", "a")
	}
	return pick(t, "_a", "a/b/c", "-a", "example.com/", "A.b/c_d", strings.Repeat("k", 62+t.IntN(4)))
}

func (t *trace) labelValue() string {
	if t.chance(90) {
		return pick(t, "a", "b", "c", "1", "10", "", "in", "notin", "007")
	}
	return pick(t, "-5", "9223372036854775807", "9223372036854775808", "a_b.c", "+1",
		strings.Repeat("v", 62+t.IntN(4)))
}

func (t *trace) space() string { return pick(t, "", "", "", "", " ", "  ", "\t") }

func (t *trace) labelRequirement() []string {
	parts := []string{t.space()}
	key := t.labelKey()
	switch t.IntN(6) {
	case 0:
		parts = append(parts, key)
	case 1:
		parts = append(parts, "!", t.space(), key)
	case 2, 3:
		parts = append(parts, key, t.space(), pick(t, "=", "==", "!=", "<", ">"), t.space(), t.labelValue())
	default:
		parts = append(parts, key, " ", pick(t, "in", "notin"), t.space(), "(")
		for i := range t.IntN(4) {
			if i > 0 {
				parts = append(parts, ",")
			}
			parts = append(parts, t.space(), t.labelValue(), t.space())
		}
		parts = append(parts, ")")
	}
	return append(parts, t.space())
}

// runLabelSelectors parses, prints and matches.
func runLabelSelectors(_ *testing.T, t *trace) {
	t.begin(values{"sets": labelSets})
	for range t.steps {
		if t.chance(15) {
			t.labelSelectorSpec()
			continue
		}
		text := t.garbage(labelAlphabet)
		if t.chance(85) {
			parts := []string{}
			for i := range 1 + t.IntN(3) {
				if i > 0 {
					parts = append(parts, ",")
				}
				parts = append(parts, t.labelRequirement()...)
			}
			text = t.mutated(parts, labelAlphabet)
		}
		selector, err := labels.Parse(text)
		t.op("parse", text, orError(describedSelector(selector, err), err))
	}
}

func describedSelector(selector labels.Selector, err error) any {
	if err != nil {
		return nil
	}
	matches := []bool{}
	for _, set := range labelSets {
		matches = append(matches, selector.Matches(labels.Set(set)))
	}
	exact := values{}
	for _, key := range []string{"app", "tier", "in"} {
		if value, found := selector.RequiresExactMatch(key); found {
			exact[key] = value
		}
	}
	return values{
		"text": selector.String(), "matches": matches, "exact": exact, "all": selector.Empty(),
	}
}

// labelSelectorSpec converts what objects carry.
func (t *trace) labelSelectorSpec() {
	spec := &metav1.LabelSelector{}
	// At most one invalid label: of several, a random one is reported.
	for i := range t.IntN(3) {
		key, value := pick(t, "app", "tier", "in"), pick(t, "a", "b", "")
		if i == 0 {
			key, value = t.labelKey(), t.labelValue()
		}
		metav1.AddLabelToSelector(spec, key, value)
	}
	for range t.IntN(3) {
		requirement := metav1.LabelSelectorRequirement{
			Key: t.labelKey(), Operator: pick(t, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
				metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist, "in", ""),
		}
		for range t.IntN(3) {
			requirement.Values = append(requirement.Values, t.labelValue())
		}
		spec.MatchExpressions = append(spec.MatchExpressions, requirement)
	}
	selector, err := metav1.LabelSelectorAsSelector(spec)
	t.op("spec", spec, orError(describedSelector(selector, err), err))
	t.op("format", spec, metav1.FormatLabelSelector(spec))
}

const fieldAlphabet = "ab.,,==!!\\\\ -metadata"

var fieldSets = []map[string]string{
	{},
	{"metadata.name": "a"},
	{"metadata.name": "b", "spec.nodeName": "n1"},
	{"metadata.name": "a,b", "status.phase": "a=b"},
	{"metadata.name": `a\b`, "spec.nodeName": ""},
}

// runFieldSelectors parses, prints and matches.
func runFieldSelectors(_ *testing.T, t *trace) {
	t.begin(values{"sets": fieldSets})
	for range t.steps {
		text := t.garbage(fieldAlphabet)
		if t.chance(85) {
			parts := []string{}
			for i := range 1 + t.IntN(3) {
				if i > 0 {
					parts = append(parts, ",")
				}
				parts = append(parts,
					pick(t, "metadata.name", "spec.nodeName", "status.phase", "metadata.name", ""),
					pick(t, "=", "==", "!="),
					pick(t, "a", "b", "n1", "", `a\,b`, `a\=b`, `a\\b`, `a\b`, "a=b", " a "))
			}
			text = t.mutated(parts, fieldAlphabet)
		}
		selector, err := fields.ParseSelector(text)
		if err != nil {
			t.op("parse", text, orError(nil, err))
			continue
		}
		t.op("parse", text, describedFields(selector))
	}
}

func describedFields(selector fields.Selector) values {
	matches := []bool{}
	for _, set := range fieldSets {
		matches = append(matches, selector.Matches(fields.Set(set)))
	}
	exact := values{}
	for _, field := range []string{"metadata.name", "spec.nodeName"} {
		if value, found := selector.RequiresExactMatch(field); found {
			exact[field] = value
		}
	}
	terms := []string{}
	for _, term := range selector.Requirements() {
		terms = append(terms, term.Field+" "+string(term.Operator)+" "+term.Value)
	}
	return values{
		"text": selector.String(), "matches": matches, "exact": exact, "all": selector.Empty(),
		"terms": terms,
	}
}
