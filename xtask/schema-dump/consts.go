package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// readConst records the string constants of one specification. Their type is
// the declared one, or that of a conversion.
func (s *source) readConst(f *ast.File, spec *ast.ValueSpec) {
	declared := ""
	if id, ok := spec.Type.(*ast.Ident); ok {
		declared = id.Name
	}
	for i, n := range spec.Names {
		if i >= len(spec.Values) {
			continue
		}
		var found constant
		var ok bool
		if found.value, found.typ, ok = s.stringValue(spec.Values[i]); !ok {
			if found, ok = foreign(f, spec.Values[i]); !ok {
				continue
			}
		}
		if declared != "" {
			found.typ = declared
		}
		s.consts[n.Name] = found
		s.order = append(s.order, n.Name)
	}
}

// stringValue evaluates literals, sums, conversions and earlier constants of
// the same package.
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
		return c.value, c.typ, ok && c.pkg == ""
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

// foreign is a constant of another package, or a conversion of one. Its value
// is known once that package has been read.
func foreign(f *ast.File, e ast.Expr) (constant, bool) {
	var c constant
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
		if id, isIdent := call.Fun.(*ast.Ident); isIdent {
			c.typ, e = id.Name, call.Args[0]
		}
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return c, false
	}
	c.pkg, c.name = importPath(f, sel.X), sel.Sel.Name
	return c, c.pkg != ""
}

// resolve sets the values of constants that refer to other packages, and drops
// those that are not strings there.
func (w *walker) resolve(s *source, typ string) error {
	for n, c := range s.consts {
		if c.pkg == "" || c.typ != typ {
			continue
		}
		if err := w.load(c.pkg); err != nil {
			return err
		}
		there, ok := w.sources[c.pkg].consts[c.name]
		if !ok || there.pkg != "" {
			delete(s.consts, n)
			continue
		}
		s.consts[n] = constant{typ: typ, value: there.value}
	}
	return nil
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

// has reports whether a marker is present.
func (m markers) has(name string) bool { return len(m[name]) > 0 }

// last is the value of the last occurrence, or "".
func (m markers) last(name string) string {
	if v := m[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}
