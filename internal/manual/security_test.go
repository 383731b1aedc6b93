package manual

import (
	"fmt"
	"os/exec"
	"testing"

	"dodoor/internal/needs"
)

// Every line of docs/security.md.
func TestSecurity(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		needs.Real(t, fmt.Errorf("%w: scripts/install-deps test", err))
	}
	newPerson(t).follows(t, "security.md")
}
