package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

const module = "dodoor"

// source is one parsed Go file.
type source struct {
	pkg     string // its folder, relative to the root of the module
	path    string
	lines   int
	columns []int // of each line
	fset    *token.FileSet
	file    *ast.File
}

// rule returns what a file breaks, one finding each.
type rule func(s source) []string

var rules = []rule{layering, thriftStaysInRPC, purity, shortFiles, shortLines, noUtilPackage, testsDoNotSleep}

func TestTheTreeKeepsTheRules(t *testing.T) {
	sources := tree(t)
	found := make(map[string]bool)
	for _, s := range sources {
		found[s.pkg] = true
		for _, r := range rules {
			for _, finding := range r(s) {
				t.Error(finding)
			}
		}
	}
	if !found["internal/cluster"] || !found["internal/rpc"] || !found["gen-go/dodoor"] {
		t.Errorf("the walk missed most of the tree: it saw %v", found)
	}
}

// tree parses every Go file of the module, whatever its build constraints.
func tree(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var sources []source
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel != "." && outside(name, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if path.Ext(rel) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		s, err := parse(rel, text)
		sources = append(sources, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// outside reports whether a folder holds no packages of this module.
func outside(dir, base string) bool {
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(rel string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, rel, text, parser.SkipObjectResolution)
	var columns []int
	for line := range bytes.Lines(text) {
		columns = append(columns, utf8.RuneCount(bytes.TrimSuffix(line, []byte("\n"))))
	}
	return source{
		pkg:     path.Dir(rel),
		path:    rel,
		lines:   bytes.Count(text, []byte("\n")),
		columns: columns,
		fset:    fset,
		file:    file,
	}, err
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) isGenerated() bool { return within(s.pkg, "gen-go") }

// at makes a finding that editors can jump to.
func (s source) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s: %s", s.fset.Position(n.Pos()), fmt.Sprintf(format, args...))
}

// imported returns the path that an import names.
func imported(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked the quotes
	return p
}

// within reports whether p is folder (or import path) parent or lies below it.
func within(p, parent string) bool {
	return p == parent || strings.HasPrefix(p, parent+"/")
}
