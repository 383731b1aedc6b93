package process

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(killedWorker); name != "" {
		runUntilKilled(name)
		return
	}
	goleak.VerifyTestMain(m)
}
