package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/needs"
)

// The Python client of docs/clients.md, with Debian's Python: submits, waits, and reads what was printed.
func TestPythonClient(t *testing.T) {
	p := newPerson(t)
	if printed := p.types(t.Context(), "/usr/bin/python3 -I -c 'from thrift import Thrift' && thrift -version >/dev/null"); printed != "" {
		needs.Real(t, fmt.Errorf("Thrift for Python: scripts/install-deps test\n%s", printed))
	}
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("docs/clients.md has no Python")
	}
	p.write(t, filepath.Join(p.folder, "client.py"), code)
	idl, err := filepath.Abs("../../thrift/dodoor.thrift")
	if err != nil {
		t.Fatal(err)
	}
	address := p.hasLab(t)
	printed := p.types(t.Context(), "thrift -r --gen py "+idl+" && /usr/bin/python3 client.py "+address)
	var want []string
	for i := range 10 {
		want = append(want, fmt.Sprintf("%d 0 hello %d", i+1, i+1))
	}
	if got := strings.Split(strings.TrimSpace(printed), "\n"); !slices.Equal(got, want) {
		t.Errorf("prints\n%s", printed)
	}
}
