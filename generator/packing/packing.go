// Package packing reads the published form of the paper's first workload: Microsoft's Azure Traces for
// Packing 2020, a SQLite file (github.com/Azure/AzurePublicDataset, AzureTracesForPacking2020.md, CC-BY
// 4.0; Hadary et al., OSDI 2020). Its table vm has a row per request, with times in days since the
// collection began; vmType says which share of each kind of machine a VM type takes.
//
// The rules are those of the paper's authors (Sec. 6.2 and the script that made their trace), except for
// the order, which is theirs by chance:
//   - sizes are the shares of machine 1, times 96 cores, 384 GiB of memory and 300 GiB of SSD; cores are
//     rounded to the nearest thousandth, MiB are cut; types that do not run on machine 1, or whose shares
//     are not known, are left out;
//   - a request is kept if it was made in the 14 days of collection, lasted less than ten minutes, and fits
//     what the caller says;
//   - requests come in the order of their start, those of one instant by id; the first one starts at 0.
package packing

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

const (
	machine        = 1
	hostMillicores = 96_000
	hostMemoryMB   = 384 << 10
	hostDiskMB     = 300 << 10

	day       = 24 * 60 * 60 * 1000 // milliseconds
	collected = 14 * day
	longest   = 10*60*1000 - 1 // milliseconds
)

// Whatever type the columns were given, arithmetic makes numbers of what they hold. What is NULL meets no
// condition.
const (
	sizesQuery = `SELECT vmTypeId, core, memory, ssd FROM vmType WHERE machineId = ?
		AND core > 0 AND core <= 1 AND memory BETWEEN 0 AND 1 AND ssd BETWEEN 0 AND 1`
	requestsQuery = `SELECT vmId, vmTypeId, start, length
		FROM (SELECT vmId, vmTypeId, starttime * ?1 AS start, round((endtime - starttime) * ?1) AS length FROM vm)
		WHERE start BETWEEN 0 AND ?2 AND length BETWEEN 1 AND ?3 AND vmTypeId IN (SELECT value FROM json_each(?4))
		ORDER BY start, vmId LIMIT ?5`
)

// Trace reads requests one by one.
type Trace struct {
	db    *sql.DB
	rows  *sql.Rows
	sizes map[int64]cluster.Resources // by VM type
	begin float64                     // of the first request, in milliseconds
	count int
	err   error
}

// Open finds the first n requests in the file that fit in room. It fails when there are none.
func Open(ctx context.Context, path string, room cluster.Resources, n int) (*Trace, error) {
	if err := generator.CheckCount(n); err != nil {
		return nil, err
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: absolute, RawQuery: "mode=ro"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &Trace{db: db}
	if err := t.open(ctx, room, n); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), t.Close())
	}
	return t, nil
}

// checkFile says what is wrong before SQLite does, as the file is published inside a zip.
func checkFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	switch _, err := io.ReadFull(file, start); {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case string(start) != magic:
		return fmt.Errorf("%s is not a SQLite file: unpack the published zip, and name the .sqlite file in it", path)
	}
	return nil
}

func (t *Trace) open(ctx context.Context, room cluster.Resources, n int) error {
	if err := checkSchema(ctx, t.db); err != nil {
		return err
	}
	if err := t.readSizes(ctx, room); err != nil {
		return err
	}
	types, err := json.Marshal(slices.Collect(maps.Keys(t.sizes)))
	if err != nil {
		return err
	}
	if t.rows, err = t.db.QueryContext(ctx, requestsQuery, day, collected, longest, string(types), n); err != nil {
		return err
	}
	if !t.rows.Next() {
		if err := t.rows.Err(); err != nil {
			return err
		}
		return errors.New("no request lasts less than ten minutes and fits every node class of the configuration")
	}
	return nil
}

// readSizes keeps the VM types that fit in room.
func (t *Trace) readSizes(ctx context.Context, room cluster.Resources) error {
	rows, err := t.db.QueryContext(ctx, sizesQuery, machine)
	if err != nil {
		return err
	}
	defer rows.Close()
	t.sizes = map[int64]cluster.Resources{}
	known := false
	for rows.Next() {
		var id int64
		var core, memory, ssd float64
		if err := rows.Scan(&id, &core, &memory, &ssd); err != nil {
			return fmt.Errorf("table vmType: %w", err)
		}
		known = true
		size := cluster.Resources{
			cluster.Cores:  int64(math.Round(core * hostMillicores)),
			cluster.Memory: int64(memory * hostMemoryMB),
			cluster.Disk:   int64(ssd * hostDiskMB),
		}
		if size[cluster.Cores] > 0 && size.FitsIn(&room) {
			t.sizes[id] = size
		}
	}
	if err := rows.Err(); err != nil || known {
		return err
	}
	return fmt.Errorf("table vmType has no sizes for machine %d, whose shares the requests are sized by", machine)
}

// Requests is to be ranged over once. What cuts it short is in Err.
func (t *Trace) Requests(ctx context.Context) iter.Seq[generator.Request] {
	return func(yield func(generator.Request) bool) {
		for more := true; more; more = t.rows.Next() { // Open is at the first one
			q, err := t.read()
			if err = errors.Join(ctx.Err(), err); err != nil {
				t.err = err
				return
			}
			t.count++
			if !yield(q) {
				return
			}
		}
		t.err = t.rows.Err()
	}
}

func (t *Trace) read() (generator.Request, error) {
	var vmType int64
	var start, length float64
	q := generator.Request{Type: generator.AzureType, Mode: generator.AzureMode}
	if err := t.rows.Scan(&q.ID, &vmType, &start, &length); err != nil {
		return q, fmt.Errorf("table vm: %w", err)
	}
	if t.count == 0 {
		t.begin = start
	}
	q.Demand, q.Duration = t.sizes[vmType], int64(length)
	q.Start = time.Duration(math.Round(start-t.begin)) * time.Millisecond
	return q, nil
}

// Count returns how many requests were read so far.
func (t *Trace) Count() int { return t.count }

// Err returns what cut the requests short, if anything did.
func (t *Trace) Err() error { return t.err }

// Close closes the file.
func (t *Trace) Close() error {
	if t.rows != nil {
		t.rows.Close()
	}
	return t.db.Close()
}
