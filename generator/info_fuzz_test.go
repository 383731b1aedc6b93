package generator

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzReadRunInfo reads any file as a description of a run. What it accepts is written as what is read again.
func FuzzReadRunInfo(f *testing.F) {
	var seed bytes.Buffer
	if err := WriteRunInfo(&seed, &RunInfo{TimeScale: 2, Tasks: 10, Warmup: 1}); err != nil {
		f.Fatal(err)
	}
	f.Add(seed.Bytes())
	f.Add([]byte(`{"rows_version":1,"time_scale":1e999}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		info, err := ReadRunInfo(bytes.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteRunInfo(&again, info); err != nil {
			t.Fatal(err)
		}
		if read, err := ReadRunInfo(&again); err != nil || !reflect.DeepEqual(read, info) {
			t.Fatalf("%+v came back as %+v, %v", info, read, err)
		}
	})
}
