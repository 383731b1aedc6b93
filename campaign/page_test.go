package campaign

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var about = About{Command: "dodoor reproduce", Machine: "one", Took: time.Minute}

// Every study finds the settings that its tables, pictures, claims and rules speak of, quick or not.
func TestEveryStudyIsWhole(t *testing.T) {
	for _, quick := range []bool{false, true} {
		p, r := every(t, quick)
		page := string(p.Page(r, about))
		for _, name := range Names() {
			if !strings.Contains(page, `<a id="`+name+`">`) {
				t.Errorf("the page lacks the study %s", name)
			}
		}
		for _, bad := range []string{"NaN", "Inf", "%!", "INCOMPLETE"} {
			if strings.Contains(page, bad) {
				t.Errorf("quick=%t: the page says %s", quick, bad)
			}
		}
		for _, target := range regexp.MustCompile(`\(#(\w+)\)`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(page, `<a id="`+target[1]+`">`) {
				t.Errorf("the page links to #%s, which is not there", target[1])
			}
		}
		drawings, err := p.Drawings(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(drawings) < 4 {
			t.Errorf("%d pictures", len(drawings))
		}
		for _, d := range drawings {
			if !strings.Contains(page, "](plots/"+d.Name+")") {
				t.Errorf("the page does not show %s", d.Name)
			}
		}
	}
}

// A study stands alone: no other one has to be run for it.
func TestEveryStudyStandsAlone(t *testing.T) {
	for _, name := range Names() {
		p := planOf(t, Options{Seeds: 1, Quick: true, Only: []string{name}})
		page := p.Page(ran(t, p, 1), about)
		if got := bytes.Count(page, []byte("<a id=")) - bytes.Count(page, []byte(`<a id="claims">`)); got != 1 {
			t.Errorf("%s alone gives a page of %d studies", name, got)
		}
	}
}

// The page does not depend on the order in which runs end.
func TestSameRunsSamePage(t *testing.T) {
	var pages, lists [2][]byte
	for i := range pages {
		p := planOf(t, Options{Seeds: 2, Quick: true, Only: []string{"azure", "oracle", "staleness", "skew"}})
		pages[i] = p.Page(ran(t, p, 1+3*i), about)
		var err error
		if lists[i], err = p.JSON(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) || !bytes.Equal(lists[0], lists[1]) {
		t.Error("one job and four gave other bytes")
	}
}

func TestPageNamesItsTrace(t *testing.T) {
	trace := "/somewhere/azure_vm.csv"
	p := planOf(t, Options{Seeds: 1, Quick: true, Only: []string{"azure"}, Azure: trace})
	page := string(p.Page(ran(t, p, 1), about))
	if !strings.Contains(page, "`azure_vm.csv`") || strings.Contains(page, "somewhere") {
		t.Error("the page does not name the trace by its file name")
	}
	for _, run := range p.runs {
		if run.c.Generator.Trace != trace {
			t.Fatalf("a run replays %s", run.c.Generator.Trace)
		}
	}
}

func TestExport(t *testing.T) {
	p := planOf(t, Options{Seeds: 2, Quick: true, Only: []string{"batch", "staleness"}})
	ran(t, p, 1)
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var all []exported
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(p.cells) {
		t.Errorf("%d settings in the list, %d planned", len(all), len(p.cells))
	}
	for _, e := range all {
		if len(e.Runs) != 2 || e.Runs[0].Seed != 1 || e.Runs[1].Seed != 2 || len(e.Studies) == 0 {
			t.Errorf("%+v", e)
		}
	}
}

// A row whose tasks did not all finish says so.
func TestIncompleteRow(t *testing.T) {
	cell, r := measured(map[string][]float64{"pot": {1, 2}})
	r.of(cell("pot"))[1].Summary.Completed--
	table := &Table{Labels: []string{"policy"}, Columns: meanOf(mean), Rows: []Row{row(cell("pot"), nil, "pot")}}
	var b strings.Builder
	table.write(&b, r)
	if !strings.Contains(b.String(), "pot **INCOMPLETE**") {
		t.Errorf("the table says nothing:\n%s", b.String())
	}
}

// testdata/table.md is how a table looks: heads, alignment, intervals, tildes, bounds and their verdicts.
func TestGoldenTable(t *testing.T) {
	cell, r := measured(map[string][]float64{
		"oracle": {1.0, 1.1, 0.9}, "dodoor+": {1.05, 1.155, 0.945}, "dodoor": {1234.5, 1250, 1240}, "random|": {0.95, 1.2, 0.9},
	})
	oracle := cell("oracle")
	table := &Table{Labels: []string{"setting", "policy"},
		Columns: slices.Concat(spreadOf(mean), changeOf("Δ mean vs oracle (%)", mean), ratioOf("mean / oracle", mean), bound(mean))}
	for _, c := range []struct {
		policy string
		bound  float64
	}{{"oracle", 0}, {"dodoor+", 1.15}, {"dodoor", 1.25}, {"random|", 0}} {
		line := row(cell(c.policy), &oracle, "QPS 60", c.policy)
		line.Bound = c.bound
		table.Rows = append(table.Rows, line)
	}
	var b strings.Builder
	table.write(&b, r)
	want, err := os.ReadFile("testdata/table.md")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
