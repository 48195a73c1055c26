package set_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// layersOf returns the numbers of tables of the layers.
func layersOf(m *set.Manifest) (counts [][2]int) {
	for _, l := range m.Layers {
		counts = append(counts, [2]int{len(l.Tables), len(l.Removals)})
	}
	return counts
}

// A layer adds files, and changes only the manifest. Its tables have new names, even if their contents exist
// already.
func TestBuildLayers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 55, "v")
	before := names(t, dir)
	var want [][2]int
	for _, n := range [][2]int{{25, 0}, {0, 11}, {25, 0}, {1, 1}} {
		b, err := start(t.Context(), dirStore(dir), tenEach, n[0], n[1], "w")
		noError(t, err)
		l := commit(t, b)
		want = append(want, [2]int{(n[0] + 9) / 10, (n[1] + 9) / 10})
		m := readManifest(t, dir)
		checkDiff(t, "layer", m.Layers[len(m.Layers)-1], l)
	}
	m, after := readManifest(t, dir), listing(t, dir)
	checkDiff(t, "tables and removals of layers", want, layersOf(m))
	if len(after) != len(before)+10 || !strings.HasPrefix(m.Layers[3].Removals[0].Name, "000016-") {
		t.Errorf("files %q, want 10 new ones, numbered up to 16", after)
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			t.Errorf("%s is gone", name)
		}
	}
	buildSet(t, dir, 55, "w")
	if after := listing(t, dir); len(after) != 1+16+6 || len(readManifest(t, dir).Layers) > 0 {
		t.Errorf("files %q of a set that has replaced a layered one, want the 16 old tables too", after)
	}
}

// tenEach are the options of a layer of small tables.
var tenEach = set.BuilderOptions{Layer: true, EntriesPerTable: 10}

// Many Builders add layers to one set at once, and some of them abort. No layer of the others is lost.
func TestManyLayersAtOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 43))
	for range rounds(3, 50) {
		dir, want := t.TempDir(), 0
		buildSet(t, dir, 30, "v")
		var all sync.WaitGroup
		for range 2 + r.IntN(8) {
			added, removed, commits := 1+r.IntN(2)*20, r.IntN(2)*15, r.IntN(4) > 0
			if commits {
				want++
			}
			all.Go(func() {
				if err := buildIn(t.Context(), dirStore(dir), tenEach, added, removed, "same", commits); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		m := readManifest(t, dir)
		tables := len(slices.Collect(m.All()))
		if files := listing(t, dir); len(m.Layers) != want || len(files) != tables+1 {
			t.Errorf("%d layers, want %d; files %q, want %d tables and the manifest", len(m.Layers), want, files, tables)
		}
	}
}

// A racedStore changes before it replaces a file, or afterward, and then loses the response.
type racedStore struct {
	replacingStore
	before, after func()
}

func (s *racedStore) Replace(ctx context.Context, name string, old, content []byte) error {
	if before := s.before; before != nil {
		s.before = nil
		before()
	}
	err := s.replacingStore.Replace(ctx, name, old, content)
	if after := s.after; after != nil {
		s.after = nil
		after()
		return set.ErrChanged
	}
	return err
}

// A layer can be added again above another one: its tables get more names, and Sweep recognizes them. It is added only
// once if two programs do so at once, or if the response to writing the manifest is lost and another program then adds
// a layer. If another program adds another layer at once, it is added although an older layer is equal.
func TestSameLayerAtOnce(t *testing.T) {
	t.Parallel()
	memory := newMemoryStore()
	s := &racedStore{replacingStore: replacingStore{memory}}
	noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "old"))
	var parts [3]set.Layer
	for i := range parts {
		b, err := set.NewBuilder(t.Context(), s, &set.BuilderOptions{Layer: true, Part: i + 1})
		noError(t, err)
		noError(t, b.Append([]byte(key(i)), []byte("new")))
		parts[i], err = b.Commit()
		noError(t, err)
	}
	publish := func(i int) {
		noError(t, set.Publish(t.Context(), s, parts[i], &set.BuilderOptions{Layer: true}))
	}
	publish(0)
	publish(1)
	s.before = func() { publish(0) }
	publish(0)
	publish(1)
	s.after = func() { publish(1) }
	publish(0)
	s.before = func() { publish(2) }
	publish(0)
	m, _ := memory.checkWhole(t)
	var got []string
	for _, l := range m.Layers {
		got = append(got, l.Tables[0].Name)
	}
	a, b := strings.TrimSuffix(parts[0].Tables[0].Name, ".ldb"), strings.TrimSuffix(parts[1].Tables[0].Name, ".ldb")
	c := parts[2].Tables[0].Name
	checkDiff(t, "tables of layers", []string{a + ".ldb", b + ".ldb", a + "-2.ldb", b + "-2.ldb", a + "-3.ldb", b + "-3.ldb", c, a + "-4.ldb"}, got)
	noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "folded"))
	checkSwept(t, memory)
}

