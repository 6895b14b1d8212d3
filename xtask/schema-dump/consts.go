package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// readConst records the string constants of one specification. Their type is
// the declared one, or that of a conversion.
func (s *source) readConst(spec *ast.ValueSpec) {
	declared := ""
	if id, ok := spec.Type.(*ast.Ident); ok {
		declared = id.Name
	}
	for i, n := range spec.Names {
		if i >= len(spec.Values) {
			continue
		}
		value, converted, ok := s.stringValue(spec.Values[i])
		if !ok {
			continue
		}
		typ := declared
		if typ == "" {
			typ = converted
		}
		s.consts[n.Name] = constant{typ, value}
		s.order = append(s.order, n.Name)
	}
}

// stringValue evaluates literals, sums, conversions and constants that stand
// further up in the same package.
func (s *source) stringValue(e ast.Expr) (value, typ string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", "", false
		}
		v, err := strconv.Unquote(e.Value)
		return v, "", err == nil
	case *ast.Ident:
		c, ok := s.consts[e.Name]
		return c.value, c.typ, ok
	case *ast.BinaryExpr:
		a, ta, okA := s.stringValue(e.X)
		b, tb, okB := s.stringValue(e.Y)
		if ta == "" {
			ta = tb
		}
		return a + b, ta, okA && okB && e.Op == token.ADD
	case *ast.CallExpr:
		if id, isIdent := e.Fun.(*ast.Ident); isIdent && len(e.Args) == 1 {
			v, _, ok := s.stringValue(e.Args[0])
			return v, id.Name, ok
		}
	}
	return "", "", false
}

// values lists the constants of a type in source order, each value once.
func (s *source) values(typ string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range s.order {
		if c := s.consts[n]; c.typ == typ && !seen[c.value] {
			seen[c.value] = true
			out = append(out, c.value)
		}
	}
	return out
}

// markers are the `+name=value` lines of a comment, values in order.
type markers map[string][]string

// read adds the marker lines of a comment group.
func (m markers) read(g *ast.CommentGroup) {
	if g == nil {
		return
	}
	for _, c := range g.List {
		text, ok := strings.CutPrefix(c.Text, "//")
		if !ok {
			continue
		}
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "+") {
			continue
		}
		name, value, _ := strings.Cut(text[1:], "=")
		name = strings.TrimSpace(name)
		m[name] = append(m[name], strings.TrimSpace(value))
	}
}

// has tells whether a marker is present.
func (m markers) has(name string) bool { return len(m[name]) > 0 }

// last is the value of the last occurrence, or "".
func (m markers) last(name string) string {
	if v := m[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}
