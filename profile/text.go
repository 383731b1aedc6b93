package profile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"dodoor/conf"
)

// Text is a catalogue as TOML, which conf.ReadTypes reads to the same types. head goes before it as
// comments; note is the comment on a mode's figures for a class, or nothing.
func Text(types []conf.TaskType, head []string, note func(typ, mode, class string) string) []byte {
	var b strings.Builder
	for _, line := range head {
		comment(&b, "", line)
	}
	for i := range types {
		t := &types[i]
		fmt.Fprintf(&b, "\n[[task_type]]\nname = %s\nexecutor = %s\n", quoted(t.Name), quoted(t.Executor))
		if t.Image != "" {
			fmt.Fprintf(&b, "image = %s\n", quoted(t.Image))
		}
		argv(&b, t.Argv)
		for j := range t.Modes {
			writeMode(&b, &t.Modes[j], func(class string) string { return note(t.Name, t.Modes[j].Name, class) })
		}
	}
	return []byte(b.String())
}

func writeMode(b *strings.Builder, m *conf.Mode, note func(class string) string) {
	fmt.Fprintf(b, "\n[[task_type.mode]]\nname = %s\n", quoted(m.Name))
	argv(b, m.Argv)
	for _, pair := range pairs(&m.Shape) {
		b.WriteString(pair + "\n")
	}
	if len(m.Profiles) == 0 {
		return
	}
	b.WriteString("profile = [\n")
	for i := range m.Profiles {
		p := &m.Profiles[i]
		if line := note(p.Class); line != "" {
			comment(b, "  ", line)
		}
		fields := append([]string{"class = " + quoted(p.Class)}, pairs(&p.Shape)...)
		fmt.Fprintf(b, "  { %s },\n", strings.Join(fields, ", "))
	}
	b.WriteString("]\n")
}

// pairs are the figures that are not zero, as key = value.
func pairs(s *conf.Shape) []string {
	var all []string
	if s.Cores != 0 {
		all = append(all, "cores = "+decimal(s.Cores))
	}
	if s.MemoryMB != 0 {
		all = append(all, fmt.Sprintf("memory_mb = %d", s.MemoryMB))
	}
	if s.DiskMB != 0 {
		all = append(all, fmt.Sprintf("disk_mb = %d", s.DiskMB))
	}
	if s.Duration != 0 {
		all = append(all, fmt.Sprintf(`duration = "%dms"`, time.Duration(s.Duration).Milliseconds()))
	}
	if len(s.Extra) > 0 {
		var extras []string
		for _, name := range slices.Sorted(maps.Keys(s.Extra)) {
			extras = append(extras, quoted(name)+" = "+decimal(s.Extra[name]))
		}
		all = append(all, "extra = { "+strings.Join(extras, ", ")+" }")
	}
	return all
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func argv(b *strings.Builder, list []string) {
	if len(list) == 0 {
		return
	}
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = quoted(word)
	}
	fmt.Fprintf(b, "argv = [%s]\n", strings.Join(words, ", "))
}

// quoted is a basic string of TOML, which knows other escapes than Go.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment keeps a text on its line.
func comment(b *strings.Builder, indent, text string) {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	b.WriteString(strings.TrimRight(indent+"# "+line, " ") + "\n")
}
