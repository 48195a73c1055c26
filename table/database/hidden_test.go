package database_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/merge"
)

// Whatever is corrupt, a lookup has the same result as in the sound database, or returns a HiddenError, whose value
// is a version of the key. AppendGet and GetMany agree.
func TestCorruptTablesHideVersions(t *testing.T) {
	t.Parallel()
	hidden, older := 0, 0
	for seed := range uint64(long.Rounds(60, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 44))
		r := newRandom(rng, 1+rng.IntN(150))
		files := r.build(t)
		o := &database.Options{Comparers: []table.Comparer{backward}}
		sound := openFS(t, files, o)
		damaged := maps.Clone(files)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(name, ".ldb") && rng.IntN(2) == 0 {
				f := *files[name]
				f.Data = slices.Clone(f.Data)
				f.Data[0] ^= 1 // in the first data block
				damaged[name] = &f
			}
		}
		db := openFS(t, damaged, o)
		versions := map[string]bool{}
		for _, w := range r.writes {
			versions[string(w.UserKey)+"="+w.value] = true
		}
		for _, key := range r.keys {
			v, err := db.Get([]byte(key))
			h := (*merge.HiddenError)(nil)
			if !errors.As(err, &h) {
				want, wantErr := sound.Get([]byte(key))
				if string(v) != string(want) || !errors.Is(err, wantErr) {
					t.Fatalf("seed %d: Get(%q) = %q, %v; want %q, %v", seed, key, v, err, want, wantErr)
				}
				continue
			}
			hidden++
			if h.Found {
				older++
			}
			if !errors.Is(err, table.ErrCorrupt) || h.Found && !versions[key+"="+string(h.Value)] || !h.Found && h.Value != nil {
				t.Errorf("seed %d: Get(%q) = %v, with %q, which is no version of the key", seed, key, err, h.Value)
			}
			checkSameAnswer(t, db.View, []byte(key), v, err)
		}
		errors.Join(sound.Close(), db.Close())
	}
	if hidden == 0 || older == 0 {
		t.Errorf("%d keys were hidden, %d with an older version; want some of both", hidden, older)
	}
}

// Whatever files are missing, cut or changed: OnLoss is called if and only if Open fails without it. Outside of the
// lost ranges, results are the same as in the sound database. Lookups of hidden versions fail.
func TestOpenWithLosses(t *testing.T) {
	t.Parallel()
	lossy, seeds := 0, long.Rounds(100, 3000)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 45))
		r := newRandom(rng, 1+rng.IntN(150))
		files := r.build(t)
		o := database.Options{Comparers: []table.Comparer{backward}}
		sound := openFS(t, files, &o)
		damaged, torn := spoiled(rng, files)
		_, strict := database.OpenFS(damaged, ".", &o)
		var losses []table.Loss
		o.OnLoss = func(l table.Loss) bool { losses = append(losses, l); return true }
		db, err := database.OpenFS(damaged, ".", &o)
		if err != nil || (strict != nil) != (len(losses) > 0) {
			t.Fatalf("seed %d: OpenFS = %v, without OnLoss %v; losses %v", seed, err, strict, losses)
		}
		if len(losses) > 0 {
			lossy++
		}
		checkLossy(t, fmt.Sprint("seed ", seed), r, sound, db, &losses, torn)
		losses, o.Reader.Mapped = nil, true
		mapped := openDir(t, onDisk(t, damaged), &o)
		checkLossy(t, fmt.Sprint("mapped, seed ", seed), r, sound, mapped, &losses, torn)
		errors.Join(sound.Close(), db.Close(), mapped.Close())
		refuse := o
		refuse.OnLoss = func(table.Loss) bool { return false }
		if _, err := database.OpenFS(damaged, ".", &refuse); fmt.Sprint(err) != fmt.Sprint(strict) && strict != nil {
			t.Errorf("seed %d: OpenFS with an OnLoss that refuses = %v, want %v", seed, err, strict)
		}
	}
	if lossy < seeds/4 {
		t.Errorf("%d of %d databases have lost something", lossy, seeds)
	}
}

// spoiled returns the files of a database with some tables and logs missing, cut or changed. torn reports whether a
// log is among them: a log that ends early, or is missing and was not named, is not a loss.
func spoiled(rng *rand.Rand, files fstest.MapFS) (damaged fstest.MapFS, torn bool) {
	damaged = maps.Clone(files)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := slices.Clone(files[name].Data)
		if !strings.HasSuffix(name, ".ldb") && !strings.HasSuffix(name, ".log") || rng.IntN(4) > 0 || len(data) == 0 {
			continue
		}
		torn = torn || strings.HasSuffix(name, ".log")
		switch rng.IntN(3) {
		case 0:
			delete(damaged, name)
			continue
		case 1:
			data = data[:rng.IntN(len(data))]
		case 2:
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		}
		damaged[name] = &fstest.MapFile{Data: data}
	}
	return damaged, torn
}

