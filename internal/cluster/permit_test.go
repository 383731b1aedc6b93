package cluster

import (
	"strings"
	"testing"
)

// Templates of one permit run the same program in the same place; arguments, standard input and what else they find are their own.
// What cannot start at all shares its permit with none.
func TestPermits(t *testing.T) {
	base := Template{Argv: []string{"convert", "a"}, Env: []string{"X=1", "PATH=/bin"}, Workdir: "/data"}
	for name, c := range map[string]struct {
		same   bool
		change func(t *Template)
	}{
		"arguments":       {true, func(t *Template) { t.Argv = []string{"convert", "b", "c"} }},
		"standard input":  {true, func(t *Template) { t.Stdin = []byte("x") }},
		"a variable":      {true, func(t *Template) { t.Env = []string{"PATH=/bin", "Y=2"} }},
		"program":         {false, func(t *Template) { t.Argv = []string{"sh", "a"} }},
		"path":            {false, func(t *Template) { t.Env = []string{"X=1", "PATH=/usr/bin"} }},
		"folder":          {false, func(t *Template) { t.Workdir = "/" }},
		"image":           {false, func(t *Template) { t.Image = "tool" }},
		"script":          {false, func(t *Template) { t.Script = []byte("#!/bin/sh\n") }},
		"a zero byte":     {false, func(t *Template) { t.Argv = []string{"convert", "a\x00"} }},
		"a long one":      {false, func(t *Template) { t.Argv = []string{"convert", strings.Repeat("a", 128<<10)} }},
		"no variable":     {false, func(t *Template) { t.Env = []string{"X=1", "PATH=/bin", "Y"} }},
		"a nameless one":  {false, func(t *Template) { t.Env = []string{"=1", "PATH=/bin"} }},
		"bytes in a name": {false, func(t *Template) { t.Env = []string{"X\x00=1", "PATH=/bin"} }},
	} {
		other := base
		c.change(&other)
		if (other.Permit() == base.Permit()) != c.same {
			t.Errorf("another %s: the same permit %v, want %v", name, !c.same, c.same)
		}
	}
}
