package authority

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"dodoor/internal/identity"
)

// IssueFor signs a request (PKCS #10, as PEM) for an identity, whatever name the request has, and writes a bundle without a key: that
// stays where the request was made. It fails for what is no request, or of a key that TLS 1.3 does not take.
func (a *Authority) IssueFor(request []byte, id identity.Identity, folder string, validity time.Duration) error {
	if err := checkValidity(id, validity); err != nil {
		return err
	}
	block, _ := pem.Decode(request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" && block.Type != "NEW CERTIFICATE REQUEST" {
		return errors.New("no certificate request in it")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	if err := asked.CheckSignature(); err != nil {
		return fmt.Errorf("not signed by its own key: %w", err)
	}
	if err := checkKey(asked.PublicKey); err != nil {
		return err
	}
	now := time.Now()
	cert, err := a.Sign(asked.PublicKey, id, now.Add(-Backdate), now.Add(validity))
	if err != nil {
		return err
	}
	return a.write(folder, cert, nil)
}

// leastRSA is the shortest RSA key that is signed for, in bits.
const leastRSA = 2048

func checkKey(key any) error {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() && k.Curve != elliptic.P384() {
			return fmt.Errorf("its key is on %s: take P-256 or P-384", k.Curve.Params().Name)
		}
		return nil
	case *rsa.PublicKey:
		if k.N.BitLen() < leastRSA {
			return fmt.Errorf("its RSA key has %d bits: at least %d are needed", k.N.BitLen(), leastRSA)
		}
		return nil
	}
	return fmt.Errorf("its key is a %T: take ECDSA on P-256", key)
}

func checkValidity(id identity.Identity, validity time.Duration) error {
	if validity <= 0 {
		return fmt.Errorf("the certificate of %s cannot be valid for %s", id, validity)
	}
	return nil
}
