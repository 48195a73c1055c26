package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A version is one of two versions of a table with the same name.
type version struct {
	contents []byte
	line     set.Table
	values   map[string]string
}

// randomVersions returns two tables written with the same options. They have the same keys, or at
// least the same first and last one.
func randomVersions(t *testing.T, rng *rand.Rand) (versions [2]version) {
	o, n, sameKeys := randomOptions(rng), 2+rng.IntN(perTable), rng.IntN(2) == 0
	for v := range versions {
		versions[v].values = map[string]string{}
		var pairs [][2]string
		for i := range n {
			if value := fmt.Sprintf("%d of %d", i, v); sameKeys || i == 0 || i == n-1 || rng.IntN(2) == 0 {
				pairs = append(pairs, [2]string{key(i), value})
				versions[v].values[key(i)] = value
			}
		}
		var b bytes.Buffer
		versions[v].line = write(t, &b, "t", o, pairs)
		versions[v].contents = b.Bytes()
	}
	return versions
}

// A world has a table in two versions, Sets of one or the other, and a shared Cache.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	objects  *objects
	versions [2]version
	sets     [4]*set.Set
	options  set.Options
}

func newWorld(t *testing.T, seed uint64) *world {
	rng := rand.New(rand.NewPCG(28, seed))
	w := &world{t: t, rng: rng, objects: newObjects(nil), versions: randomVersions(t, rng)}
	w.options.Reader.Cache = table.NewCache(int64(1000 << rng.IntN(8)))
	w.options.MemorySize = []int64{0, 1, 4000}[rng.IntN(3)]
	w.options.Reader.Mapped = rng.IntN(2) == 0
	w.replace()
	for i := range w.sets {
		w.open(i)
	}
	return w
}

// replace replaces the current file by a version. It is always a new file.
func (w *world) replace() {
	contents := w.versions[w.rng.IntN(2)].contents
	if w.rng.IntN(8) == 0 {
		contents = contents[:w.rng.IntN(len(contents))+1]
	}
	w.objects.replace("t", contents)
}

// open opens set i, of version i mod 2, and closes the one it replaces.
func (w *world) open(i int) {
	if w.sets[i] != nil {
		w.sets[i].Close()
	}
	w.sets[i] = open(w.t, manifestOf(w.versions[i%2].line), newPinned(w.objects), &w.options)
}

// check looks up a key in a random way. The result is the one in the Set's own version, or an error.
func (w *world) check(i int) error {
	k := key(w.rng.IntN(perTable + 2))
	got, err := lookUp(background, w.sets[i], w.rng.IntN(3), k)
	if want := w.versions[i%2].values[k]; err == nil && got != want {
		w.t.Fatalf("set %d: %s = %q, want %q", i, k, got, want)
	}
	return err
}

// putBack restores the table of set i, and checks that lookups then fail at most twice.
func (w *world) putBack(i int) {
	w.objects.replace("t", w.versions[i%2].contents)
	var failed []error
	for range 20 {
		if err := w.check(i); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 2 {
		w.t.Fatalf("set %d: lookups fail though its table is back: %v", i, errors.Join(failed...))
	}
}

// lookUp returns the value of k, or "" if it is absent, in one of three ways. GetMany looks up others too.
func lookUp(ctx context.Context, s *set.Set, way int, k string, others ...string) (string, error) {
	switch way {
	case 0:
		v, err := s.Get(ctx, []byte(k))
		if errors.Is(err, table.ErrNotFound) {
			err = nil
		}
		return string(v), err
	case 1:
		found, err := getMany(ctx, s, bytesOf(append(others, k)...), nil)
		return found[k], err
	}
	it := s.NewIter(ctx, nil)
	value := ""
	if it.SeekGE([]byte(k)) && string(it.Key()) == k {
		value = string(it.Value())
	}
	return value, it.Close()
}

// Whatever replaces a table, is evicted or is opened again, a result is the one in the Set's own manifest. Once its
// table is back, lookups succeed after an error or two.
func TestAnswersAreOfTheSetsOwnTables(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(60, 2000)) {
		w := newWorld(t, seed)
		answers := 0
		for range 300 {
			switch i := w.rng.IntN(len(w.sets)); w.rng.IntN(12) {
			case 0:
				w.replace()
			case 1:
				w.open(i)
			case 2:
				w.putBack(i)
			default:
				if w.check(i) == nil {
					answers++
				}
			}
		}
		if answers == 0 {
			t.Errorf("seed %d: no answers", seed)
		}
	}
}

// The same with concurrent lookups. Once the table is back, lookups succeed, and Close and Drain end.
func TestAnswersWhileTablesAreReplaced(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(10, 300)) {
		w := newWorld(t, seed)
		var all sync.WaitGroup
		for g := range 8 {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			s, values := w.sets[g%4], w.versions[g%2].values
			all.Go(func() {
				for range 200 {
					k := key(rng.IntN(perTable))
					if got, err := lookUp(background, s, rng.IntN(3), k); err == nil && got != values[k] {
						t.Errorf("seed %d: %s = %q, want %q", seed, k, got, values[k])
					}
				}
			})
		}
		for range 100 {
			w.replace()
		}
		all.Wait()
		w.putBack(0)
		checkEnd(t, w.sets[0])
	}
}
