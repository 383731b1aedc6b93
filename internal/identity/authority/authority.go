// Package authority is the certificate authority of a cluster, in a folder: it signs for identities.
package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/wholefile"
)

// The files of an authority, beside identity.CAFile and identity.RevokedFile.
const (
	KeyFile = "ca-key.pem" // whoever has it can be anybody
	Issued  = "issued"     // a folder of what was signed: SERIAL.pem
)

// How long certificates are good for unless somebody says otherwise.
const (
	OwnValidity     = 10 * 365 * 24 * time.Hour // the authority's
	ServiceValidity = 30 * 24 * time.Hour
	PersonValidity  = 30 * 24 * time.Hour
)

// Backdate is how long before its making a certificate begins, for clocks that are behind.
const Backdate = 10 * time.Minute

// Authority signs certificates. It is for one process at a time.
type Authority struct {
	folder, domain string
	key            *ecdsa.PrivateKey
	cert           *x509.Certificate
}

// Create makes an authority for a domain, and its folder. There must be none yet.
func Create(folder, domain string, validity time.Duration) (*Authority, error) {
	if err := identity.CheckDomain(domain); err != nil {
		return nil, err
	}
	if validity <= 0 {
		return nil, fmt.Errorf("an authority cannot be valid for %s", validity)
	}
	for _, name := range []string{identity.CAFile, KeyFile} {
		if _, err := os.Lstat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: there is an authority already: choose another folder", filepath.Join(folder, name))
		}
	}
	if err := os.MkdirAll(filepath.Join(folder, Issued), 0o700); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	cert := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "authority of " + domain, Organization: []string{domain}},
		NotBefore: now.Add(-Backdate), NotAfter: now.Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if err := writeKey(filepath.Join(folder, KeyFile), key); err != nil {
		return nil, err
	}
	if err := wholefile.Write(filepath.Join(folder, identity.CAFile), certificate(der)); err != nil {
		return nil, err
	}
	return Open(folder)
}

// Open reads the authority in a folder.
func Open(folder string) (*Authority, error) {
	own := filepath.Join(folder, identity.CAFile)
	text, err := os.ReadFile(own)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: make an authority with `dodoor certs create`", err)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: no certificate in it", own)
	}
	a := &Authority{folder: folder}
	if a.cert, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", own, err)
	}
	if len(a.cert.Subject.Organization) != 1 {
		return nil, fmt.Errorf("%s: %q names no domain: it was not made by `dodoor certs create`", own, a.cert.Subject)
	}
	a.domain = a.cert.Subject.Organization[0]
	if a.key, err = readKey(filepath.Join(folder, KeyFile)); err != nil {
		return nil, err
	}
	if !a.key.PublicKey.Equal(a.cert.PublicKey) {
		return nil, fmt.Errorf("%s is not the key of %s", filepath.Join(folder, KeyFile), own)
	}
	return a, nil
}

// Domain is the domain of all identities that it signs for.
func (a *Authority) Domain() string { return a.domain }

// Certificate is the authority's own.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Issue makes a key and a certificate for an identity, good from now on for so long, and writes the bundle into a folder that it makes.
// What is there of a bundle is replaced.
func (a *Authority) Issue(id identity.Identity, folder string, validity time.Duration) error {
	if err := checkValidity(id, validity); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	cert, err := a.Sign(key.Public(), id, now.Add(-Backdate), now.Add(validity))
	if err != nil {
		return err
	}
	return a.write(folder, cert, key)
}

// Sign returns a certificate, as PEM, that a key is an identity's in a span of time. None outlives the authority. It is kept in the
// authority's folder.
func (a *Authority) Sign(key crypto.PublicKey, id identity.Identity, from, until time.Time) ([]byte, error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	uri, err := parseURI(id.URI(a.domain))
	if err != nil {
		return nil, err
	}
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	if !from.Before(until) {
		return nil, fmt.Errorf("a certificate of %s from %s until %s would never be valid", id, from.UTC(), until.UTC())
	}
	cert := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: id.String()}, NotBefore: from, NotAfter: until, URIs: uri,
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, key, a.key)
	if err != nil {
		return nil, err
	}
	text := certificate(der)
	return text, wholefile.Write(filepath.Join(a.folder, Issued, fmt.Sprintf("%x.pem", cert.SerialNumber)), text)
}

// serial is a number that no other certificate has: 127 random bits.
func serial() *big.Int {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[0] = b[0]&0x7f | 0x40
	return new(big.Int).SetBytes(b[:])
}
