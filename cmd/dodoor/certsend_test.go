package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/identity"
)

// refusedBy tells why a bundle does not accept another's certificate; "" where it does.
func (s *somebody) refusedBy(name, other string) string {
	s.t.Helper()
	certs, err := certsIn(s.at(other, identity.CertFile))
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.opens(name).Verify(certs, time.Now()); err != nil {
		return err.Error()
	}
	return ""
}

// Whoever has the list refuses what was revoked, earlier certificates of the name included, and nobody else.
func TestCertsRevoke(t *testing.T) {
	s := newAuthority(t)
	for _, name := range []string{"alice", "bob", "carla"} {
		s.does("issue", "user", name, "-out", s.folder)
	}
	early := s.text(s.at("alice", identity.CertFile))
	s.does("renew", "-within", "40d", s.at("alice"))
	if printed := s.does("revoke", "alice"); strings.Count(printed, "revoked: user alice, ") != 2 ||
		!strings.Contains(printed, filepath.Join(s.ca, identity.RevokedFile)) {
		t.Errorf("revoke prints\n%s", printed)
	}
	if why := s.refusedBy("bob", "alice"); why != "" {
		t.Errorf("without the list: %s", why)
	}
	s.refuses(exitFailed, "user alice was revoked already, on ", "revoke", "alice")
	if printed := s.does("revoke", "alice", "-to", s.at("bob"), s.at("carla")); strings.Count(printed, "told: ") != 2 {
		t.Errorf("revoke -to prints\n%s", printed)
	}
	for range 2 { // the certificate of now, and the one of before
		if why := s.refusedBy("bob", "alice"); !strings.Contains(why, "user alice was revoked on ") {
			t.Errorf("refused as %q", why)
		}
		if err := os.WriteFile(s.at("alice", identity.CertFile), early, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if why := s.refusedBy("bob", "carla"); why != "" {
		t.Errorf("carla is refused: %s", why)
	}
	s.refuses(exitFailed, "revoked on ", "show", s.at("alice"))
	s.refuses(exitFailed, "user alice was revoked on ", "renew", "-within", "40d", s.at("alice"))

	certs, err := certsIn(s.at("carla", identity.CertFile))
	if err != nil {
		t.Fatal(err)
	}
	s.does("revoke", strings.ToUpper(certs[0].SerialNumber.Text(16)), "-to", s.folder)
	for _, name := range []string{"carla", "alice"} { // the second list has what the first had
		if why := s.refusedBy("bob", name); !strings.Contains(why, "was revoked on ") {
			t.Errorf("%s is refused as %q", name, why)
		}
	}
	if printed := s.does("show", s.ca); strings.Count(printed, " revoked on ") != 3 || strings.Count(printed, " good ") != 2 {
		t.Errorf("show prints\n%s", printed)
	}
	s.does("issue", "worker", "bob", "-out", t.TempDir())
	s.refuses(exitFailed, `"bob" is the name of several: say a serial number: worker bob `, "revoke", "bob")
	s.refuses(exitFailed, `has the name or serial number "nobody"`, "revoke", "nobody")
}

// request is a request by a new key, as PEM.
func request(t *testing.T, curve elliptic.Curve) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), key
}

