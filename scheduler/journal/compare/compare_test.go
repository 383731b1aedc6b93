// Package compare measures what may hold a scheduler's journal: `go test -bench . -benchtime 2000x` here. One operation is a group of
// 64 puts of 200 B that is durable when it returns, with as many deletes of older keys; Recover reads 200,000 live keys.
package compare

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tidwall/wal"
	"go.etcd.io/bbolt"
)

const (
	group = 64
	value = 200
	live  = 200_000
)

// store is what the journal needs of a library.
type store interface {
	write(puts, deletes []uint64) error
	each(f func()) error
	close() error
}

var libraries = []struct {
	name string
	open func(dir string) (store, error)
}{{"pebble", openPebble}, {"bbolt", openBolt}, {"log", openLog}}

func BenchmarkGroups(b *testing.B) {
	for _, l := range libraries {
		b.Run(l.name, func(b *testing.B) {
			s, err := l.open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			before, next := spent(), uint64(0)
			for b.Loop() {
				if err := s.write(keys(next), keys(next-10*group)); err != nil {
					b.Fatal(err)
				}
				next += group
			}
			b.ReportMetric(float64(spent()-before)/1e3/float64(next), "cpu-µs/task")
			if err := s.close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkRecover(b *testing.B) {
	for _, l := range libraries {
		b.Run(l.name, func(b *testing.B) {
			dir := b.TempDir()
			s, err := l.open(dir)
			if err != nil {
				b.Fatal(err)
			}
			for next := uint64(0); next < live; next += 50 * group {
				var puts []uint64
				for k := next; k < min(next+50*group, live); k++ {
					puts = append(puts, k)
				}
				if err := s.write(puts, nil); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := s.close(); err != nil {
					b.Fatal(err)
				}
				n := 0
				if s, err = l.open(dir); err != nil {
					b.Fatal(err)
				}
				if err := s.each(func() { n++ }); err != nil || n != live {
					b.Fatal(n, err)
				}
			}
			s.close()
		})
	}
}

func keys(from uint64) []uint64 {
	if int64(from) < 0 {
		return nil
	}
	list := make([]uint64, group)
	for i := range list {
		list[i] = from + uint64(i)
	}
	return list
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func key(k uint64) []byte { return []byte(fmt.Sprintf("t/%016x", k*0x9e3779b97f4a7c15)) }

func content(k uint64) []byte {
	v := make([]byte, value)
	for i := 0; i < value; i += 8 {
		k = k*6364136223846793005 + 1442695040888963407
		binary.LittleEndian.PutUint64(v[i:], k)
	}
	return v
}

type pebbleStore struct{ db *pebble.DB }

type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }

func openPebble(dir string) (store, error) {
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest})
	return pebbleStore{db}, err
}

func (s pebbleStore) write(puts, deletes []uint64) error {
	b := s.db.NewBatch()
	for _, k := range puts {
		b.Set(key(k), content(k), nil)
	}
	for _, k := range deletes {
		b.Delete(key(k), nil)
	}
	return b.Commit(pebble.Sync)
}

func (s pebbleStore) each(f func()) error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		f()
	}
	return it.Close()
}

func (s pebbleStore) values(f func(key, value string)) error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	for it.First(); it.Valid(); it.Next() {
		f(string(it.Key()), string(it.Value()))
	}
	return it.Close()
}

func (s pebbleStore) close() error { return s.db.Close() }

type boltStore struct{ db *bbolt.DB }

var bucket = []byte("journal")

func openBolt(dir string) (store, error) {
	db, err := bbolt.Open(filepath.Join(dir, "journal"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	return boltStore{db}, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err })
}

func (s boltStore) write(puts, deletes []uint64) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		for _, k := range puts {
			if err := b.Put(key(k), content(k)); err != nil {
				return err
			}
		}
		for _, k := range deletes {
			if err := b.Delete(key(k)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s boltStore) each(f func()) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, _ []byte) error { f(); return nil })
	})
}

func (s boltStore) values(f func(key, value string)) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error { f(string(k), string(v)); return nil })
	})
}

func (s boltStore) close() error { return s.db.Close() }

// logStore is a plain log: it would need checksums, an index and a compaction of ours on top, which are not measured.
type logStore struct{ log *wal.Log }

func openLog(dir string) (store, error) {
	l, err := wal.Open(dir, nil)
	return logStore{l}, err
}

func (s logStore) write(puts, deletes []uint64) error {
	last, err := s.log.LastIndex()
	if err != nil {
		return err
	}
	var entry []byte
	for _, k := range puts {
		entry = append(append(entry, key(k)...), content(k)...)
	}
	for _, k := range deletes {
		entry = append(entry, key(k)...)
	}
	return s.log.Write(last+1, entry)
}

func (s logStore) each(f func()) error {
	first, _ := s.log.FirstIndex()
	last, _ := s.log.LastIndex()
	for i := first; i <= last; i++ {
		entry, err := s.log.Read(i)
		if err != nil {
			return err
		}
		for range len(entry) / (value + len(key(0))) {
			f()
		}
	}
	return nil
}

func (s logStore) close() error { return s.log.Close() }
