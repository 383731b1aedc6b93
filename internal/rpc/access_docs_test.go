package rpc_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/rpc"
)

var rewriteTable = flag.Bool("rewrite", false, "write the table of roles into docs/security.md instead of checking it")

// rightsTable is the table of docs/security.md: by service, who may ask for which methods.
func rightsTable() string {
	type row struct{ service, roles string }
	var rows []row
	methods := map[row][]string{}
	for _, r := range rpc.Rights() {
		at := row{r.Service, strings.Trim(fmt.Sprint(r.Roles), "[]")}
		if _, known := methods[at]; !known {
			rows = append(rows, at)
		}
		methods[at] = append(methods[at], "`"+r.Method+"`")
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.service, b.service) })
	var b strings.Builder
	b.WriteString("| asked for at | by | methods |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.service, strings.ReplaceAll(r.roles, " ", ", "), strings.Join(methods[r], ", "))
	}
	return b.String()
}

// The table of docs/security.md is what is checked before a handler runs.
func TestTheTableOfRolesIsDocumented(t *testing.T) {
	const file, begin = "../../docs/security.md", "<!-- roles: go test ./internal/rpc -run TableOfRoles -rewrite -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table after %q", file, begin)
	}
	want := before + begin + rightsTable() + "\n" + after
	if *rewriteTable {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("%s is not what access.go says: go test ./internal/rpc -run TableOfRoles -rewrite, and look at the difference", file)
	}
}
