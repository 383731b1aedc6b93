package docker

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(crashing); name != "" {
		runUntilKilled(name)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeImages()
		os.Exit(code)
	}))
}
