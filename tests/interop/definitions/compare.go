package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"sort"
	"strings"
)

// causesMax bounds the causes of one comparison.
const causesMax = 6

// orderCause is the cause of differences that are only in the order of causes.
const orderCause = "order of causes"

// templates turn messages into causes: they leave out what differs between objects.
var templates = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\(\{.* \.\.\.\)`), `(…)`},
	{regexp.MustCompile(`"(?:[^"\\]|\\.)*"`), `"…"`},
	{regexp.MustCompile(`'[^']*'`), `'…'`},
	{regexp.MustCompile(`\[[^\]]*\]`), `[…]`},
	{regexp.MustCompile(`[-+]?[0-9][0-9.e+]*`), `N`},
	{regexp.MustCompile(`\b[a-zA-Z0-9_-]+(\.[a-zA-Z0-9_\[\]…-]+)+`), `F`},
	{regexp.MustCompile(`\S+ in body`), `F in body`},
	{regexp.MustCompile(`"…" must validate`), `F must validate`},
}

// template returns a message without names, numbers and quoted values.
func template(message string) string {
	for _, it := range templates {
		message = it.pattern.ReplaceAllString(message, it.text)
	}
	runes := []rune(strings.Join(strings.Fields(message), " "))
	return string(runes[:min(len(runes), 110)])
}

// compareAnswers compares two answers, of which each may be an object or a Status. The rules are those of the kind, or nil.
func compareAnswers(theirs, ours answer, rules *rules) []found {
	if theirs.Code == 0 || ours.Code == 0 {
		return []found{{"no answer", fmt.Sprint(theirs.Body, ", ", ours.Body)}}
	}
	left, right := clean(theirs.Body), clean(ours.Body)
	leftStatus, rightStatus := asStatus(left), asStatus(right)
	if leftStatus != nil || rightStatus != nil {
		if result := compareStatus(theirs.Code, ours.Code, leftStatus, rightStatus, rules); result.cause != "" {
			return []found{result}
		}
	}
	if theirs.Code != ours.Code {
		return []found{{fmt.Sprintf("%d, not %d", theirs.Code, ours.Code), fmt.Sprint(theirs.Body, " not ", ours.Body)}}
	}
	d := &differ{}
	d.values("", left, right)
	d.add(compareWarnings(theirs.Warnings, ours.Warnings))
	return d.all
}

func compareWarnings(theirs, ours []string) found {
	if reflect.DeepEqual(theirs, ours) {
		return found{}
	}
	detail := fmt.Sprintf("%q, not %q", theirs, ours)
	left, right := append([]string{}, theirs...), append([]string{}, ours...)
	sort.Strings(left)
	sort.Strings(right)
	if reflect.DeepEqual(left, right) {
		return found{"order of warnings", detail}
	}
	missing, extra := minus(left, right), minus(right, left)
	return found{"warnings:" + first(" missing ", missing) + first(" extra ", extra), detail}
}

func first(label string, texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return label + template(strings.TrimPrefix(texts[0], "299 - "))
}

// minus returns the texts of a list that another lacks.
func minus(texts, others []string) []string {
	counts := map[string]int{}
	for _, it := range others {
		counts[it]++
	}
	var rest []string
	for _, it := range texts {
		if counts[it]--; counts[it] < 0 {
			rest = append(rest, it)
		}
	}
	return rest
}

// asStatus returns a Status, or nil if the value is something else.
func asStatus(value any) map[string]any {
	if object, _ := value.(map[string]any); object["kind"] == "Status" && object["apiVersion"] == "v1" {
		return object
	}
	return nil
}

// causesOf returns the causes of a Status as text, and whether rules made some of them.
func causesOf(status map[string]any, rules *rules) (causes []string, ofRules bool) {
	list, _ := at(status, "details")["causes"].([]any)
	for _, it := range list {
		it, _ := it.(map[string]any)
		message := text(it, "message")
		ofRules = ofRules || rules.made(message)
		causes = append(causes, fmt.Sprintf("%s %s: %s", text(it, "reason"), text(it, "field"), message))
	}
	return causes, ofRules
}

