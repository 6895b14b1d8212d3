package main

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// formats have a valid and an invalid value of each format.
var formats = map[string][2]string{
	"date-time":  {"2024-05-06T07:08:09Z", "2024-05-06 07:08"},
	"date":       {"2024-05-06", "2024-13-40"},
	"duration":   {"1m30s", "soon"},
	"byte":       {"aGVsbG8=", "a!"},
	"uuid":       {"0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9", "0b1c"},
	"uri":        {"https://example.com/a", "a b"},
	"email":      {"someone@example.com", "someone"},
	"hostname":   {"a.example.com", "-a-.example..com"},
	"ipv4":       {"10.0.0.1", "10.0.0.256"},
	"ipv6":       {"2001:db8::1", "2001:::1"},
	"cidr":       {"10.0.0.0/8", "10.0.0.0/40"},
	"mac":        {"00:00:5e:00:53:01", "00:00"},
	"uuid3":      {"0b1c2d3e-4f50-3617-8293-a4b5c6d7e8f9", "0b1c"},
	"uuid4":      {"0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9", "0b1c"},
	"uuid5":      {"0b1c2d3e-4f50-5617-8293-a4b5c6d7e8f9", "0b1c"},
	"hexcolor":   {"#a0b1c2", "red"},
	"rgbcolor":   {"rgb(1,2,3)", "rgb(1,2)"},
	"creditcard": {"4111111111111111", "41"},
	"isbn":       {"9783161484100", "97"},
	"ssn":        {"111-22-3333", "1-2"},
	"bsonobjectid": {
		"507f1f77bcf86cd799439011", "507f",
	},
}

// patterns returns the patterns of a schema and of its allOf.
func (s schema) patterns() []string {
	var all []string
	if pattern, is := s["pattern"].(string); is {
		all = append(all, pattern)
	}
	for _, branch := range append(s.branches("allOf"), s.branches("anyOf")...) {
		all = append(all, branch.patterns()...)
		if s["anyOf"] != nil && len(all) > 0 {
			break
		}
	}
	return all
}

// text returns a string.
func (g *generator) text(s schema) any {
	low, high := s.length("minLength", 0), s.length("maxLength", 1<<20)
	candidate := "text"
	patterns := s.patterns()
	for range attempts {
		format, _ := s["format"].(string)
		switch known, is := formats[format]; {
		case len(patterns) > 0:
			candidate = g.match(patterns[0])
		case is:
			candidate = known[0]
		default:
			candidate = "text" + string(rune('a'+g.random.Intn(26))) + string(rune('a'+g.random.Intn(26)))
			if len(candidate) < low {
				candidate += strings.Repeat("x", low-len(candidate))
			}
			candidate = candidate[:min(len(candidate), high)]
		}
		if size := len([]rune(candidate)); size >= low && size <= high && matchesAll(candidate, patterns) {
			return candidate
		}
	}
	return candidate
}

func matchesAll(text string, patterns []string) bool {
	for _, it := range patterns {
		if pattern, err := regexp.Compile(it); err == nil && !pattern.MatchString(text) {
			return false
		}
	}
	return true
}

// match returns a text that a pattern describes.
func (g *generator) match(pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "text"
	}
	var out strings.Builder
	g.expand(&out, parsed)
	return out.String()
}

// expand writes a text for a node of a pattern.
func (g *generator) expand(out *strings.Builder, it *syntax.Regexp) {
	repeat := func(low, high int) {
		for range low + g.random.Intn(max(high-low, 0)+1) {
			g.expand(out, it.Sub[0])
		}
	}
	switch it.Op {
	case syntax.OpLiteral:
		out.WriteString(string(it.Rune))
	case syntax.OpCharClass:
		out.WriteRune(g.letter(it.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('a')
	case syntax.OpStar:
		repeat(0, 2)
	case syntax.OpPlus:
		repeat(1, 3)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		high := it.Max
		if high < 0 || high > it.Min+2 {
			high = it.Min + 2
		}
		repeat(it.Min, high)
	case syntax.OpAlternate:
		g.expand(out, it.Sub[g.random.Intn(len(it.Sub))])
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range it.Sub {
			g.expand(out, sub)
		}
	}
}

// letter returns a character of a class, a printable one of ASCII if there is any.
func (g *generator) letter(ranges []rune) rune {
	var printable []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := max(ranges[i], '!'); r <= min(ranges[i+1], '~'); r++ {
			printable = append(printable, r)
		}
	}
	if len(printable) == 0 {
		if len(ranges) == 0 {
			return 'a'
		}
		return ranges[0]
	}
	return printable[g.random.Intn(len(printable))]
}
