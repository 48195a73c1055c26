// Package dbdamage damages databases at random, and checks how sst handles them.
package dbdamage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A Damage is damage to one file of a database.
type Damage struct {
	File     string
	Kind     Kind
	From, To int64 // the damaged bytes; in a cut or lost file, the missing bytes
	ZeroEnd  bool  // all bytes from From on are zero
}

func (d Damage) String() string {
	return fmt.Sprintf("%s: %s at %d to %d", d.File, d.Kind, d.From, d.To)
}

// Overlaps reports whether the damage overlaps a part of the file.
func (d Damage) Overlaps(from, to int64) bool { return from < d.To && d.From < to }

const page = 4096

// Random damages a file of a database: a table, a log, the MANIFEST or CURRENT. It cuts the file, zeroes a page or
// the end, flips bytes or removes the file. If nothing is changed, it returns false. Sometimes it also adds an
// unfinished table, as if the engine was killed.
func Random(rng *rand.Rand, dir string) (Damage, bool, error) {
	if rng.IntN(3) == 0 {
		if err := addUnfinished(rng, dir); err != nil {
			return Damage{}, false, err
		}
	}
	path, err := choose(rng, dir)
	if err != nil {
		return Damage{}, false, err
	}
	return Apply(rng, path, Kinds[rng.IntN(len(Kinds))])
}

// A Kind is a kind of damage.
type Kind string

// The kinds of damage.
const (
	Cut        Kind = "cut"
	Lost       Kind = "lost"
	ZeroedPage Kind = "zeroed page"
	ZeroedEnd  Kind = "zeroed end" // as after a crash before the end was written
	Flipped    Kind = "flipped bytes"
)

// Kinds lists all kinds of damage.
var Kinds = []Kind{Cut, Lost, ZeroedPage, ZeroedEnd, Flipped}

// Apply damages a file at random. If nothing is changed, it returns false.
func Apply(rng *rand.Rand, path string, kind Kind) (Damage, bool, error) {
	before, err := os.ReadFile(path)
	if err != nil || len(before) == 0 {
		return Damage{}, false, err
	}
	from, to, after := damaged(rng, kind, bytes.Clone(before))
	d := Damage{File: filepath.Base(path), Kind: kind, From: from, To: to}
	if kind == Lost {
		return d, true, os.Remove(path)
	}
	d.ZeroEnd = kind != Cut && len(bytes.Trim(after[d.From:], "\x00")) == 0
	return d, !bytes.Equal(before, after), os.WriteFile(path, after, 0o666)
}

// addUnfinished adds a table that no MANIFEST lists. It is empty, or contains the start of another table.
func addUnfinished(rng *rand.Rand, dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil || len(tables) == 0 {
		return err
	}
	contents, err := os.ReadFile(tables[len(tables)-1]) // the newest, since an unfinished table contains nothing obsolete
	if err != nil {
		return err
	}
	n := rng.IntN(2) * rng.IntN(max(1, len(contents))) // a killed engine may leave empty tables
	return os.WriteFile(filepath.Join(dir, "999999.ldb"), contents[:n], 0o666)
}

// choose returns a random file, usually a table or a log.
func choose(rng *rand.Rand, dir string) (path string, err error) {
	patterns := []string{"*.ldb", "*.ldb", "*.ldb", "*.ldb", "*.ldb", "*.log", "*.log", "*.log", "MANIFEST-*", "CURRENT"}
	for {
		names, err := filepath.Glob(filepath.Join(dir, patterns[rng.IntN(len(patterns))]))
		if err != nil {
			return "", err
		}
		if len(names) > 0 {
			return names[rng.IntN(len(names))], nil
		}
	}
}

// damaged damages the contents of a file, and returns the range of damaged bytes.
func damaged(rng *rand.Rand, kind Kind, c []byte) (from, to int64, after []byte) {
	from, to = rng.Int64N(int64(len(c))), int64(len(c))
	switch kind {
	case Cut:
		return from, to, c[:from]
	case Lost:
		return 0, to, nil
	case ZeroedPage:
		from -= from % page
		to = min(from+page, to)
		clear(c[from:to])
	case ZeroedEnd:
		clear(c[from:])
	case Flipped:
		to = min(from+1+rng.Int64N(20), to)
		for i := from; i < to; i++ {
			c[i] ^= byte(1 + rng.IntN(255))
		}
	}
	return from, to, c
}

// isLog and isTable report the kind of the damaged file.
func (d Damage) isLog() bool   { return strings.HasSuffix(d.File, ".log") }
func (d Damage) isTable() bool { return strings.HasSuffix(d.File, ".ldb") }
