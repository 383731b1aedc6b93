package identity_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	. "dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var alice = Identity{User, "alice"}

// issued makes an authority and a bundle in folders of the test's own.
func issued(t testing.TB, id Identity) (ca *authority.Authority, folder string) {
	t.Helper()
	ca, err := authority.Create(filepath.Join(t.TempDir(), "ca"), "dodoor", 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	folder = Folder(t.TempDir(), id.Name)
	if err := ca.Issue(id, folder, time.Hour); err != nil {
		t.Fatal(err)
	}
	return ca, folder
}

// An issued bundle opens, for its owner alone.
func TestOpen(t *testing.T) {
	_, folder := issued(t, alice)
	b, err := Open(folder, "dodoor")
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(b.NotAfter()); b.Own() != alice || left > time.Hour || left < 59*time.Minute {
		t.Errorf("%v for %v", b.Own(), left)
	}
	for path, want := range map[string]os.FileMode{"": 0o700, KeyFile: 0o600} {
		if info, err := os.Stat(filepath.Join(folder, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q is %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

// What is wrong with a bundle is said of the file, and what to do.
func TestOpenRefuses(t *testing.T) {
	other, theirs := issued(t, alice)
	block := func(kind, text string) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(text)}) }
	for name, c := range map[string]struct {
		spoil func(in func(string) string)
		want  []string
	}{
		"no folder":    {func(in func(string) string) { os.RemoveAll(in("")) }, []string{"no such file", "dodoor certs issue"}},
		"no authority": {func(in func(string) string) { os.Remove(in(CAFile)) }, []string{CAFile, "no such file"}},
		"no certificate": {func(in func(string) string) { os.WriteFile(in(CertFile), nil, 0o600) },
			[]string{CertFile, `no part "CERTIFICATE" in it`}},
		"no key":       {func(in func(string) string) { os.Remove(in(KeyFile)) }, []string{KeyFile, "no such file"}},
		"a public key": {func(in func(string) string) { os.Chmod(in(KeyFile), 0o640) }, []string{KeyFile, "chmod 600"}},
		"another's key": {func(in func(string) string) {
			os.Rename(filepath.Join(theirs, KeyFile), in(KeyFile))
		}, []string{KeyFile, "does not match"}},
		"a folder": {func(in func(string) string) { os.Remove(in(CAFile)); os.Mkdir(in(CAFile), 0o700) }, []string{CAFile, "is no file"}},
		"no authority's": {func(in func(string) string) { os.Remove(in(CAFile)); os.Link(in(CertFile), in(CAFile)) },
			[]string{CAFile, "is no certificate of an authority"}},
		"other parts": {func(in func(string) string) { os.WriteFile(in(CAFile), block("GARBAGE", "x"), 0o600) }, []string{CAFile, "GARBAGE"}},
		"broken": {func(in func(string) string) { os.WriteFile(in(CertFile), block("CERTIFICATE", "x"), 0o600) },
			[]string{CertFile, "malformed"}},
		"too large": {func(in func(string) string) { os.WriteFile(in(CAFile), make([]byte, 2<<20), 0o600) }, []string{CAFile, "larger than"}},
		"another authority": {func(in func(string) string) {
			os.WriteFile(in(CAFile), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}), 0o600)
		}, []string{CertFile, "which is none of the authorities in ca.pem", "dodoor certs"}},
		"a false list": {func(in func(string) string) { os.WriteFile(in(RevokedFile), list(t), 0o600) },
			[]string{RevokedFile, "is signed by none of the authorities"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, folder := issued(t, alice)
			c.spoil(func(file string) string { return filepath.Join(folder, file) })
			_, err := Open(folder, "dodoor")
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v; want %q in it", err, want)
				}
			}
		})
	}
	_, folder := issued(t, alice)
	if _, err := Open(folder, "elsewhere"); err == nil || !strings.Contains(err.Error(), `of the domain "dodoor"`) {
		t.Errorf("another domain: %v", err)
	}
	if _, err := Open(folder, "a/b"); err == nil {
		t.Error("a domain with a slash")
	}
}

// list is a revocation list of nobody's.
func list(t *testing.T) []byte {
	t.Helper()
	stranger, _ := issued(t, alice)
	if _, err := stranger.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	bundle := t.TempDir()
	if err := stranger.Issue(Identity{User, "bob"}, bundle, time.Hour); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(bundle, RevokedFile))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What time does to a certificate is said with the time.
func TestTimes(t *testing.T) {
	ca, folder := issued(t, alice)
	b, err := Open(folder, "dodoor")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := ca.Sign(key.Public(), Identity{Worker, "w1"}, at.Add(-time.Hour), at)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	chain := []*x509.Certificate{leaf}
	_, late := b.Verify(chain, at.Add(time.Minute))
	_, early := b.Verify(chain, at.Add(-2*time.Hour))
	for _, c := range []struct {
		err  error
		want string
	}{
		{late, "the certificate of worker w1 expired 2026-11-21 10:00 UTC"},
		{early, "the certificate of worker w1 is not valid before 2026-11-21 09:00 UTC, and it is 2026-11-21 08:00 UTC here"},
		{b.Accepts(chain, at.Add(time.Minute)), "the certificate of worker w1 expired 2026-11-21 10:00 UTC"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("got %v, want %s", c.err, c.want)
		}
	}
	if err := b.Accepts(chain, at); err != nil {
		t.Error(err)
	}
}

// Files that change are read again; what is not right is told once, and what was there stays.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, folder := issued(t, alice)
		b, err := Open(folder, "dodoor")
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			b.Watch(ctx, slog.New(slog.NewTextHandler(&log, nil)))
			close(done)
		}()
		wait := func() {
			<-time.After(time.Minute)
			synctest.Wait()
		}
		changed, until := b.Changed(), b.NotAfter()
		wait()
		if err := ca.Issue(Identity{User, "mallory"}, folder, time.Hour); err != nil {
			t.Fatal(err)
		}
		wait()
		said := log.String()
		if strings.Count(said, "not used") != 1 || !strings.Contains(said, "user mallory is there, user alice is expected") {
			t.Errorf("another's certificate: %s", said)
		}
		if b.Own() != alice || b.NotAfter() != until || b.Generation() != 0 {
			t.Errorf("now it is %v's until %v", b.Own(), b.NotAfter())
		}
		select {
		case <-changed:
			t.Error("a change is told of")
		default:
		}
		if err := ca.Issue(alice, folder, time.Hour); err != nil {
			t.Fatal(err)
		}
		wait()
		<-changed
		if !b.NotAfter().After(until) || b.Generation() != 1 {
			t.Errorf("the renewed one is not taken: until %v, %s", b.NotAfter(), &log)
		}
		cancel()
		<-done
	})
}
