package authority

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/identity"
)

var w1 = identity.Identity{Role: identity.Worker, Name: "w1"}

func made(t *testing.T) (a *Authority, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "ca")
	a, err := Create(folder, "lab", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a, folder
}

// An authority is made once, its folder and its key are its owner's alone, and it opens as what it is.
func TestCreate(t *testing.T) {
	a, folder := made(t)
	if _, err := Create(folder, "lab", time.Hour); err == nil || !strings.Contains(err.Error(), "there is an authority already") {
		t.Errorf("a second one: %v", err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, KeyFile: 0o600, Issued: 0o700} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
	again, err := Open(folder)
	if err != nil || again.Domain() != "lab" || !again.Certificate().Equal(a.Certificate()) {
		t.Errorf("got %v, %v", again, err)
	}
	for domain, validity := range map[string]time.Duration{"": time.Hour, "a/b": time.Hour, "lab": 0} {
		if _, err := Create(filepath.Join(t.TempDir(), "ca"), domain, validity); err == nil {
			t.Errorf("%q for %s is made", domain, validity)
		}
	}
}

// What is no authority does not open, and the error says what to do.
func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(in func(string) string)
		want  string
	}{
		"nothing":      {func(in func(string) string) { os.Remove(in(identity.CAFile)) }, "dodoor certs create"},
		"empty":        {func(in func(string) string) { os.Truncate(in(identity.CAFile), 0) }, "no certificate in it"},
		"no key":       {func(in func(string) string) { os.Remove(in(KeyFile)) }, "no such file"},
		"an empty key": {func(in func(string) string) { os.Truncate(in(KeyFile), 0) }, "no key in it"},
		"a public key": {func(in func(string) string) { os.Chmod(in(KeyFile), 0o644) }, "chmod 600"},
		"another's key": {func(in func(string) string) {
			_, other := made(t)
			os.Rename(filepath.Join(other, KeyFile), in(KeyFile))
		}, "is not the key of"},
	} {
		_, folder := made(t)
		c.spoil(func(file string) string { return filepath.Join(folder, file) })
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

// A certificate says who, begins a little early, ends when it was asked to and never after the authority, and is kept.
func TestIssue(t *testing.T) {
	a, folder := made(t)
	for validity, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 48 * time.Hour: time.Hour} {
		bundle := filepath.Join(t.TempDir(), "w1")
		now := time.Now()
		if err := a.Issue(w1, bundle, validity); err != nil {
			t.Fatal(err)
		}
		b, err := identity.Open(bundle, "lab")
		if err != nil || b.Own() != w1 {
			t.Fatal(b, err)
		}
		if off := b.NotAfter().Sub(now.Add(want)).Abs(); off > time.Minute/2 {
			t.Errorf("for %s: until %s", validity, b.NotAfter())
		}
		text, err := os.ReadFile(filepath.Join(bundle, identity.CertFile))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(text)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || now.Sub(cert.NotBefore) < Backdate-time.Minute || cert.PublicKeyAlgorithm != x509.ECDSA {
			t.Errorf("%v from %s, %v", cert.PublicKeyAlgorithm, cert.NotBefore, err)
		}
	}
	if kept, err := os.ReadDir(filepath.Join(folder, Issued)); err != nil || len(kept) != 2 {
		t.Errorf("%d are kept, %v", len(kept), err)
	}
}

// What no certificate can say is not signed.
func TestIssueRefuses(t *testing.T) {
	a, folder := made(t)
	for _, id := range []identity.Identity{{}, {Role: identity.User}, {Role: identity.User, Name: "a b"}, {Role: identity.User, Name: "../x"},
		{Name: "x"},
		{Role: 77, Name: "x"}} {
		if err := a.Issue(id, t.TempDir(), time.Hour); err == nil {
			t.Errorf("%v got a certificate", id)
		}
	}
	if err := a.Issue(w1, t.TempDir(), 0); err == nil {
		t.Error("a certificate for no time")
	}
	if kept, _ := os.ReadDir(filepath.Join(folder, Issued)); len(kept) != 0 {
		t.Errorf("%d are kept", len(kept))
	}
}
