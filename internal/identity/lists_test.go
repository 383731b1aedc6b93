package identity_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// withList is an authority and alice's bundle with its list, of one certificate that was revoked.
func withList(t *testing.T) (ca *authority.Authority, folder string, list []byte) {
	t.Helper()
	ca, folder = issued(t, alice)
	for _, name := range []string{"eve", "mallory"} {
		if err := ca.Issue(Identity{User, name}, filepath.Join(t.TempDir(), name), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	return ca, folder, next(t, ca, folder, "eve")
}

// next revokes somebody, and returns the list as it then is in a bundle.
func next(t *testing.T, ca *authority.Authority, folder, whom string) []byte {
	t.Helper()
	if _, err := ca.Revoke(whom); err != nil {
		t.Fatal(err)
	}
	if err := ca.Spread(folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, RevokedFile))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A file that is damaged is no shorter one: whoever it named would be let in again.
func TestDamagedLists(t *testing.T) {
	_, folder, list := withList(t)
	der, _ := pem.Decode(list)
	cut := list[:len(list)/2]
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, []byte("\n")) }
	for what, c := range map[string]struct {
		text []byte
		want string
	}{
		"empty":               {nil, "no part"},
		"blank":               {[]byte("\n \n"), "no part"},
		"garbage":             {[]byte("garbage"), "no part"},
		"DER":                 {der.Bytes, "no part"},
		"cut off":             {cut, "no part"},
		"a second cut off":    {join(list, cut), "what follows part 1"},
		"garbage behind":      {join(list, []byte("garbage")), "what follows part 1"},
		"cut off, then whole": {join(cut, list), "damaged"},
	} {
		if err := os.WriteFile(filepath.Join(folder, RevokedFile), c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder, "dodoor"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, text := range map[string][]byte{"whole": list, "twice": join(list, list), "a comment": join([]byte("of ours"), list)} {
		if err := os.WriteFile(filepath.Join(folder, RevokedFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder, "dodoor"); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	ca := filepath.Join(folder, CAFile)
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ca, join(text, text[:len(text)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, "dodoor"); err == nil || !strings.Contains(err.Error(), CAFile) {
		t.Errorf("an authority that is cut off: %v", err)
	}
}

// said is a log that is read while others write it.
type said struct {
	lock sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.text.Write(p)
}

// take returns what was said since it was called before.
func (s *said) take() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

// While a process runs, no list goes back.
func TestListsGoForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, folder, first := withList(t)
		path := filepath.Join(folder, RevokedFile)
		newest := next(t, ca, folder, "mallory")
		b, err := Open(folder, "dodoor")
		if err != nil {
			t.Fatal(err)
		}
		var log said
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			b.Watch(ctx, slog.New(slog.NewTextHandler(&log, nil)))
			close(done)
		}()
		after := func(what string, change error, want string, generation uint64) {
			t.Helper()
			log.take()
			if change != nil {
				t.Fatal(change)
			}
			<-time.After(time.Minute)
			synctest.Wait()
			if text := log.take(); !strings.Contains(text, want) || b.Generation() != generation {
				t.Errorf("%s: generation %d, %s", what, b.Generation(), text)
			}
		}
		after("an older one", os.WriteFile(path, first, 0o600), "has number 1, and the one from before 2", 0)
		after("none", os.Remove(path), "is gone", 0)
		after("the newest", os.WriteFile(path, newest, 0o600), "loaded again", 1)
		cancel()
		<-done
	})
}

// A connection ends when an authority between its certificate and one that is believed is revoked or expires, too; a list that is out of
// date is told of.
func TestAcceptsTheWholeChain(t *testing.T) {
	ca, folder, _ := withList(t)
	b, err := Open(folder, "dodoor")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	own := &x509.Certificate{SerialNumber: ca.Certificate().SerialNumber, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	between := &x509.Certificate{SerialNumber: own.SerialNumber, NotBefore: own.NotBefore, NotAfter: now.Add(-time.Minute)}
	if err := b.Accepts([]*x509.Certificate{own}, now); err != nil {
		t.Error(err)
	}
	err = b.Accepts([]*x509.Certificate{own, between}, now)
	if err == nil || !strings.Contains(err.Error(), "the authority ") || !strings.Contains(err.Error(), " expired ") {
		t.Errorf("an authority that has expired: %v", err)
	}
	if err := b.Accepts(nil, now); err == nil {
		t.Error("no certificate at all")
	}
	if due := b.ListsDue(); !due.Equal(ca.Certificate().NotAfter) {
		t.Errorf("a newer list is due %v", due)
	}
}