// checkLossy compares a database with its sound copy. losses are from Open, and then also from an iterator.
func checkLossy(t *testing.T, what string, r *random, sound, db *database.DB, losses *[]table.Loss, torn bool) {
	t.Helper()
	shown := map[string]string{}
	for e, err := range db.All(&table.IterOptions{OnLoss: func(l table.Loss) bool { *losses = append(*losses, l); return true }}) {
		noError(t, err)
		shown[string(e.Key)] = string(e.Value)
	}
	order := r.order()
	for _, key := range r.keys {
		k := []byte(key)
		mayDiffer, inTable := torn, false
		for _, l := range *losses {
			inRange := (l.From == nil || order.Compare(k, l.From) >= 0) && (l.To == nil || order.Compare(k, l.To) <= 0)
			mayDiffer = mayDiffer || inRange
			inTable = inTable || inRange && (l.From != nil || l.To != nil)
			if !l.OlderShow || l.File == "" || l.Err == nil || l.From != nil && l.To != nil && order.Compare(l.From, l.To) > 0 {
				t.Fatalf("%s: the loss %+v", what, l)
			}
		}
		want, wantErr := sound.Get(k)
		v, has := shown[key]
		if !mayDiffer && (has != (wantErr == nil) || v != string(want)) {
			t.Errorf("%s: %q has %q, %t; want %q, %v; losses %v", what, key, v, has, want, wantErr, *losses)
		}
		got, err := db.Get(k)
		switch h := (*merge.HiddenError)(nil); {
		case errors.As(err, &h) && !inTable:
			t.Errorf("%s: Get(%q) = %v, and no table with the key is lost: %v", what, key, err, *losses)
		case h == nil && (err == nil) != has || err == nil && string(got) != v:
			t.Errorf("%s: Get(%q) = %q, %v; an iterator shows %q, %t", what, key, got, err, v, has)
		}
	}
}

// OnLoss is called once for each loss. If it refuses one, Open fails with that loss's error.
func TestOnLossIsCalledOnce(t *testing.T) {
	t.Parallel()
	var l layout
	for i := range 9 {
		l.table(t, i%3, set(fmt.Sprint("key", i), uint64(i+1), "value"))
	}
	files := l.end(t)
	lost := 0
	for name := range files {
		if strings.HasSuffix(name, ".ldb") && lost < 4 {
			delete(files, name)
			lost++
		}
	}
	for refused := range lost + 1 {
		var asked []string
		var last error
		o := &database.Options{OnLoss: func(l table.Loss) bool {
			asked, last = append(asked, l.File), l.Err
			return len(asked) <= refused
		}}
		err := openError(files, o)
		slices.Sort(asked)
		if n := len(slices.Compact(slices.Clone(asked))); n != len(asked) || n != min(refused+1, lost) {
			t.Errorf("OnLoss that refuses the loss %d was called for %q", refused, asked)
		}
		if refused == lost {
			last = nil
		}
		if !errors.Is(err, last) {
			t.Errorf("OpenFS = %v, want %v", err, last)
		}
	}
}

// If the newest versions of a key are in a corrupt data block, the error has the newest version in the table's next
// block.
func TestHiddenErrorHasTheNextDataBlock(t *testing.T) {
	t.Parallel()
	l := layout{options: table.WriterOptions{BlockSize: 1}}
	l.table(t, 1, set("k", 5, "newest"), set("k", 4, "readable"), set("l", 3, "of another key"))
	l.table(t, 2, set("k", 1, "old"), set("l", 1, "old"))
	files := l.end(t)
	files["000002.ldb"].Data[0] ^= 1
	_, err := openFS(t, files, nil).Get([]byte("k"))
	if h := (*merge.HiddenError)(nil); !errors.As(err, &h) || string(h.Value) != "readable" {
		t.Errorf("Get = %v, want a HiddenError with a value", err)
	}
}

// The errors of reads name all lost tables that matter.
func TestLostTablesAreNamed(t *testing.T) {
	t.Parallel()
	var l layout
	for i := range uint64(2) {
		l.table(t, 1, set("k", i+1, "value"))
	}
	files := l.end(t)
	delete(files, "000002.ldb")
	delete(files, "000003.ldb")
	db := openFS(t, files, &database.Options{OnLoss: func(table.Loss) bool { return true }})
	const missing = "database: %06d.ldb does not exist, but MANIFEST-000001 lists it: "
	_, err := db.Get([]byte("k"))
	for n := 2; n <= 3; n++ {
		if want := fmt.Sprintf(missing, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Get = %v, want %s", err, want)
		}
	}
	it := db.NewIter(nil)
	defer it.Close()
	if it.First() || !strings.HasPrefix(it.Error().Error(), "database: 00000") {
		t.Errorf("First = %v, want an error of package database", it.Error())
	}
}
