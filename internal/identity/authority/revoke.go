package authority

import (
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
	"syscall"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/wholefile"
)

// revocations are when certificates were revoked, by serial number.
type revocations map[string]time.Time

// taken reads what the authority has revoked.
func (a *Authority) taken() (revocations, error) {
	list, _, err := a.list(a.folder)
	if err != nil || list == nil {
		return nil, err
	}
	taken := revocations{}
	for _, e := range list.RevokedCertificateEntries {
		taken[e.SerialNumber.String()] = e.RevocationTime
	}
	return taken, nil
}

// list reads the authority's own revocation list in a folder, nil where there is none, and those of others beside it as they are.
func (a *Authority) list(folder string) (own *x509.RevocationList, others []byte, err error) {
	path := filepath.Join(folder, identity.RevokedFile)
	text, err := optional(path)
	if err != nil {
		return nil, nil, err
	}
	if text == nil {
		return nil, nil, nil
	}
	err = identity.Blocks(text, identity.ListBlock, func(der []byte) error {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return err
		}
		if list.CheckSignatureFrom(a.cert) != nil {
			others = append(others, pem.EncodeToMemory(&pem.Block{Type: identity.ListBlock, Bytes: der})...)
		} else if own == nil || identity.NumberOf(own).Cmp(identity.NumberOf(list)) < 0 {
			own = list
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: put a copy of the newest list there, which every bundle has; without it who was revoked is "+
			"let in again", path, err)
	}
	return own, others, nil
}

// Revoke takes back every certificate of a name that has not expired, or the one with a serial number, and writes the revocation list.
// It returns what it took back. It fails where there is nothing of the name or number, where all of it has expired or was revoked before
// (ErrRevoked), and where the name is that of several identities, which the error lists.
func (a *Authority) Revoke(what string) ([]Signed, error) {
	unlock, err := a.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := a.List()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	found, err := choose(all, what, now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.folder, err)
	}
	before, others, err := a.list(a.folder)
	if err != nil {
		return nil, err
	}
	next := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-Backdate), NextUpdate: a.cert.NotAfter}
	if before != nil {
		next.Number.Add(identity.NumberOf(before), next.Number)
		next.RevokedCertificateEntries = unexpired(before.RevokedCertificateEntries, all, now)
	}
	for i := range found {
		found[i].Revoked = now
		next.RevokedCertificateEntries = append(next.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: found[i].Cert.SerialNumber, RevocationTime: now})
	}
	der, err := x509.CreateRevocationList(rand.Reader, next, a.cert, a.key)
	if err != nil {
		return nil, err
	}
	return found, writeLists(a.folder, der, others)
}

// unexpired leaves out what is refused anyway, since its certificate has expired: the list would only grow. Certificates that are not
// among those that were signed stay, and so do those that may still be good for a clock that is behind.
func unexpired(entries []x509.RevocationListEntry, all []Signed, now time.Time) []x509.RevocationListEntry {
	ends := make(map[string]time.Time)
	for _, s := range all {
		ends[s.Cert.SerialNumber.String()] = s.Cert.NotAfter
	}
	return slices.DeleteFunc(entries, func(e x509.RevocationListEntry) bool {
		end, known := ends[e.SerialNumber.String()]
		return known && now.Add(-Backdate).After(end)
	})
}

// choose picks what a name or a serial number means.
func choose(all []Signed, what string, now time.Time) ([]Signed, error) {
	var found, named []Signed
	var last *Signed // that is of no use any more
	for i := range all {
		s := &all[i]
		if s.Identity.Name != what && !strings.EqualFold(s.Serial(), what) {
			continue
		}
		if !s.Revoked.IsZero() || now.After(s.Cert.NotAfter) {
			last = s
			continue
		}
		if len(found) > 0 && found[0].Identity != s.Identity {
			named = append(named, *s)
		}
		found = append(found, *s)
	}
	switch {
	case len(named) > 0:
		names := []string{found[0].Identity.String() + " " + found[0].Serial()}
		for _, s := range named {
			names = append(names, s.Identity.String()+" "+s.Serial())
		}
		return nil, fmt.Errorf("%q is the name of several: say a serial number: %s", what, strings.Join(names, ", "))
	case len(found) > 0:
		return found, nil
	case last == nil:
		return nil, fmt.Errorf("no certificate has the name or serial number %.80q: `dodoor certs show` lists what was signed", what)
	case !last.Revoked.IsZero():
		return nil, fmt.Errorf("%s was %w, on %s", last.Identity, ErrRevoked, identity.Written(last.Revoked))
	}
	return nil, fmt.Errorf("the certificate of %s expired %s: there is nothing to revoke", last.Identity, identity.Written(last.Cert.NotAfter))
}

// ErrRevoked is the error of Revoke where all of it was revoked before.
var ErrRevoked = errors.New("revoked already")

// ErrNothingRevoked is the error of Spread where the authority has no revocation list yet.
var ErrNothingRevoked = errors.New("nothing was revoked")

// Spread writes the authority's revocation list into a bundle; lists of other authorities there stay. It fails where the bundle does
// not believe this authority, which would have it refused.
func (a *Authority) Spread(bundle string) error {
	own, _, err := a.list(a.folder)
	if err != nil {
		return err
	}
	if own == nil {
		return fmt.Errorf("%s: %w", a.folder, ErrNothingRevoked)
	}
	believed, err := Read(filepath.Join(bundle, identity.CAFile))
	if err != nil {
		return err
	}
	for block, rest := pem.Decode(believed); ; block, rest = pem.Decode(rest) {
		if block == nil {
			return fmt.Errorf("%s does not have the authority in %s: its revocations are nothing to it",
				filepath.Join(bundle, identity.CAFile), a.folder)
		}
		if string(block.Bytes) == string(a.cert.Raw) {
			break
		}
	}
	_, others, err := a.list(bundle)
	if err != nil {
		return err
	}
	return writeLists(bundle, own.Raw, others)
}

func writeLists(folder string, own, others []byte) error {
	text := append(pem.EncodeToMemory(&pem.Block{Type: identity.ListBlock, Bytes: own}), others...)
	return wholefile.Write(filepath.Join(folder, identity.RevokedFile), text)
}

// lock keeps other processes from revoking at the same time: one of the lists would be lost.
func (a *Authority) lock() (unlock func(), err error) {
	folder, err := os.Open(a.folder)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		folder.Close()
		return nil, fmt.Errorf("lock %s: %w", a.folder, err)
	}
	return func() { folder.Close() }, nil
}
