package campaign

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a run computes is not typed by hand: every number in a text of this package is a published figure or a
// parameter of some setting. Numbers inside words, as in P95, and of sections are names.
func TestNumbersInProse(t *testing.T) {
	known := parameters(t)
	for v := range constants(t, "published.go") {
		known[v] = true
		known[math.Round(1000*100*math.Abs(v))/1000] = true // as a percentage
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			for _, number := range numbersIn(literal.Value) {
				seen++
				if !known[number] {
					t.Errorf("%s: %g in a text is neither published nor a parameter: let the run compute it\n\t%s", set.Position(n.Pos()), number,
						literal.Value)
				}
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("no number was found in any text: the test looks at nothing")
	}
}

var (
	names     = regexp.MustCompile(`Sec\. ?\d(\.\d)?|Eqs?\. ?\d|Algorithm \d|%[-+.\d]*[a-z]|0[x]?[0-9a-f]{3,}|95 %%? interval`)
	free      = regexp.MustCompile(`(^|[^\pL\d.,_-])(\d[\d,]*(?:\.\d+)?)($|[^\pL\d_-])`)
	wordsOnly = strings.NewReplacer("\n", " ")
)

// numbersIn are the numbers that stand alone in a text.
func numbersIn(text string) []float64 {
	text = names.ReplaceAllString(wordsOnly.Replace(text), " ")
	var all []float64
	for {
		at := free.FindStringSubmatchIndex(text)
		if at == nil {
			return all
		}
		if v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text[at[4]:at[5]], ","), ",", ""), 64); err == nil {
			all = append(all, v)
		}
		text = text[at[5]:]
	}
}

func TestNumbersInText(t *testing.T) {
	for text, want := range map[string]string{
		"65 of the 100 nodes": "[65 100]", "P95 and m510 (Sec. 6.2)": "[]", "−14.8 %%, 16,680 more": "[14.8 16680]",
		"%.2f s and %d": "[]", "b = 50, b_Δ = 4.": "[50 4]", "c6525-25g": "[]", "reproduction-": "[]",
	} {
		if got := fmt.Sprint(numbersIn(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// parameters are all numbers of all settings that are planned, and of the profiles that they start from.
func parameters(t *testing.T) map[float64]bool {
	t.Helper()
	known := map[float64]bool{0: true, 1: true}
	number := regexp.MustCompile(`\d+(\.\d+)?`)
	add := func(text string) {
		for _, n := range number.FindAllString(strings.ReplaceAll(text, "_", ""), -1) {
			v, err := strconv.ParseFloat(n, 64)
			if err != nil {
				t.Fatal(err)
			}
			known[v] = true
			known[100*v] = true // a share as a percentage
		}
	}
	p, _ := every(t, false)
	for i := range p.cells {
		add(strings.Join(p.cells[i].cell.sets(), " "))
		loaded := p.cells[i].runs[0].c
		for _, class := range loaded.Classes {
			add(fmt.Sprint(class.Count, class.Cores))
		}
		add(fmt.Sprint(loaded.Workers()))
		add(fmt.Sprintf("%+v %+v %+v %+v %+v %+v %d", loaded.Policies.Find("score"), loaded.Policies.Find("dodoor_plus"),
			loaded.Policies.Find("prequal"), loaded.Datastore, loaded.Sim, loaded.Scheduler,
			loaded.Generator.Warmup))
	}
	return known
}

// constants are the numbers that a file of this package declares.
func constants(t *testing.T, file string) map[float64]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[float64]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && (literal.Kind == token.INT || literal.Kind == token.FLOAT) {
			v, err := strconv.ParseFloat(strings.ReplaceAll(literal.Value, "_", ""), 64)
			if err != nil {
				t.Fatal(err)
			}
			all[v] = true
		}
		return true
	})
	return all
}
