package main

import (
	"fmt"
	"io"

	"dodoor/internal/version"
)

func runVersion(_ []string, stdout, _ io.Writer) int {
	v := version.All()
	fmt.Fprintf(stdout, "dodoor %s (commit %s), %s, thrift %s\n", v["dodoor"], v["commit"], v["go"], v["thrift"])
	return exitDone
}
