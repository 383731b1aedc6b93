package generator

import (
	"bytes"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// requests draws any trace that the rules allow.
func requests(dims cluster.Dimensions) *rapid.Generator[[]Request] {
	word := rapid.StringMatching(`[ -~äß€]{1,12}`)
	return rapid.Custom(func(t *rapid.T) []Request {
		ids := rapid.SliceOfNDistinct(word, 1, 20, rapid.ID).Draw(t, "ids")
		starts := rapid.SliceOfN(rapid.Int64Range(0, int64(maxStart)/int64(len(ids))), len(ids), len(ids)).Draw(t, "gaps")
		out := make([]Request, len(ids))
		var start time.Duration
		for i := range out {
			start += time.Duration(starts[i])
			out[i] = Request{ID: ids[i], Type: word.Draw(t, "type"), Mode: rapid.SampledFrom([]string{"", "short", "a,b"}).Draw(t, "mode"),
				Duration: rapid.Int64Range(0, cluster.MaxDuration).Draw(t, "duration"), Start: start}
			out[i].Demand[cluster.Cores] = rapid.Int64Range(1, cluster.MaxAmount).Draw(t, "cores")
			for k := cluster.Memory; k < dims.Len(); k++ {
				out[i].Demand[k] = rapid.Int64Range(0, cluster.MaxAmount).Draw(t, "amount")
			}
		}
		return out
	})
}

func TestTraceRoundTrip(t *testing.T) {
	gpus, err := cluster.NewDimensions("gpu")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.SampledFrom([]cluster.Dimensions{cluster.Standard(), gpus}).Draw(t, "dims")
		want := requests(dims).Draw(t, "requests")
		var b bytes.Buffer
		if err := WriteTrace(&b, dims, slices.Values(want)); err != nil {
			t.Fatal(err)
		}
		got, err := ReadTrace(&b, dims, 0)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("wrote %+v\nread %+v, %v", want, got, err)
		}
	})
}

func TestWriteTraceRefusesWhatNoLineHolds(t *testing.T) {
	err := WriteTrace(io.Discard, cluster.Standard(), slices.Values([]Request{{ID: "a\nb", Type: "t"}}))
	wantError(t, err, "request 1")
}

func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(oneRow))
	f.Add([]byte("\ufeffid,cores,memoryMB,diskMB,durationMs,startMs,type,mode\r\n\"a\"\"b\",0.42000000000000004,1,2,3,4.5,t,small\r\n"))
	f.Add([]byte("-0.0,1e5,NaN,,\"\",+1,a,b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ReadTrace(bytes.NewReader(text), cluster.Standard(), 0)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteTrace(&b, cluster.Standard(), slices.Values(got)); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := ReadTrace(&b, cluster.Standard(), 0)
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("read %+v, then %+v, %v", got, again, err)
		}
	})
}