// compareStatus compares errors; one of them may be nil, for an object.
func compareStatus(leftCode, rightCode int, left, right map[string]any, rules *rules) found {
	theirs, ofRules := causesOf(left, rules)
	ours, _ := causesOf(right, rules)
	prefix := ""
	if leftCode != rightCode {
		prefix = fmt.Sprintf("%d, not %d: ", leftCode, rightCode)
	}
	detail := fmt.Sprintf("%s, not %s", shown(left, leftCode), shown(right, rightCode))
	missing, extra := minus(theirs, ours), minus(ours, theirs)
	if len(missing) > 0 && prefix == "" && len(ours) == 1 && len(extra) == 0 && strings.HasPrefix(ours[0], "FieldValueInvalid kind: ") {
		return found{"other causes of an object of another kind", detail}
	}
	if len(missing)+len(extra) > 0 {
		return found{prefix + "causes:" + firstCause(" missing ", missing) + firstCause(" extra ", extra), detail}
	}
	if !reflect.DeepEqual(theirs, ours) {
		if ofRules && prefix == "" {
			// A kube-apiserver evaluates the rules of an object's fields in random order. The message lists the causes in that order.
			right["details"], right["message"] = left["details"], left["message"]
			return found{}
		}
		return found{prefix + orderCause, detail}
	}
	for _, field := range []string{"reason", "message"} {
		if l, r := text(left, field), text(right, field); l != r {
			return found{prefix + field + ": " + template(rules.unnamed(l)) + ", not " + template(rules.unnamed(r)), detail}
		}
	}
	if prefix != "" {
		return found{strings.TrimSuffix(prefix, ": "), detail}
	}
	return found{}
}

func shown(status map[string]any, code int) string {
	if status == nil {
		return fmt.Sprint("an object with ", code)
	}
	return fmt.Sprintf("%d %q", code, text(status, "message"))
}

func firstCause(label string, causes []string) string {
	if len(causes) == 0 {
		return ""
	}
	reason, rest, _ := strings.Cut(causes[0], " ")
	field, message, _ := strings.Cut(rest, ": ")
	if field != "" {
		message = strings.ReplaceAll(message, field, "F")
	}
	return label + reason + " " + template(message)
}

// differ collects differences of different causes.
type differ struct{ all []found }

// add adds a difference, unless there is one of its cause.
func (d *differ) add(it found) {
	for _, other := range d.all {
		if other.cause == it.cause {
			return
		}
	}
	if it.cause != "" && len(d.all) < causesMax {
		d.all = append(d.all, it)
	}
}

// compareValues returns the differences of two values.
func compareValues(theirs, ours any) []found {
	d := &differ{}
	d.values("", theirs, ours)
	return d.all
}

// values compares values at a path.
func (d *differ) values(path string, theirs, ours any) {
	if reflect.DeepEqual(theirs, ours) {
		return
	}
	switch left := theirs.(type) {
	case map[string]any:
		if right, isObject := ours.(map[string]any); isObject {
			d.objects(path, left, right)
			return
		}
	case []any:
		right, isList := ours.([]any)
		if isList && strings.HasSuffix(path, ".managedFields") {
			d.owners(left, right)
			return
		}
		if isList && len(left) == len(right) {
			for i := range left {
				d.values(path+"[]", left[i], right[i])
			}
			return
		}
	}
	d.add(found{"value of " + area(path), fmt.Sprintf("%s: %s, not %s", path, encoded(theirs), encoded(ours))})
}

func (d *differ) objects(path string, theirs, ours map[string]any) {
	for _, name := range names(theirs, ours) {
		left, isLeft := theirs[name]
		right, isRight := ours[name]
		at := path + "." + name
		switch {
		case !isLeft:
			d.add(found{"extra " + area(at), fmt.Sprintf("extra %s = %s", at, encoded(right))})
		case !isRight:
			d.add(found{"missing " + area(at), fmt.Sprintf("missing %s = %s", at, encoded(left))})
		default:
			d.values(at, left, right)
		}
	}
}

// owners compares managed fields by their managers.
func (d *differ) owners(theirs, ours []any) {
	left, right := owners(theirs), owners(ours)
	for _, key := range names(left, right) {
		l, isLeft := left[key]
		r, isRight := right[key]
		switch {
		case !isLeft:
			d.add(found{"extra managed fields of " + key, encoded(r)})
		case !isRight:
			d.add(found{"missing managed fields of " + key, encoded(l)})
		}
		if !isLeft || !isRight {
			continue
		}
		for _, it := range compareValues(l, r) {
			verb, _, _ := strings.Cut(it.cause, " ")
			d.add(found{verb + " managed field of " + key, it.detail})
		}
	}
}

// owners returns managed fields by operation, subresource and manager.
func owners(list []any) map[string]any {
	result := map[string]any{}
	for _, it := range list {
		it, _ := it.(map[string]any)
		key := strings.Join(strings.Fields(text(it, "operation")+" "+text(it, "subresource")+" by "+text(it, "manager")), " ")
		for result[key] != nil {
			key += " again"
		}
		result[key] = it
	}
	return result
}

// area returns a path as far as it is the same for many objects.
func area(path string) string {
	words := strings.Split(strings.TrimPrefix(path, "."), ".")
	depth := 3
	if words[0] == "spec" || words[0] == "status" {
		depth = 1
	}
	return strings.Join(words[:min(len(words), depth)], ".")
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text[:min(len(text), 400)])
}

func names(left, right map[string]any) []string {
	var all []string
	for name := range left {
		all = append(all, name)
	}
	for name := range right {
		if _, is := left[name]; !is {
			all = append(all, name)
		}
	}
	sort.Strings(all)
	return all
}