// Whichever call fails while a layer is added again, whose tables are copied, all tables of the manifest exist.
func TestLayerAgainFailsAtEachCall(t *testing.T) {
	t.Parallel()
	o := &set.BuilderOptions{Layer: true, Part: 1}
	for failAt := 1; ; failAt++ {
		s := newMemoryStore()
		noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "old"))
		var layers [2]set.Layer
		for i := range layers {
			b, err := set.NewBuilder(t.Context(), s, o)
			noError(t, err)
			noError(t, b.Append([]byte(key(i)), []byte("new")))
			layers[i] = commit(t, b)
			noError(t, set.Publish(t.Context(), s, layers[i], o))
		}
		s.calls, s.failAt = 0, failAt
		err := set.Publish(t.Context(), s, layers[0], o)
		failed := s.calls >= failAt
		if s.failAt = 0; failed != errors.Is(err, errCall) {
			t.Errorf("call %d: Publish = %v", failAt, err)
		}
		if m, _ := s.checkWhole(t); !failed && len(m.Layers) != 3 {
			t.Errorf("%d layers, want 3", len(m.Layers))
		}
		if !failed {
			break
		}
	}
}

// After a build, Publish changes nothing again, even if a newer layer is above: its lease has ended. Another build of the
// same tables has a lease of its own, and replaces or adds them again.
func TestPublishAgainBelowANewerLayer(t *testing.T) {
	t.Parallel()
	s := newMemoryStore()
	build := func(value string, layer bool) (repeat func()) {
		o := &set.BuilderOptions{Layer: layer, Part: 1, Lease: set.NewLease()}
		b, err := set.NewBuilder(t.Context(), s, o)
		noError(t, err)
		noError(t, b.Append([]byte("k"), []byte(value)))
		l := commit(t, b)
		publish := func() { noError(t, set.Publish(t.Context(), s, l, o)) }
		publish()
		return publish
	}
	layers := func(what string, want int) {
		t.Helper()
		if m, _ := s.checkWhole(t); len(m.Layers) != want {
			t.Errorf("%s: %d layers, want %d", what, len(m.Layers), want)
		}
	}
	repeatSet, repeatLayer := build("base", false), build("a", true)
	build("b", true)
	repeatSet()
	layers("the set was published again", 2)
	repeatLayer()
	layers("the older layer was published again", 2)
	build("a", true)
	layers("the older layer was built again", 3)
	build("base", false)
	layers("the set was built again", 0)
}

// A part is one table, however many entries it has.
func TestPartIsOneTable(t *testing.T) {
	t.Parallel()
	b := newBuilder(t, t.TempDir(), set.BuilderOptions{Part: 1})
	for i := range rounds(10, 1_000_001) {
		noError(t, b.Append(fmt.Appendf(nil, "%08d", i), nil))
	}
	if l := commit(t, b); len(l.Tables) != 1 {
		t.Errorf("%d tables, want 1", len(l.Tables))
	}
}

