// Package host runs the services of one machine of a cluster: it starts them, keeps them running, stops them and says how
// they are. A supervisor process per service starts it again when it fails, holds a lock as long as it lives, and notes what
// it knows in a file beside the lock. Where there is a systemd for it, that supervisor is a unit, which starts it at boot and
// when it dies itself; everything else is the same. Nothing is found by its name in a list of processes, and nothing is
// stopped that was not started here.
package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Folder holds everything of a cluster on a host: bin/dodoor, cluster.toml, log, and run, which says what runs.
type Folder string

// Binary is the program of all services.
func (f Folder) Binary() string { return filepath.Join(string(f), "bin", "dodoor") }

// Configuration is what all services read: the inventory included.
func (f Folder) Configuration() string { return filepath.Join(string(f), "cluster.toml") }

// Log is what a service and its supervisor write.
func (f Folder) Log(service string) string { return filepath.Join(string(f), "log", service+".log") }

func (f Folder) lock(service string) string { return filepath.Join(string(f), "run", service+".lock") }
func (f Folder) note(service string) string { return filepath.Join(string(f), "run", service+".json") }

// versionDigits of a checksum tell versions apart; scripts/cluster takes as many.
const versionDigits = 12

// BinaryVersion is the first digits of the checksum of the binary.
func (f Folder) BinaryVersion() (string, error) {
	sum, err := checksum(f.Binary())
	if err != nil {
		return "", err
	}
	return sum[:versionDigits], nil
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("checksum: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("checksum of %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