// A request is signed for the identity that the command names; the key stays where it is.
func TestCertsOfARequest(t *testing.T) {
	s := newAuthority(t)
	text, key := request(t, elliptic.P256())
	s.does("issue", "user", "dora", "-csr", write(t, "dora.csr", string(text)), "-out", s.folder)
	if _, err := os.Stat(s.at("dora", identity.KeyFile)); err == nil {
		t.Error("the bundle has a key")
	}
	if printed := s.does("show", s.at("dora")); !strings.Contains(printed, " its key is elsewhere ") {
		t.Errorf("show prints\n%s", printed)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	own := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(s.at("dora", identity.KeyFile), own, 0o600); err != nil {
		t.Fatal(err)
	}
	if id := s.opens("dora").Own(); id != (identity.Identity{Role: identity.User, Name: "dora"}) {
		t.Errorf("certs/dora is of %s", id)
	}
	weak, _ := request(t, elliptic.P224())
	forged := []byte(strings.Replace(string(text), string(text[100:104]), "AAAA", 1))
	for what, c := range map[string]struct{ text, says string }{
		"no request":  {string(s.text(s.at("dora", identity.CertFile))), "no certificate request in it"},
		"weak":        {string(weak), "its key is on P-224: take P-256 or P-384"},
		"not its own": {string(forged), "r.csr: "},
		"endless":     {strings.Repeat("x", 2<<20), "is larger than"},
		"empty":       {"", "no certificate request in it"},
	} {
		t.Log(what)
		s.refuses(exitFailed, c.says, "issue", "user", "eve", "-out", s.folder, "-csr", write(t, "r.csr", c.text))
	}
	if _, err := os.Stat(s.at("eve")); err == nil {
		t.Error("a request that was refused left a bundle")
	}
}

// What is wrong is said before anything is made.
func TestCertsWrongUsage(t *testing.T) {
	s := newAuthority(t)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "usage: dodoor certs issue [flags] ROLE NAME", []string{"issue", "user"}},
		{exitUsage, `unexpected argument "x"`, []string{"issue", "user", "a", "x"}},
		{exitUsage, `"king" is no role: it is one of datastore, scheduler, worker, operator, user`, []string{"issue", "king", "a"}},
		{exitUsage, "a letter, digit or underscore is needed", []string{"issue", "user", "../a"}},
		{exitUsage, "an argument is empty", []string{"issue", "user", ""}},
		{exitUsage, "-csr is not for create", []string{"create", "-csr", "x"}},
		{exitUsage, "-within is not for issue", []string{"issue", "user", "a", "-within", "3d"}},
		{exitUsage, "-validity", []string{"issue", "user", "a", "-validity", "0d"}},
		{exitUsage, "as in 30d or 12h", []string{"issue", "user", "a", "-validity", "99999999999999999999d"}},
		{exitUsage, "as in 30d or 12h", []string{"issue", "user", "a", "-validity", "-5h"}},
		{exitUsage, "for which cluster? -conf FILE", []string{"all"}},
		{exitUsage, "no such file", []string{"all", "-conf", "/nowhere/c.toml"}},
		{exitUsage, "belong together", []string{"revoke", "a", "b"}},
		{exitUsage, "belong together", []string{"revoke", "a", "-to"}},
		{exitUsage, "usage: dodoor certs show", []string{"show"}},
		{exitFailed, "no such file", []string{"show", "/nowhere"}},
		{exitFailed, "it is no bundle", []string{"renew", t.TempDir()}},
		{exitFailed, "no certificate in it", []string{"show", write(t, "x.pem", "x")}},
		{exitFailed, "is no file", []string{"issue", "user", "a", "-csr", t.TempDir()}},
		{exitUsage, "where is the authority?", []string{"create", "-ca", ""}},
		{exitFailed, "make an authority with `dodoor certs create`", []string{"issue", "user", "a", "-ca", t.TempDir()}},
		{exitFailed, `the domain "a/b"`, []string{"create", "-ca", filepath.Join(t.TempDir(), "ca"), "-domain", "a/b"}},
	} {
		s.refuses(c.code, c.says, c.args...)
	}
	if _, stderr, code := dodoor("certs", "frob"); code != exitUsage || !strings.Contains(stderr, `no verb is called "frob"`) {
		t.Errorf("frob: exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat("certs"); err == nil {
		t.Error("something was made")
	}
}

// A key that others may read is no key, of the authority or of a bundle.
func TestCertsOfKeysThatOthersRead(t *testing.T) {
	s := newAuthority(t)
	s.does("issue", "user", "a", "-out", s.folder)
	for _, path := range []string{s.at("a", identity.KeyFile), filepath.Join(s.ca, "ca-key.pem")} {
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		s.refuses(exitFailed, "may be read or written by others (0640): chmod 600 it", "show", s.at("a"))
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.does("show", s.at("a"))
}

func TestLifetimes(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 30 * day, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute,
		"106751d": 106751 * day, "106752d": 0, "0d": 0, "": 0, "d": 0, "-1d": 0, "1.5d": 0, "5": 0} {
		var l lifetime
		if err := l.Set(text); (err == nil) != (want > 0) || time.Duration(l) != want {
			t.Errorf("%q is %v, %v", text, time.Duration(l), err)
		}
		if again := lifetime(math.MinInt64); want > 0 && (again.Set(l.String()) != nil || again != l) {
			t.Errorf("%q is %q, which is %v", text, l, time.Duration(again))
		}
	}
}
