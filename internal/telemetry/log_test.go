package telemetry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	log, err := Logger("warn", "json", &out)
	if err != nil {
		t.Fatal(err)
	}
	log.Info("hidden")
	log.Warn("shown", "task", "t1")
	var line struct{ Msg, Level, Task string }
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Msg != "shown" || line.Level != "WARN" || line.Task != "t1" {
		t.Errorf("log: %s (%v)", out.String(), err)
	}
	out.Reset()
	if log, err = Logger("debug", "text", &out); err != nil {
		t.Fatal(err)
	}
	log.Debug("shown", "node", "w0")
	if !strings.Contains(out.String(), "level=DEBUG msg=shown node=w0") {
		t.Errorf("log: %s", out.String())
	}
	for _, bad := range [][2]string{{"loud", "text"}, {"", "text"}, {"INFO", "text"}, {"info", "xml"}, {"info", ""}} {
		if _, err := Logger(bad[0], bad[1], &out); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("level %q, format %q: error %v does not say what is allowed", bad[0], bad[1], err)
		}
	}
}
