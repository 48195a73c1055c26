package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/sievetable/sievetable/internal/dbdamage"
)

// singles lists the kinds of damage to one file.
var singles = []struct {
	file, pattern string
	kind          dbdamage.Kind
}{
	{"table", "*.ldb", dbdamage.Cut},
	{"table", "*.ldb", dbdamage.ZeroedPage},
	{"table", "*.ldb", dbdamage.Flipped},
	{"table", "*.ldb", dbdamage.Lost},
	{"log", "*.log", dbdamage.Cut},
	{"log", "*.log", dbdamage.ZeroedPage},
	{"log", "*.log", dbdamage.ZeroedEnd},
	{"log", "*.log", dbdamage.Flipped},
	{"log", "*.log", dbdamage.Lost},
	{"CURRENT", "CURRENT", dbdamage.Flipped},
	{"CURRENT", "CURRENT", dbdamage.Lost},
	{"MANIFEST", "MANIFEST-*", dbdamage.Cut},
	{"MANIFEST", "MANIFEST-*", dbdamage.ZeroedPage},
	{"MANIFEST", "MANIFEST-*", dbdamage.Flipped},
	{"MANIFEST", "MANIFEST-*", dbdamage.Lost},
}

// damage damages a database, three times in four in one file only. It returns the name of the kind.
func damage(rng *rand.Rand, i int, dir string) (kind string, all []dbdamage.Damage, err error) {
	if i%4 == 3 {
		all, err = damageSeveral(rng, dir)
		return "several at once", all, err
	}
	s := singles[(i-i/4)%len(singles)]
	names, err := filepath.Glob(filepath.Join(dir, s.pattern))
	if err != nil || len(names) == 0 {
		return "", nil, fmt.Errorf("%s: no %s, %v", dir, s.pattern, err)
	}
	for {
		d, changed, err := dbdamage.Apply(rng, names[rng.IntN(len(names))], s.kind)
		if changed || err != nil {
			return s.file + ": " + string(s.kind), []dbdamage.Damage{d}, err
		}
	}
}

// damageSeveral damages 2 to 5 files.
func damageSeveral(rng *rand.Rand, dir string) (all []dbdamage.Damage, err error) {
	for n := 2 + rng.IntN(4); len(all) < n; {
		d, changed, err := dbdamage.Random(rng, dir)
		if err != nil {
			return nil, err
		}
		if changed {
			all = append(all, d)
		}
	}
	return all, nil
}
