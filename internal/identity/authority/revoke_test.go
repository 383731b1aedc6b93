package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dodoor/internal/identity"
)

func newAuthority(t testing.TB) *Authority {
	t.Helper()
	a, err := Create(filepath.Join(t.TempDir(), "ca"), "dodoor", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issued is a bundle of a user.
func (a *Authority) issued(t testing.TB, name string) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), name)
	if err := a.Issue(identity.Identity{Role: identity.User, Name: name}, folder, time.Hour); err != nil {
		t.Fatal(err)
	}
	return folder
}

// refused tells whether a bundle refuses another's certificate because it was revoked.
func refused(t testing.TB, by, whom string) bool {
	t.Helper()
	b, err := identity.Read(by, "dodoor")
	if err != nil {
		t.Fatal(err)
	}
	text, err := Read(filepath.Join(whom, identity.CertFile))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := first(text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Verify([]*x509.Certificate{cert}, time.Now())
	if err != nil && !strings.Contains(err.Error(), "was revoked on ") {
		t.Fatal(err)
	}
	return err != nil
}

// A bundle that believes two authorities keeps the list of one when it gets the other's.
func TestListsOfTwoAuthorities(t *testing.T) {
	old, next := newAuthority(t), newAuthority(t)
	eve, mallory, mine := old.issued(t, "eve"), next.issued(t, "mallory"), next.issued(t, "me")
	if err := next.Spread(mine); !errors.Is(err, ErrNothingRevoked) {
		t.Errorf("nothing was revoked: %v", err)
	}
	for _, step := range []struct {
		a    *Authority
		name string
	}{{old, "eve"}, {next, "mallory"}} {
		if _, err := step.a.Revoke(step.name); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Spread(mine); err == nil || !strings.Contains(err.Error(), "does not have the authority in "+old.folder) {
		t.Errorf("a list that a bundle cannot check: %v", err)
	}
	both := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: next.cert.Raw}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: old.cert.Raw})...)
	if err := os.WriteFile(filepath.Join(mine, identity.CAFile), both, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []*Authority{old, next, old} {
		if err := a.Spread(mine); err != nil {
			t.Fatal(err)
		}
	}
	if !refused(t, mine, eve) || !refused(t, mine, mallory) || refused(t, mine, mine) {
		t.Errorf("eve %v, mallory %v, me %v", refused(t, mine, eve), refused(t, mine, mallory), refused(t, mine, mine))
	}
}

// Who revokes at the same time loses nothing of what the other revoked.
func TestRevocationsAtOnce(t *testing.T) {
	a := newAuthority(t)
	var bundles []string
	for i := range 8 {
		bundles = append(bundles, a.issued(t, fmt.Sprint("u", i)))
	}
	var all sync.WaitGroup
	for i := range bundles {
		all.Go(func() {
			if _, err := a.Revoke(fmt.Sprint("u", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	mine := a.issued(t, "me")
	for _, b := range bundles {
		if !refused(t, mine, b) {
			t.Errorf("%s is not revoked", b)
		}
	}
	if list, _, err := a.list(a.folder); err != nil || list.Number.Int64() != int64(len(bundles)) {
		t.Errorf("list number %v, %v", list.Number, err)
	}
}

// A file that the authority did not sign is named, and believed by nobody.
func TestStrangersAmongTheSigned(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	stranger := other.issued(t, "eve")
	if _, err := a.In(stranger); err == nil || !strings.Contains(err.Error(), "is not of the authority in "+a.folder) {
		t.Errorf("a bundle of another: %v", err)
	}
	text, err := Read(filepath.Join(stranger, identity.CertFile))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(a.folder, Issued, "1.pem")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.List(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("List: %v", err)
	}
}

// A list that is damaged stops the authority: the next one would lack what it had.
func TestDamagedListOfTheAuthority(t *testing.T) {
	a := newAuthority(t)
	a.issued(t, "me")
	for _, broken := range []string{"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", "", "-----BEGIN X509 CRL-----\nAAAA\n"} {
		if err := os.WriteFile(filepath.Join(a.folder, identity.RevokedFile), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := a.Revoke("me")
		if err == nil || !strings.Contains(err.Error(), identity.RevokedFile) || !strings.Contains(err.Error(), "copy of the newest list") {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

// The list forgets certificates that have expired, and nothing else.
func TestUnexpired(t *testing.T) {
	now := time.Now()
	signed := func(serial int64, left time.Duration) Signed {
		return Signed{Cert: &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: now.Add(left)}}
	}
	var entries []x509.RevocationListEntry
	for serial := range int64(4) {
		entries = append(entries, x509.RevocationListEntry{SerialNumber: big.NewInt(serial)})
	}
	left := unexpired(entries, []Signed{signed(0, time.Hour), signed(1, -time.Hour), signed(2, -time.Minute)}, now)
	var serials []int64
	for _, e := range left {
		serials = append(serials, e.SerialNumber.Int64())
	}
	if !slices.Equal(serials, []int64{0, 2, 3}) {
		t.Errorf("%v are left", serials)
	}
}

// Whatever a request is, either it is refused and nothing is made, or what comes is a certificate of the identity that was asked for.
func FuzzRequest(f *testing.F) {
	a := newAuthority(f)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{DNSNames: []string{"x"}}, key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	f.Add([]byte("-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n"))
	bob := identity.Identity{Role: identity.User, Name: "bob"}
	f.Fuzz(func(t *testing.T, request []byte) {
		folder := filepath.Join(t.TempDir(), "bob")
		if err := a.IssueFor(request, bob, folder, time.Hour); err != nil {
			if _, err := os.Stat(folder); err == nil {
				t.Error("a refused request left a bundle")
			}
			return
		}
		s, err := a.In(folder)
		if err != nil || s.Identity != bob || s.Cert.IsCA || len(s.Cert.DNSNames) > 0 {
			t.Errorf("%v, %v", s, err)
		}
	})
}