// A part may remove the keys that it adds without values: both tables then have the same bytes and the same name.
func TestPartOfEqualTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, s := range []set.Store{dirStore(dir), newMemoryStore()} {
		noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "old"))
		for range 2 { // the second build finds its tables
			b, err := set.NewBuilder(t.Context(), s, &set.BuilderOptions{Layer: true, Part: 1})
			noError(t, err)
			noError(t, b.Append([]byte("both"), nil))
			noError(t, b.Remove([]byte("both")))
			l := commit(t, b)
			for range 2 {
				noError(t, set.Publish(t.Context(), s, l, &set.BuilderOptions{Layer: true}))
			}
			m, err := set.LoadManifest(t.Context(), s, set.ManifestName)
			noError(t, err)
			checkDiff(t, "tables and removals of layers", [][2]int{{1, 1}}, layersOf(m))
		}
	}
	_, err := openDir(t, dir, nil).Get(t.Context(), []byte("both"))
	noError(t, err)
}

// A Builder that waits for another one ends with its context, and leaves the set unchanged.
func TestLayerWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	buildSet(t, dir, 5, "v")
	ctx, cancel := context.WithCancel(t.Context())
	b, err := start(ctx, dirStore(dir), tenEach, 5, 5, "w")
	noError(t, err)
	unlock, err := dirStore(dir).Lock(t.Context())
	noError(t, err)
	defer unlock()
	cancel()
	_, err = b.Commit()
	checkError(t, "Commit", err, context.Canceled, "")
	noError(t, b.Abort())
	if m, files := readManifest(t, dir), names(t, dir); len(m.Layers) > 0 || len(files) != 2 {
		t.Errorf("%d layers, files %q, want none, and the set", len(m.Layers), files)
	}
}

// If the response to writing the manifest is lost and another program then adds a layer, the layer below that one
// counts as added, even if Check would no longer allow it. If the manifest cannot be read, the error says what is
// unknown. If it was deleted, nothing is.
func TestLayerWithALostResponse(t *testing.T) {
	t.Parallel()
	const unchanged, readFails, deleted = "", "the layer may or may not have been added: set: manifest memory/set.jsonl",
		"set: memory/set.jsonl: file does not exist: no set to add a layer to"
	for _, want := range []string{unchanged, readFails, deleted} {
		s := &racedStore{replacingStore: replacingStore{newMemoryStore()}}
		noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "old"))
		s.after = func() {
			noError(t, buildSmall(t, s, set.BuilderOptions{Layer: true}, 1, "other"))
			switch want {
			case readFails:
				s.failAt = s.calls + 1
			case deleted:
				delete(s.files, set.ManifestName)
			}
		}
		o := set.BuilderOptions{Layer: true, Check: func(m *set.Manifest) error {
			if len(m.Layers) > 0 {
				return errors.New("it has layers")
			}
			return nil
		}}
		err := buildSmall(t, s, o, 5, "new")
		switch {
		case want == unchanged:
			noError(t, err)
		case err == nil || !strings.HasPrefix(err.Error(), want) || errors.Is(err, errCall) != (want == readFails):
			t.Errorf("Commit: %v, want %q", err, want)
		}
		if want == deleted {
			continue
		}
		if m, _ := s.checkWhole(t); len(m.Layers) != 2 {
			t.Errorf("%d layers, want 2", len(m.Layers))
		}
	}
}

// A table that is removed during Commit, by a Sweep that began earlier, is stored again. If another one is missing,
// Commit fails.
func TestTableIsRemovedDuringCommit(t *testing.T) {
	t.Parallel()
	for _, layer := range []bool{false, true} {
		for _, removed := range []string{"000001-", "000003-"} {
			var want error
			if layer && removed == "000001-" { // not a table of the build
				want = set.ErrGone
			}
			s := &racedStore{replacingStore: replacingStore{newMemoryStore()}}
			noError(t, buildSmall(t, s, set.BuilderOptions{}, 5, "old")) // tables 1 and 2
			s.before = func() {
				maps.DeleteFunc(s.files, func(name string, _ memoryFile) bool { return strings.HasPrefix(name, removed) })
			}
			if err := buildSmall(t, s, set.BuilderOptions{Layer: layer}, 9, "new"); !errors.Is(err, want) {
				t.Errorf("layer %t, without tables %s: %v, want %v", layer, removed, err, want)
			}
			if want == nil {
				s.checkWhole(t)
			}
		}
	}
}
