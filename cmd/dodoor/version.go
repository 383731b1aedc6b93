package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// Set by the linker (see the Makefile).
var (
	version = "development"
	commit  = "unknown"
)

// versions names what built and what is inside this binary; every run.json carries it.
func versions() map[string]string {
	v := map[string]string{"dodoor": version, "commit": commit, "go": runtime.Version(), "thrift": "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/apache/thrift" {
				v["thrift"] = dep.Version
			}
		}
	}
	return v
}

func runVersion(_ []string, stdout, _ io.Writer) int {
	v := versions()
	fmt.Fprintf(stdout, "dodoor %s (commit %s), %s, thrift %s\n", v["dodoor"], v["commit"], v["go"], v["thrift"])
	return exitDone
}
