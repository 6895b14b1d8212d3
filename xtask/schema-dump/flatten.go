package main

import "strings"

// flatten collects the fields of a message by JSON name, those of inline
// messages among them. The result is false when a name occurs twice.
func (w *walker) flatten(m *Message, into map[string]*Field) bool {
	unique := true
	for _, f := range m.Fields {
		switch {
		case f.Inline:
			if !w.flatten(w.messages[strings.TrimPrefix(f.Type, "*")], into) {
				unique = false
			}
		case f.JSON != "":
			if into[f.JSON] != nil {
				unique = false
			}
			into[f.JSON] = f
		}
	}
	return unique
}

// checkNames reports messages in which a JSON name or a number occurs twice,
// and references to messages that are not in the output.
func (w *walker) checkNames() {
	for name, m := range w.messages {
		if !w.flatten(m, map[string]*Field{}) {
			w.problems.addf("%s has a JSON name twice", name)
		}
		numbers := map[int]bool{}
		for _, f := range m.Fields {
			if f.Num != 0 && numbers[f.Num] {
				w.problems.addf("%s has number %d twice", name, f.Num)
			}
			numbers[f.Num] = true
			base := f.Type[strings.LastIndexAny(f.Type, "*]")+1:]
			if strings.Contains(base, ".") && w.messages[base] == nil {
				w.problems.addf("%s.%s: no message %s", name, f.Go, base)
			}
		}
	}
}
