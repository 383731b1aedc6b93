// Package version says which program this is.
package version

import (
	"runtime"
	"runtime/debug"
)

// Set by the linker (see the Makefile).
var (
	version = "development"
	commit  = "unknown"
)

// Dodoor is that of the program itself.
func Dodoor() string { return version }

// Build is that of the program and the commit that it was built from: two builds of one version differ in it.
func Build() string { return version + " " + commit }

// All names what built and what is inside this binary: "dodoor", "commit", "go" and "thrift".
func All() map[string]string {
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
