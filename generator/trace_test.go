package generator

import (
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
)

const oneRow = "0,2.0,4893,9046,265027,50,simulated,medium\n"

var oneRequest = Request{ID: "0", Type: "simulated", Mode: "medium",
	Demand: cluster.Resources{2000, 4893, 9046}, Duration: 265027, Start: 50 * time.Millisecond}

// Every spelling of the same trace reads the same.
func TestTraceSpellings(t *testing.T) {
	for name, text := range map[string]string{
		"no header":            oneRow,
		"no line end":          strings.TrimSuffix(oneRow, "\n"),
		"CRLF":                 "0,2.0,4893,9046,265027,50,simulated,medium\r\n",
		"byte order mark":      "\ufeff" + oneRow,
		"blank lines":          "\n \t\n" + oneRow + "\n\r\n",
		"quoted":               `"0","2.0",4893,9046,265027,50,"simulated","medium"` + "\n",
		"blanks":               " 0 ,\t2.0, 4893 ,9046,265027,50, \"simulated\" ,medium \n",
		"integral decimals":    "0,2,4893.0,9046.00,265027.0,50.000,simulated,medium\n",
		"rounded cores":        "0,1.9999999999999998,4893,9046,265027,50,simulated,medium\n",
		"header":               "id,cores,memoryMB,diskMB,durationMs,startMs,type,mode\n" + oneRow,
		"header with BOM, any": "\ufeffID,Cores,MEMORYMB,diskmb,DurationMS,startMs,Type,mode\r\n" + oneRow,
		"reordered header":     "mode,type,startMs,durationMs,diskMB,memoryMB,cores,id\nmedium,simulated,50,265027,9046,4893,2.0,0\n",
	} {
		got, err := ReadTrace(strings.NewReader(text), cluster.Standard(), 0)
		if err != nil || len(got) != 1 || got[0] != oneRequest {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestTraceSmallIsShort(t *testing.T) {
	got, err := ReadTrace(strings.NewReader("0,1,1,1,1,0,matmul,small\n1,1,1,1,1,0,matmul,short\n"), cluster.Standard(), 0)
	if err != nil || got[0].Mode != "short" || got[1].Mode != "short" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestTraceExtraResources(t *testing.T) {
	dims, err := cluster.NewDimensions("gpu", "fpga")
	if err != nil {
		t.Fatal(err)
	}
	header := "gpu,id,cores,memoryMB,diskMB,durationMs,startMs,type,mode\n"
	got, err := ReadTrace(strings.NewReader(header+"0.5,0,2,1,1,1,0,train,\n"), dims, 0)
	if err != nil {
		t.Fatal(err)
	}
	gpu, _ := dims.Index("gpu")
	if got[0].Demand[gpu] != 500 || got[0].Demand[cluster.Cores] != 2000 {
		t.Fatalf("got %+v", got[0])
	}
	_, err = ReadTrace(strings.NewReader(header), cluster.Standard(), 0)
	wantError(t, err, `line 1: unknown column "gpu"`, "id,cores,memoryMB,diskMB,durationMs,startMs,type,mode")
}

// A million-core task is well formed: whether it fits is the cluster's to say.
func TestTraceMillionCores(t *testing.T) {
	got, err := ReadTrace(strings.NewReader("0,1000000,1,1,1,0,a,b\n"), cluster.Standard(), 0)
	if err != nil || got[0].Demand[cluster.Cores] != 1e9 {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestTraceErrors(t *testing.T) {
	row := func(change string, at int) string {
		f := strings.Split(strings.TrimSpace(oneRow), ",")
		f[columnID] = "1"
		f[at] = change
		return oneRow + strings.Join(f, ",") + "\n"
	}
	cases := map[string]struct {
		text string
		want []string
	}{
		"empty":           {"", []string{"no requests"}},
		"blank":           {"\n \r\n\n", []string{"no requests"}},
		"header alone":    {"id,cores,memoryMB,diskMB,durationMs,startMs,type,mode\n", []string{"no requests"}},
		"missing column":  {"id,cores,memoryMB,diskMB,startMs,type,mode\n", []string{"line 1", "column durationMs is missing", "id,cores,"}},
		"unknown column":  {"id,core,memoryMB,diskMB,durationMs,startMs,type,mode\n", []string{"line 1", `unknown column "core"`, "id,cores,"}},
		"column twice":    {"id,cores,Cores,diskMB,durationMs,startMs,type,mode\n", []string{"line 1", "column cores is named twice"}},
		"too few fields":  {oneRow + "1,2.0,4893\n", []string{"line 2", "3 fields instead of 8", "durationMs"}},
		"too many fields": {oneRow + "1,2.0,4893,1,1,1,a,b,c\n", []string{"line 2", "9 fields instead of 8"}},
		"header, fields": {"mode,type,startMs,durationMs,diskMB,memoryMB,cores,id\na,b\n",
			[]string{"line 2", "2 fields instead of 8 (mode,type,"}},
		"negative cores":  {row("-2", 1), []string{"line 2, column cores", `"-2"`, "out of range", "0.001 to"}},
		"zero cores":      {row("0", 1), []string{"column cores", `"0"`, "out of range"}},
		"tiny cores":      {row("0.0004", 1), []string{"column cores", `"0.0004"`, "less than 0.001"}},
		"NaN cores":       {row("NaN", 1), []string{"line 2, column cores", `"NaN"`, "not a plain decimal number", "0.001 to"}},
		"infinite cores":  {row("+Inf", 1), []string{"column cores", `"+Inf"`, "not a plain decimal number"}},
		"hex cores":       {row("0x2", 1), []string{"column cores", "not a plain decimal number"}},
		"huge cores":      {row("9999999999", 1), []string{"column cores", "out of range", "to 1099511627.776"}},
		"absurd cores":    {row(strings.Repeat("9", 400), 1), []string{"column cores", "too large"}},
		"no cores":        {row("", 1), []string{"column cores", `""`, "not a plain decimal number"}},
		"half a MiB":      {row("0.5", 2), []string{"column memoryMB", `"0.5"`, "whole number"}},
		"negative memory": {row("-1", 2), []string{"column memoryMB", "out of range", "0 to"}},
		"word as disk":    {row("many", 3), []string{"column diskMB", `"many"`, "not a plain decimal number"}},
		"negative time":   {row("-5", 4), []string{"column durationMs", `"-5"`, "out of range"}},
		"a long task":     {row("31536000001", 4), []string{"column durationMs", "out of range", "to 31536000000"}},
		"negative start":  {row("-50", 5), []string{"column startMs", "out of range"}},
		"a hair negative": {row("-0.0000001", 5), []string{"column startMs", "out of range"}},
		"start in 1970":   {row("1700000000000", 5), []string{"column startMs", "out of range"}},
		"backwards":       {"1,1,1,1,1,50.5,a,b\n2,1,1,1,1,50.25,a,b\n", []string{"line 2, column startMs", `"50.25"`, "goes backwards", "50.5"}},
		"duplicate id":    {oneRow + "\n" + oneRow, []string{"line 3, column id", `"0"`, "line 1"}},
		"no id":           {row("", 0), []string{"column id", "must not be empty"}},
		"no type":         {row("", 6), []string{"column type", "must not be empty"}},
		"control type":    {row("a\x00b", 6), []string{"column type", "control characters"}},
		"not UTF-8":       {row("\xff", 7), []string{"column mode", "UTF-8"}},
		"long id":         {row(strings.Repeat("x", 257), 0), []string{"column id", "longer than 256 bytes"}},
		"open quote":      {oneRow + `"1,2,3` + "\n4,5,6,7,8\n", []string{"line 2", "does not end on its line"}},
		"text after":      {`"1"2,3` + "\n", []string{"line 1", "followed by more text"}},
		"quote inside":    {`1,2"3` + "\n", []string{"line 1", "field 2 has a quote in the middle"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ReadTrace(strings.NewReader(c.text), cluster.Standard(), 0)
			wantError(t, err, c.want...)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Errorf("%v is not a SyntaxError", err)
			}
		})
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\x00") || len(err.Error()) > 400 {
		t.Errorf("error is not fit to print: %q", err)
	}
}

// endless is a line without an end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '7'
	}
	e.read += len(p)
	return len(p), nil
}

func TestTraceEndlessLine(t *testing.T) {
	tail := &endless{}
	_, err := ReadTrace(io.MultiReader(strings.NewReader(oneRow), tail), cluster.Standard(), 0)
	wantError(t, err, "line 2", "longer than 64 KiB")
	if tail.read > 2*MaxLine {
		t.Errorf("read %d bytes of a line that is too long after %d", tail.read, MaxLine)
	}
}

func TestLineLimitIsExact(t *testing.T) {
	for _, end := range []string{"", "\n", "\r\n"} {
		for extra, ok := range map[int]bool{0: true, 1: false} {
			l := newLineReader(strings.NewReader(strings.Repeat("x", MaxLine+extra) + end))
			_, err := l.next()
			if (err == nil) != ok {
				t.Errorf("%d bytes and %q: %v", MaxLine+extra, end, err)
			}
		}
	}
}

func TestTraceReadErrorIsPassedOn(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := ReadTrace(io.MultiReader(strings.NewReader(oneRow), failingReader{broken}), cluster.Standard(), 0)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "line 2") {
		t.Fatalf("got %v", err)
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// Only what is asked for is read: the rest of a long trace may be anything.
func TestTraceLimit(t *testing.T) {
	got, err := ReadTrace(strings.NewReader(oneRow+"garbage\n"), cluster.Standard(), 1)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
}

// The two traces that the paper's figures come from.
func TestReferenceTraces(t *testing.T) {
	for file, coreSeconds := range map[string]float64{"azure_vm_600s.csv": 5022794.71, "functionbench_trace.csv": 0} {
		q := referenceTrace(t, file)
		if len(q) != 10000 {
			t.Errorf("%s: %d requests", file, len(q))
		}
		s := Describe(q)
		if coreSeconds > 0 && math.Abs(s.CoreSeconds-coreSeconds) > 1 {
			t.Errorf("%s: %.2f core-seconds, want %.2f", file, s.CoreSeconds, coreSeconds)
		}
	}
}

// referenceTrace reads one of the published traces, which are not part of the repository.
func referenceTrace(t *testing.T, file string) []Request {
	t.Helper()
	f, err := os.Open(needs.Reference(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	q, err := ReadTrace(f, cluster.Standard(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
