package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/set"
)

// linesNamed returns lines of tables with these names.
func linesNamed(names ...string) (all []tableLine) {
	for _, name := range names {
		all = append(all, tableLine{Table: set.Table{Name: name, Entries: 10}, from: name})
	}
	return all
}

// If names are numbered, a missing number is an error.
func TestMissingParts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ names, want string }{
		{"part-00000.ldb part-00001.ldb part-00002.ldb part-00004.ldb", "numbered 0 to 4, with 3 missing:"},
		{"part-00002.ldb part-00003.ldb", "numbered 1 to 3, with 1 missing:"},
		{"part-0.ldb part-9.ldb part-10.ldb", "tables part-… are numbered 0 to 10, with 1, 2, 3, … missing:"},
		{"part-r-00001 part-r-00003", "tables part-r-… are numbered 1 to 3, with 2 missing:"},
		{"x08.filter x09.filter x11.filter", "numbered 1 to 11, with 1, 2, 3, … missing:"},
		{"part-00000-of-00001.ldb", ""},
		{"part-00000-of-00002.ldb", "numbered 0 to 1, with 1 missing:"},
		{"part-00000-of-00003.ldb part-00001-of-00003.ldb", "numbered 0 to 2, with 2 missing:"},
		{"part-00001-of-00003.ldb part-00003-of-00003.ldb", "numbered 1 to 3, with 2 missing:"},
		{"000001-4294284e007a5823.ldb 000002-c1ae3305974c4620.ldb", ""},
		{"000001-4294284e007a5823.ldb 000003-c1ae3305974c4620.ldb", "numbered 1 to 3, with 2 missing:"},
		{"part-00007.ldb", ""}, // one name says nothing about others
		{"a.ldb b.ldb c1.ldb", ""},
		{"4294284e.ldb 9ae33059.ldb 12c4620f.ldb", ""}, // hexadecimal
		{"xaa.ldb xac.ldb", ""},
		{"host1-part-1.ldb host1-part-2.ldb host2-part-1.ldb", ""}, // two numberings
		{"9999999999999999999.ldb 1.ldb", ""},
	} {
		err := expected{}.check(linesNamed(strings.Fields(tt.names)...))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.names, err, tt.want)
		}
	}
}

// A missing part is noticed, unless it is the first or the last one and the other names could be complete. If tables
// and entries are counted, the counts decide.
func TestMissingPartsOfAnyNumber(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 9))
	for range 2000 {
		n, first, width, total := 3+r.IntN(200), r.IntN(2), r.IntN(6), r.IntN(2) == 0
		prefix, suffix := pick(r, "part-", "", "2026-11-23_x", "v2_"), pick(r, ".ldb", "", "-c000.sst", ".tar.ldb")
		if total {
			suffix = fmt.Sprintf("-of-%0*d", width, n) + suffix
		}
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("%s%0*d%s", prefix, width, first+i, suffix))
		}
		if err := (expected{}).check(linesNamed(names...)); err != nil {
			t.Fatalf("all of %s: %v", names, err)
		}
		out := r.IntN(n)
		some, unseen := linesNamed(slices.Delete(names, out, out+1)...), !total && (out == n-1 || out == 0 && first == 0)
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] }) // the keys are sorted, not the names
		if err := (expected{}).check(some); (err == nil) != unseen {
			t.Fatalf("%d of %d parts from %d, called like %s, without part %d: %v", len(some), n, first, some[0].Name, out, err)
		}
		counted := expected{tables: uint64(len(some)), entries: uint64(10 * len(some))}
		noError(t, counted.check(some))
		if err := counted.check(some[1:]); err == nil {
			t.Fatal("one table less than was counted: no error")
		}
	}
}
