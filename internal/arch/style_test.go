package arch

import (
	"fmt"
	"go/ast"
	"slices"
)

const maxLines = 300

func shortFiles(s source) []string {
	if s.isGenerated() || s.lines <= maxLines {
		return nil
	}
	return []string{s.at(s.file, "%d lines: a file has at most %d, so split it by concept", s.lines, maxLines)}
}

// maxColumns is the length of a line, in characters; a tab is one.
const maxColumns = 140

func shortLines(s source) []string {
	if s.isGenerated() {
		return nil
	}
	var findings []string
	for number, columns := range s.columns {
		if columns > maxColumns {
			findings = append(findings, fmt.Sprintf("%s:%d: %d columns: a line has at most %d", s.path, number+1, columns, maxColumns))
		}
	}
	return findings
}

// A package is named after what it holds; "util" holds everything.
func noUtilPackage(s source) []string {
	if slices.Contains([]string{"util", "utils"}, s.file.Name.Name) {
		return []string{s.at(s.file.Name, "name the package after what it holds, not %s", s.file.Name.Name)}
	}
	return nil
}

// A test that sleeps is slow when it passes and fails on a busy machine: testing/synctest makes time
// an argument.
func testsDoNotSleep(s source) []string {
	if !s.isTest() {
		return nil
	}
	var findings []string
	names := importNames(s)
	ast.Inspect(s.file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" {
			if id, ok := selector.X.(*ast.Ident); ok && names[id.Name] == "time" {
				findings = append(findings, s.at(n, "tests do not sleep: use testing/synctest"))
			}
		}
		return true
	})
	return findings
}
