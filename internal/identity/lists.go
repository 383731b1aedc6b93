package identity

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// ListBlock is what a part of a file of revocation lists is called.
const ListBlock = "X509 CRL"

// keyOf names an authority by its key: two of them may have one name, and one that is renewed keeps its key.
func keyOf(ca *x509.Certificate) string { return string(ca.RawSubjectPublicKeyInfo) }

// NumberOf is the number of a revocation list, 0 for one without.
func NumberOf(list *x509.RevocationList) *big.Int {
	return cmp.Or(list.Number, new(big.Int))
}

// revoke reads revocation lists. Each must be of an authority that is believed.
func (m *material) revoke(text []byte, authorities []*x509.Certificate) error {
	return Blocks(text, ListBlock, func(der []byte) error {
		list, err := x509.ParseRevocationList(der)
		if err != nil {
			return err
		}
		ca := signer(list, authorities)
		if ca == nil {
			return fmt.Errorf("the revocation list of %q is signed by none of the authorities in %s", list.Issuer, CAFile)
		}
		number := NumberOf(list)
		if before := m.lists[keyOf(ca)]; before == nil || before.Cmp(number) < 0 {
			m.lists[keyOf(ca)] = number
		}
		if due := list.NextUpdate; !due.IsZero() && (m.due.IsZero() || due.Before(m.due)) {
			m.due = due
		}
		for _, e := range list.RevokedCertificateEntries {
			m.revoked[serial{string(list.RawIssuer), e.SerialNumber.String()}] = e.RevocationTime
		}
		return nil
	})
}

func signer(list *x509.RevocationList, authorities []*x509.Certificate) *x509.Certificate {
	for _, ca := range authorities {
		if list.CheckSignatureFrom(ca) == nil {
			return ca
		}
	}
	return nil
}

// follows fails where an authority that is still believed had a list before that is gone now, or has an older one: somebody who was
// revoked would be let in again.
func (m *material) follows(before *material) error {
	for ca, had := range before.lists {
		has, believed := m.lists[ca]
		switch {
		case had == nil || !believed:
		case has == nil:
			return errors.New("a revocation list that was there is gone: copy the authority's " + RevokedFile + " there again")
		case has.Cmp(had) < 0:
			return fmt.Errorf("the revocation list has number %v, and the one from before %v: copy the authority's newest %s there",
				has, had, RevokedFile)
		}
	}
	return nil
}

// ListsDue is when the first of the bundle's revocation lists should have been replaced by a newer one; zero: they do not say.
func (b *Bundle) ListsDue() time.Time { return b.now.Load().due }
