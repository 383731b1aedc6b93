package authority

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dodoor/internal/identity"
)

// maxFile bounds what is read of a file that somebody hands over, as identity does for bundles.
const maxFile = 1 << 20

// Signed is a certificate of the authority.
type Signed struct {
	Identity identity.Identity
	Cert     *x509.Certificate
	Revoked  time.Time // zero: it is not
}

// Serial is the certificate's number, as files and people write it.
func (s *Signed) Serial() string { return fmt.Sprintf("%x", s.Cert.SerialNumber) }

// List returns what the authority has signed, by identity, the oldest first. An error names the file that is no certificate of its own.
func (a *Authority) List() ([]Signed, error) {
	folder := filepath.Join(a.folder, Issued)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	taken, err := a.taken()
	if err != nil {
		return nil, err
	}
	var all []Signed
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".pem" { // a file that a killed process left unfinished
			continue
		}
		s, err := a.read(filepath.Join(folder, e.Name()), taken)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y Signed) int {
		return cmp.Or(cmp.Compare(x.Identity.Role, y.Identity.Role), cmp.Compare(x.Identity.Name, y.Identity.Name),
			x.Cert.NotBefore.Compare(y.Cert.NotBefore), cmp.Compare(x.Serial(), y.Serial()))
	})
	return all, nil
}

// In returns the certificate in a bundle's folder. It fails where that is not of this authority.
func (a *Authority) In(bundle string) (Signed, error) {
	taken, err := a.taken()
	if err != nil {
		return Signed{}, err
	}
	return a.read(filepath.Join(bundle, identity.CertFile), taken)
}

// Of returns a certificate with what the authority knows of it. It fails where the authority did not sign it.
func (a *Authority) Of(cert *x509.Certificate) (Signed, error) {
	taken, err := a.taken()
	if err != nil {
		return Signed{}, err
	}
	return a.know(cert, taken)
}

func (a *Authority) read(path string, taken revocations) (Signed, error) {
	text, err := Read(path)
	if err != nil {
		return Signed{}, err
	}
	cert, err := first(text)
	if err != nil {
		return Signed{}, fmt.Errorf("%s: %w", path, err)
	}
	s, err := a.know(cert, taken)
	if err != nil {
		return Signed{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (a *Authority) know(cert *x509.Certificate, taken revocations) (Signed, error) {
	if err := cert.CheckSignatureFrom(a.cert); err != nil {
		return Signed{}, fmt.Errorf("certificate %x is not of the authority in %s: %w", cert.SerialNumber, a.folder, err)
	}
	id, err := identity.Of(cert, a.domain)
	if err != nil {
		return Signed{}, err
	}
	return Signed{Identity: id, Cert: cert, Revoked: taken[cert.SerialNumber.String()]}, nil
}

// first is the first certificate of a PEM file.
func first(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no certificate in it")
	}
	return x509.ParseCertificate(block.Bytes)
}

// Read returns what is in a file of certificates. It fails where that is no regular file, or larger than any of them.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return text, err
}

// optional is Read for a file that may be missing.
func optional(path string) ([]byte, error) {
	text, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
