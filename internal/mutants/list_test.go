package mutants

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const root = "../.."

// list is docs/mutants.toml.
type list struct {
	Same []explained
}

// explained are changes to a file that no test can notice, or need not, for one reason.
type explained struct {
	File  string
	Why   string
	Lines [][2]string // what the line is, and what it becomes, without indentation
}

func readList(t *testing.T) list {
	t.Helper()
	var l list
	meta, err := toml.DecodeFile(filepath.Join(root, "docs", "mutants.toml"), &l)
	if err != nil {
		t.Fatal(err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		t.Fatalf("docs/mutants.toml: unknown keys %v", unknown)
	}
	return l
}

// holds reports whether the list explains a change.
func (l *list) holds(file, is, becomes string) bool {
	return slices.ContainsFunc(l.Same, func(e explained) bool {
		return e.File == file && slices.Contains(e.Lines, [2]string{is, becomes})
	})
}

// linesOf returns the lines of a file of the module, without indentation.
func linesOf(file string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines, nil
}

// Every entry of the list is about a line that is there, names a change that can be made to it, and says why it is
// harmless; none is there twice.
func TestTheListIsTrue(t *testing.T) {
	l := readList(t)
	seen := map[[3]string]bool{}
	for _, e := range l.Same {
		lines, err := linesOf(e.File)
		if err != nil {
			t.Errorf("docs/mutants.toml: %v", err)
			continue
		}
		if len(e.Why) < 10 || len(e.Lines) == 0 {
			t.Errorf("docs/mutants.toml: an entry of %s gives no reason, or explains nothing", e.File)
		}
		for _, pair := range e.Lines {
			key := [3]string{e.File, pair[0], pair[1]}
			switch {
			case seen[key]:
				t.Errorf("docs/mutants.toml: %s: %q is explained twice", e.File, pair[1])
			case !slices.Contains(lines, pair[0]):
				t.Errorf("docs/mutants.toml: %s has no line %q any more: strike it", e.File, pair[0])
			case !slices.Contains(mutantsOf(pair[0]), pair[1]):
				t.Errorf("docs/mutants.toml: %s: %q is no mutant of %q", e.File, pair[1], pair[0])
			}
			seen[key] = true
		}
	}
}

// becomes are the changes that gremlins makes, by its name for each sort.
var becomes = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL},
	"CONDITIONALS_BOUNDARY": {token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS,
		token.LSS: token.LEQ},
	"CONDITIONALS_NEGATION": {token.EQL: token.NEQ, token.NEQ: token.EQL, token.GEQ: token.LSS, token.LSS: token.GEQ, token.LEQ: token.GTR,
		token.GTR: token.LEQ},
	"INCREMENT_DECREMENT": {token.INC: token.DEC, token.DEC: token.INC},
	"INVERT_ASSIGNMENTS": {token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
		token.QUO_ASSIGN: token.MUL_ASSIGN},
	"INVERT_LOGICAL":  {token.LAND: token.LOR, token.LOR: token.LAND},
	"INVERT_LOOPCTRL": {token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK},
	"REMOVE_SELF_ASSIGNMENTS": {token.ADD_ASSIGN: token.ASSIGN, token.SUB_ASSIGN: token.ASSIGN, token.MUL_ASSIGN: token.ASSIGN,
		token.QUO_ASSIGN: token.ASSIGN, token.OR_ASSIGN: token.ASSIGN, token.AND_ASSIGN: token.ASSIGN},
}

// mutate returns a line with the token at an offset, in bytes, changed; false: that sort does not change it.
func mutate(line string, offset int, sort string) (string, bool) {
	for from, to := range becomes[sort] {
		rest, ok := strings.CutPrefix(line[offset:], from.String())
		if ok && tokenAt(line, offset) == from {
			return line[:offset] + to.String() + rest, true
		}
	}
	return "", false
}

// tokenAt returns the token that begins at an offset of a line.
func tokenAt(line string, offset int) (found token.Token) {
	tokens(line, func(at int, tok token.Token) {
		if at == offset {
			found = tok
		}
	})
	return found
}

func tokens(line string, do func(at int, tok token.Token)) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(line))
	s.Init(file, []byte(line), func(token.Position, string) {}, 0)
	for {
		pos, tok, _ := s.Scan()
		if tok == token.EOF {
			return
		}
		do(file.Offset(pos), tok)
	}
}

// mutantsOf returns what may become of a line.
func mutantsOf(line string) (all []string) {
	tokens(line, func(at int, _ token.Token) {
		for sort := range becomes {
			if mutant, ok := mutate(line, at, sort); ok {
				all = append(all, mutant)
			}
		}
	})
	return all
}

func TestMutantsOf(t *testing.T) {
	for line, want := range map[string][]string{
		"if a <= b {":                  {"if a < b {", "if a > b {"},
		"x += y * 2 // more, a - b":    {"x -= y * 2 // more, a - b", "x = y * 2 // more, a - b", "x += y / 2 // more, a - b"},
		`s := "a < b" + c`:             {`s := "a < b" - c`},
		"for i := n - 1; ok && f(); {": {"for i := n + 1; ok && f(); {", "for i := n - 1; ok || f(); {"},
		"return x":                     nil,
	} {
		got := mutantsOf(line)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
