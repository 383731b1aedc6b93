package arch

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// The pure packages are state machines: their shell reads the clock, draws the seed, holds the lock
// and does the I/O. The rule ends at the folder: scheduler is pure, scheduler/schedulerd is not.
var purePackages = []string{"scheduler", "worker", "datastore", "generator", "baselines", "sim", "chaos", "job", "internal/cluster"}

// impureImports do I/O, keep time, synchronise, or draw randomness that no seed reproduces.
var impureImports = []string{
	"context", "crypto/rand", "hash/maphash", "io/ioutil", "log", "net", "os", "path/filepath",
	"runtime", "sync", "syscall", "testing",
}

// impureNames are the parts of otherwise pure packages that read the clock or the global source.
var impureNames = map[string]func(name string) bool{
	"time": func(name string) bool {
		return slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc",
			"Tick", "NewTimer", "NewTicker"}, name)
	},
	"math/rand":    isGlobalRand,
	"math/rand/v2": isGlobalRand,
}

// isGlobalRand holds for all but the types and constructors of seeded generators.
func isGlobalRand(name string) bool {
	return !slices.Contains([]string{"New", "NewPCG", "NewChaCha8", "NewSource", "NewZipf",
		"Rand", "PCG", "ChaCha8", "Source", "Source64", "Zipf"}, name)
}

func purity(s source) []string {
	if !slices.Contains(purePackages, s.pkg) || s.isTest() {
		return nil
	}
	findings := impureImportsOf(s)
	names := importNames(s)
	ast.Inspect(s.file, func(n ast.Node) bool {
		if what := impurityOf(n, names); what != "" {
			findings = append(findings, s.at(n, "%s is pure: %s", s.pkg, what))
		}
		return true
	})
	return findings
}

func impureImportsOf(s source) []string {
	var findings []string
	for _, spec := range s.file.Imports {
		p := imported(spec)
		first, _, _ := strings.Cut(p, "/")
		switch {
		case spec.Name != nil && spec.Name.Name == ".":
			findings = append(findings, s.at(spec, "%s is pure: a dot import would hide where a name comes from", s.pkg))
		case slices.ContainsFunc(impureImports, func(impure string) bool { return within(p, impure) }):
			findings = append(findings, s.at(spec, "%s is pure: it must not import %s", s.pkg, p))
		case strings.Contains(first, "."):
			findings = append(findings, s.at(spec, "%s is pure: it imports the standard library and this module, not %s", s.pkg, p))
		}
	}
	return findings
}

// importNames maps the name under which a file knows a package to the package's path.
func importNames(s source) map[string]string {
	names := make(map[string]string)
	for _, spec := range s.file.Imports {
		p := imported(spec)
		name := path.Base(strings.TrimSuffix(p, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}

// impurityOf says what a pure package must not do at n; "" when n is harmless.
func impurityOf(n ast.Node, names map[string]string) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "no goroutines"
	case *ast.SelectStmt:
		return "no select"
	case *ast.ChanType, *ast.SendStmt:
		return "no channels"
	case *ast.SelectorExpr:
		id, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		p := names[id.Name]
		if impure := impureNames[p]; impure != nil && impure(n.Sel.Name) {
			return "no " + p + "." + n.Sel.Name
		}
	}
	return ""
}
