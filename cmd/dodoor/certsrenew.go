package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// certsReport is what became of several bundles.
type certsReport struct {
	table  table.Writer
	errors []error
}

func newCertsReport() *certsReport {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"bundle", "identity", "until", ""})
	return &certsReport{table: t}
}

func (r *certsReport) add(a *authority.Authority, folder string, s *authority.Signed, what string, err error) {
	if err != nil {
		r.errors = append(r.errors, err)
		return
	}
	r.table.AppendRow(table.Row{folder, s.Identity, untilWhen(a, s), what})
}

// print ends a command: with what was done, what was not and why.
func (r *certsReport) print(o *certsCommand) int {
	if r.table.Length() > 0 {
		fmt.Fprintln(o.stdout, r.table.Render())
	}
	code := exitDone
	for _, err := range r.errors {
		code = o.fail(exitFailed, err)
	}
	return code
}

func (o *certsCommand) renew() int {
	a, err := authority.Open(o.ca)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	report := newCertsReport()
	for _, word := range o.words {
		folders, err := bundlesIn(word)
		if err != nil {
			report.add(a, word, nil, "", err)
		}
		for _, folder := range folders {
			s, what, err := o.renewed(a, folder, identity.Identity{})
			report.add(a, folder, &s, what, err)
		}
	}
	return report.print(o)
}

// renewed gives a bundle that ends soon a new key and certificate, and brings the list of what was revoked up to date in any other. It
// says which. The bundle must be of an identity, unless that is the zero one.
func (o *certsCommand) renewed(a *authority.Authority, folder string, of identity.Identity) (authority.Signed, string, error) {
	s, err := a.In(folder)
	if err != nil {
		return s, "", err
	}
	if of.Role != identity.None && s.Identity != of {
		return s, "", fmt.Errorf("%s has the bundle of %s, not of %s: take another -out", folder, s.Identity, of)
	}
	if !s.Revoked.IsZero() {
		return s, "", fmt.Errorf("%s: %s was revoked on %s: remove the folder, and issue another bundle if it is to come back", folder,
			s.Identity, identity.Written(s.Revoked))
	}
	if time.Until(s.Cert.NotAfter) > time.Duration(o.within) {
		if err := a.Spread(folder); err != nil && !errors.Is(err, authority.ErrNothingRevoked) {
			return s, "", err
		}
		return s, "kept", nil
	}
	if _, err := os.Lstat(filepath.Join(folder, identity.KeyFile)); err != nil {
		return s, "", fmt.Errorf("%w: its key is elsewhere: have a new request made there, and sign it with `dodoor certs issue -csr`", err)
	}
	if err := a.Issue(s.Identity, folder, o.lasting(s.Identity.Role)); err != nil {
		return s, "", err
	}
	s, err = a.In(folder)
	return s, "renewed", err
}

// bundlesIn lists the bundles that a folder means: itself, or those in it.
func bundlesIn(folder string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(folder, identity.CertFile)); err == nil {
		return []string{folder}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(folder, e.Name(), identity.CertFile)); err == nil {
			all = append(all, filepath.Join(folder, e.Name()))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no %s, nor has a folder in it: it is no bundle", folder, identity.CertFile)
	}
	return all, nil
}

func (o *certsCommand) revoke() int {
	if o.to != (len(o.words) > 1) {
		return o.fail(exitUsage, errors.New("-to and folders of bundles belong together, as in `dodoor certs revoke NAME -to FOLDER`"))
	}
	a, err := authority.Open(o.ca)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	revoked, err := a.Revoke(o.words[0])
	if err != nil && !(o.to && errors.Is(err, authority.ErrRevoked)) { // some bundles may not have been told
		return o.fail(exitFailed, err)
	}
	for i := range revoked {
		fmt.Fprintf(o.stdout, "revoked: %s, %s, which was good until %s\n", revoked[i].Identity, revoked[i].Serial(),
			identity.Written(revoked[i].Cert.NotAfter))
	}
	list := filepath.Join(o.ca, identity.RevokedFile)
	if !o.to {
		fmt.Fprintf(o.stdout, "who has the list refuses it: copy %s into every bundle, on every host; services read it within seconds\n", list)
		return exitDone
	}
	code := exitDone
	for _, word := range o.words[1:] {
		folders, err := bundlesIn(word)
		if err != nil {
			code = o.fail(exitFailed, err)
		}
		for _, folder := range folders {
			if err := a.Spread(folder); err != nil {
				code = o.fail(exitFailed, err)
				continue
			}
			fmt.Fprintf(o.stdout, "told: %s\n", folder)
		}
	}
	return code
}
