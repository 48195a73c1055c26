package set_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/set"
)

// A change is what a build adds and removes.
type change struct {
	added   map[string]string
	removed map[string]bool
}

func randomChange(r *rand.Rand, layer bool) change {
	c := change{map[string]string{}, map[string]bool{}}
	for range r.IntN(60) {
		c.added[fmt.Sprintf("%02d", r.IntN(100))] = fmt.Sprint(r.IntN(3))
	}
	for range r.IntN(30) {
		if key := fmt.Sprintf("%02d", r.IntN(100)); layer && c.added[key] == "" {
			c.removed[key] = true
		}
	}
	return c
}

// write appends the part of the change from lower to upper to a Builder.
func (c change) write(t *testing.T, b *set.Builder, lower, upper string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(c.added)) {
		if key >= lower && key < upper {
			if err := b.Append([]byte(key), []byte(c.added[key])); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.removed)) {
		if key >= lower && key < upper {
			if err := b.Remove([]byte(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// build writes the change by one Builder, or aborts it.
func (c change) build(t *testing.T, dir string, o set.BuilderOptions, commit bool) {
	t.Helper()
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, b, "", "z")
	if commit {
		_, err = b.Commit()
	}
	if err != nil {
		t.Error(err)
	}
	if err := b.Abort(); err != nil {
		t.Error(err)
	}
}

// buildParts writes the change in parts, of which each second is written twice.
func (c change) buildParts(t *testing.T, r *rand.Rand, dir string, o set.BuilderOptions) {
	t.Helper()
	o.Lease = set.NewLease()
	var all set.Layer
	lower := ""
	for i, upper := range []string{fmt.Sprint(r.IntN(5)), fmt.Sprint(5 + r.IntN(5)), "z"} {
		o.Part = i + 1
		var l set.Layer
		for range 1 + i%2 {
			b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
			if err != nil {
				t.Fatal(err)
			}
			c.write(t, b, lower, upper)
			if l, err = b.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		lower = upper
		all.Tables, all.Removals = append(all.Tables, l.Tables...), append(all.Removals, l.Removals...)
	}
	for range 2 { // a layer is not added again
		if err := set.Publish(t.Context(), dirStore(dir), all, &o); err != nil {
			t.Fatal(err)
		}
	}
}

// Sets and layers that are built at random, cut to tables of all sizes or in parts, are what a map says. What was
// aborted changes nothing, and Sweep removes nothing that is needed.
func TestBuildersAsModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(82, 3))
	for range rounds(10, 300) {
		dir, model := filepath.Join(t.TempDir(), "set"), map[string]string{}
		for step := range 8 {
			o := set.BuilderOptions{Layer: step > 0 && r.IntN(5) > 0, EntriesPerTable: 1 + r.IntN(30)}
			c, commit := randomChange(r, o.Layer), step == 0 || r.IntN(4) > 0
			c.added["50"] = "not empty"
			delete(c.removed, "50")
			if commit && r.IntN(2) == 0 {
				c.buildParts(t, r, dir, o)
			} else {
				c.build(t, dir, o, commit)
			}
			if !commit {
				continue
			}
			if !o.Layer {
				clear(model)
			}
			maps.Copy(model, c.added)
			maps.DeleteFunc(model, func(key, _ string) bool { return c.removed[key] })
			if err := set.Sweep(t.Context(), dirStore(dir), &set.SweepOptions{}); err != nil {
				t.Error(err)
			}
			checkModel(t, dir, model)
		}
	}
}

// checkModel checks that the set in dir has these entries and no other files.
func checkModel(t *testing.T, dir string, model map[string]string) {
	t.Helper()
	s, err := set.OpenDir(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := map[string]string{}
	it := s.NewIter(t.Context(), nil)
	defer it.Close()
	for e, err := range it.All() {
		if err != nil {
			t.Fatal(err)
		}
		got[string(e.Key)] = string(e.Value)
	}
	if diff := cmp.Diff(model, got); diff != "" {
		t.Fatalf("entries (-want +got):\n%s", diff)
	}
	want := []string{set.ManifestName}
	for table := range s.Manifest().All() {
		want = append(want, table.Name)
	}
	slices.SortFunc(want, strings.Compare)
	if diff := cmp.Diff(want, listing(t, dir)); diff != "" {
		t.Fatalf("files (-manifest +directory):\n%s", diff)
	}
}

// Publish writes no manifest of tables that are not there, or are others.
func TestPublishLooksForTables(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	o := set.BuilderOptions{Part: 1}
	b, err := set.NewBuilder(t.Context(), dirStore(dir), &o)
	if err != nil {
		t.Fatal(err)
	}
	appendKeys(t, b, 10, "v")
	l, err := b.Commit()
	if err != nil {
		t.Fatal(err)
	}
	buildSet(t, other, 10, "v")
	longer := l
	longer.Tables = []set.Table{l.Tables[0]}
	longer.Tables[0].Size++
	for name, test := range map[string]struct {
		dir string
		l   set.Layer
		o   *set.BuilderOptions
	}{
		"in another directory": {other, l, nil},
		"of another size":      {dir, longer, nil},
		"without a set":        {dir, l, &set.BuilderOptions{Layer: true}},
		"removals of a set":    {dir, set.Layer{Removals: l.Tables}, nil},
	} {
		before := names(t, test.dir)
		if err := set.Publish(t.Context(), dirStore(test.dir), test.l, test.o); err == nil {
			t.Errorf("tables %s: no error", name)
		}
		if diff := cmp.Diff(before, names(t, test.dir)); diff != "" {
			t.Errorf("tables %s: files (-before +after):\n%s", name, diff)
		}
	}
	if err := set.Publish(t.Context(), dirStore(dir), l, nil); err != nil {
		t.Error(err)
	}
	if got := readManifest(t, dir).Tables; !cmp.Equal(got, l.Tables) {
		t.Errorf("the manifest has %v, want %v", got, l.Tables)
	}
}
