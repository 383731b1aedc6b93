package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// shown is the table of `dodoor certs show`.
type shown struct {
	table table.Writer
	wrong []error              // of what nobody accepts
	known *authority.Authority // to ask what was revoked; nil: there is none here
	now   time.Time
}

func (o *certsCommand) show() int {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"where", "identity", "until", "serial number", "signed by", "state"})
	s := &shown{table: t, now: time.Now()}
	var err error
	if s.known, err = authority.Open(o.ca); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return o.fail(exitFailed, err)
	}
	for _, word := range o.words {
		if err := s.look(word); err != nil {
			s.wrong = append(s.wrong, err)
		}
	}
	if t.Length() > 0 {
		fmt.Fprintln(o.stdout, t.Render())
	}
	code := exitDone
	for _, err := range s.wrong {
		code = o.fail(exitFailed, err)
	}
	return code
}

// look tells of a file, an authority, a bundle, or the bundles in a folder.
func (s *shown) look(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.file(path)
	}
	if _, err := os.Stat(filepath.Join(path, authority.KeyFile)); err == nil {
		return s.authority(path)
	}
	folders, err := bundlesIn(path)
	for _, folder := range folders {
		if err := s.bundle(folder); err != nil {
			s.wrong = append(s.wrong, err)
		}
	}
	return err
}

// file tells of the certificates in a file.
func (s *shown) file(path string) error {
	certs, err := certsIn(path)
	for _, c := range certs {
		state := s.row(path, c)
		if state != good {
			s.wrong = append(s.wrong, fmt.Errorf("%s: the certificate with the serial number %x: %s", path, c.SerialNumber, state))
		}
	}
	return err
}

// bundle tells of a bundle's own certificate, and whether the bundle is one.
func (s *shown) bundle(folder string) error {
	path := filepath.Join(folder, identity.CertFile)
	certs, err := certsIn(path)
	if err != nil {
		return err
	}
	own := certs[0]
	_, domain := who(own)
	state := s.stateOf(own)
	_, err = identity.Open(folder, domain)
	switch _, missing := os.Lstat(filepath.Join(folder, identity.KeyFile)); {
	case state != good:
		err = fmt.Errorf("%s: %s", path, state)
	case errors.Is(missing, os.ErrNotExist):
		state, err = "its key is elsewhere", nil
	case err != nil:
		state = "not usable"
	}
	s.append(folder, own, state)
	return err
}

// authority tells of an authority, and of what it signed that has not expired.
func (s *shown) authority(folder string) error {
	a, err := authority.Open(folder)
	if err != nil {
		return err
	}
	signed, err := a.List()
	if err != nil {
		return err
	}
	s.row(folder, a.Certificate())
	for i := range signed {
		if c := &signed[i]; s.now.Before(c.Cert.NotAfter) {
			state := good
			if !c.Revoked.IsZero() {
				state = revokedState(c.Revoked)
			}
			s.append("", c.Cert, state)
		}
	}
	return nil
}

// row adds a certificate and returns its state.
func (s *shown) row(where string, c *x509.Certificate) string {
	state := s.stateOf(c)
	s.append(where, c, state)
	return state
}

func (s *shown) append(where string, c *x509.Certificate, state string) {
	name, _ := who(c)
	s.table.AppendRow(table.Row{where, name, identity.Written(c.NotAfter), fmt.Sprintf("%x", c.SerialNumber), c.Issuer.CommonName, state})
}

const good = "good"

func revokedState(at time.Time) string { return "revoked on " + identity.Written(at) }

// stateOf says whether a certificate is good now, as far as its dates and the authority here tell.
func (s *shown) stateOf(c *x509.Certificate) string {
	switch {
	case s.now.After(c.NotAfter):
		return "expired " + identity.Written(c.NotAfter)
	case s.now.Before(c.NotBefore):
		return "not valid before " + identity.Written(c.NotBefore)
	case s.known == nil:
		return good
	}
	if signed, err := s.known.Of(c); err == nil && !signed.Revoked.IsZero() {
		return revokedState(signed.Revoked)
	}
	return good
}

// who is the identity in a certificate, and its domain; for an authority, what it calls itself.
func who(c *x509.Certificate) (name, domain string) {
	if c.IsCA {
		return c.Subject.CommonName, ""
	}
	if len(c.URIs) == 1 {
		domain = c.URIs[0].Host
	}
	id, err := identity.Of(c, domain)
	if err != nil {
		return "none", domain
	}
	return id.String(), domain
}

// certsIn reads the certificates of a file: at least one.
func certsIn(path string) ([]*x509.Certificate, error) {
	text, err := authority.Read(path)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return all, fmt.Errorf("%s: %q in it is no certificate", path, block.Type)
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return all, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no certificate in it", path)
	}
	return all, nil
}
