// Package dbdamage damages databases at random, and checks what sst then says of them.
package dbdamage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A Damage is what was done to one file of a database.
type Damage struct {
	File     string
	Kind     Kind
	From, To int64 // the bytes that it is about; of a cut or lost file all from From on, which it does not have
	ZeroEnd  bool  // the file has only zeros from From on
}

func (d Damage) String() string {
	return fmt.Sprintf("%s: %s at %d to %d", d.File, d.Kind, d.From, d.To)
}

// Overlaps reports whether a part of the file is damaged.
func (d Damage) Overlaps(from, to int64) bool { return from < d.To && d.From < to }

const page = 4096

// Random damages a file of a database: a table, the log, the MANIFEST or CURRENT. It cuts the file,
// fills a page with zeros, flips bytes or removes the file. It returns false if nothing is changed.
// Now and then it adds a table that the engine had not finished when it was killed.
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
	ZeroedEnd  Kind = "zeroed end" // as a crash leaves a file whose end was not written
	Flipped    Kind = "flipped bytes"
)

// Kinds are all kinds of damage.
var Kinds = []Kind{Cut, Lost, ZeroedPage, ZeroedEnd, Flipped}

// Apply damages a file at random. It returns false if nothing is changed.
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

// addUnfinished adds a table that no MANIFEST lists: the start of another one, or nothing.
func addUnfinished(rng *rand.Rand, dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
	if err != nil || len(tables) == 0 {
		return err
	}
	contents, err := os.ReadFile(tables[len(tables)-1]) // the newest: what is not finished has nothing obsolete
	if err != nil {
		return err
	}
	n := rng.IntN(2) * rng.IntN(max(1, len(contents))) // an engine that is killed leaves empty tables too
	return os.WriteFile(filepath.Join(dir, "999999.ldb"), contents[:n], 0o666)
}

// choose returns a file: mostly a table or a log.
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

// damaged damages the contents of a file from an offset up to another.
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

// isLog, isTable report what kind of file is damaged.
func (d Damage) isLog() bool   { return strings.HasSuffix(d.File, ".log") }
func (d Damage) isTable() bool { return strings.HasSuffix(d.File, ".ldb") }
