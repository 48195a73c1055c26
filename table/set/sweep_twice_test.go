package set_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A changingStore changes after it was listed, and when a file is removed.
type changingStore struct {
	replacingStore
	listed  func()
	removed sync.Once // calls change
	change  func()
	removes func(name string) error // instead of Remove
}

func (s *changingStore) List(ctx context.Context) ([]set.File, error) {
	files, err := s.replacingStore.List(ctx)
	if change := s.listed; change != nil {
		s.listed = nil
		change()
	}
	return files, err
}

func (s *changingStore) Remove(ctx context.Context, name string) error {
	if s.change != nil {
		s.removed.Do(s.change)
	}
	if s.removes != nil {
		return s.removes(name)
	}
	return s.replacingStore.Remove(ctx, name)
}

// tableNumber returns the line of table i.
func tableNumber(i int) set.Table {
	sum, key := fmt.Sprintf("%064x", i), fmt.Appendf(nil, "%05d", i)
	return set.Table{
		Name: sum + ".ldb", Size: 100, SHA256: sum, Entries: 1, Smallest: key, Largest: key, TailSize: 50,
		TailSum: sum,
	}
}

// list writes a manifest of some tables.
func (s *changingStore) list(t *testing.T, name string, tables ...int) {
	t.Helper()
	m := new(set.Manifest)
	for _, i := range tables {
		m.Tables = append(m.Tables, tableNumber(i))
	}
	var b strings.Builder
	noError(t, set.WriteManifest(&b, m))
	s.files[name] = memoryFile{[]byte(b.String()), time.Now()}
}

// newChangingStore returns a store of the tables 1 to 3. Two manifests list table 1.
func newChangingStore(t *testing.T) *changingStore {
	s := &changingStore{replacingStore: replacingStore{newMemoryStore()}}
	for i := range 3 {
		s.files[tableNumber(i+1).Name] = memoryFile{make([]byte, 100), time.Now().Add(-time.Hour)}
	}
	s.list(t, set.ManifestName, 1)
	s.list(t, "other.jsonl", 1)
	return s
}

// left returns the numbers of the tables that remain.
func (s *changingStore) left() (tables []int) {
	for i := range 4 {
		if _, ok := s.files[tableNumber(i).Name]; ok {
			tables = append(tables, i)
		}
	}
	return tables
}

func sweepTables() *set.SweepOptions {
	return &set.SweepOptions{
		Before: time.Now(), Manifests: []string{"other.jsonl"},
		Match: func(name string) bool { return strings.HasSuffix(name, ".ldb") },
	}
}

// Without a lock, Sweep reads the manifests again right before it removes files.
func TestSweepLooksTwice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(t *testing.T, s *changingStore)
		want   []int // tables that stay
		fails  error
	}{
		"nothing":                {func(*testing.T, *changingStore) {}, []int{1}, nil},
		"the manifest lists all": {func(t *testing.T, s *changingStore) { s.list(t, set.ManifestName, 2, 3) }, []int{1, 2, 3}, nil},
		"another one lists one":  {func(t *testing.T, s *changingStore) { s.list(t, "other.jsonl", 3) }, []int{1, 3}, nil},
		"a manifest is gone":     {func(_ *testing.T, s *changingStore) { delete(s.files, "other.jsonl") }, []int{1, 2, 3}, fs.ErrNotExist},
		"a manifest is damaged": {func(_ *testing.T, s *changingStore) {
			s.files["other.jsonl"] = memoryFile{content: []byte("x")}
		}, []int{1, 2, 3}, table.ErrCorrupt},
		"a table is written again": {func(_ *testing.T, s *changingStore) {
			s.files[tableNumber(2).Name] = memoryFile{nil, time.Now().Add(time.Hour)}
		}, []int{1, 2}, nil},
		"a table is gone": {func(_ *testing.T, s *changingStore) { delete(s.files, tableNumber(2).Name) }, []int{1}, nil},
	} {
		for _, second := range []bool{false, true} { // change before the second read, rather than the first
			t.Run(fmt.Sprint(name, second), func(t *testing.T) {
				s, o := newChangingStore(t), sweepTables()
				change := func() { tt.change(t, s) }
				if second {
					o.Match = func(name string) bool {
						if strings.HasSuffix(name, "3.ldb") {
							change()
						}
						return strings.HasSuffix(name, ".ldb")
					}
				} else {
					s.listed = change
				}
				if err := set.Sweep(t.Context(), s, o); !errors.Is(err, tt.fails) || err != nil && tt.fails == nil {
					t.Errorf("error %v, want %v", err, tt.fails)
				}
				checkDiff(t, "tables", tt.want, s.left())
			})
		}
	}
}

// A manifest that is written after the second read is noticed, even if another file cannot be removed.
func TestManifestWhileSweeping(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		s := newChangingStore(t)
		s.change = func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.list(t, set.ManifestName, 1, 2, 3)
			if fails {
				s.failAt = s.calls + 2
			}
		}
		err := set.Sweep(t.Context(), s, sweepTables())
		if !errors.Is(err, set.ErrGone) || !errors.Is(err, table.ErrCorrupt) || errors.Is(err, errCall) != fails {
			t.Errorf("%v, want ErrGone", err)
		}
	}
}

// A manifest is noticed that lists a file whose removal returned an error, and after ctx has ended.
func TestManifestWhileSweepingFails(t *testing.T) {
	t.Parallel()
	for name, removed := range map[string]bool{"the file is gone": true, "the file is there": false} {
		s := newChangingStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		s.removes = func(name string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.list(t, set.ManifestName, 1, 2, 3)
			if removed {
				delete(s.files, name)
			}
			cancel()
			return ctx.Err()
		}
		o := sweepTables()
		o.Keep = func(ctx context.Context) ([]*set.Manifest, error) { return nil, ctx.Err() }
		err := set.Sweep(ctx, s, o)
		if !errors.Is(err, context.Canceled) || errors.Is(err, set.ErrGone) != removed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A manifest is noticed that lists a removed file, even if it could not be read right after the removal.
func TestManifestWhileSweepingIsReadAgain(t *testing.T) {
	t.Parallel()
	s, o := newChangingStore(t), sweepTables()
	for i := range 10 { // more than are removed at a time
		s.files[tableNumber(4+i).Name] = s.files[tableNumber(3).Name]
	}
	s.change = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.list(t, set.ManifestName, 1, 2, 3)
	}
	reads := 0
	o.Keep = func(context.Context) ([]*set.Manifest, error) {
		if reads++; reads == 3 { // before the second removals
			return nil, errCall
		}
		return nil, nil
	}
	err := set.Sweep(t.Context(), s, o)
	checkError(t, "Sweep", err, set.ErrGone, "")
	checkError(t, "Sweep", err, errCall, "")
}

// A manifest is noticed if ctx ends between removals, which are a few at a time.
func TestManifestWhileSweepingStops(t *testing.T) {
	t.Parallel()
	s := newChangingStore(t)
	var all []int
	for i := 1; i < 20; i++ {
		all = append(all, i)
		s.files[tableNumber(i).Name] = memoryFile{make([]byte, 100), time.Now().Add(-time.Hour)}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := sweepTables()
	o.Keep = func(ctx context.Context) ([]*set.Manifest, error) { return nil, ctx.Err() }
	o.Found = func(set.File, bool) error {
		s.list(t, set.ManifestName, all...)
		cancel()
		return nil
	}
	if err := set.Sweep(ctx, s, o); !errors.Is(err, context.Canceled) || !errors.Is(err, set.ErrGone) {
		t.Errorf("Sweep = %v, want %v and %v", err, context.Canceled, set.ErrGone)
	}
}

// Files are removed a few at a time, and no more after an error.
func TestSweepStopsAtAnError(t *testing.T) {
	t.Parallel()
	s := newChangingStore(t)
	for i := 4; i < 30; i++ {
		s.files[tableNumber(i).Name] = memoryFile{make([]byte, 100), time.Now().Add(-time.Hour)}
	}
	var tried atomic.Int64
	s.removes = func(string) error {
		if tried.Add(1) == 1 {
			return errCall
		}
		return nil
	}
	if err := set.Sweep(t.Context(), s, sweepTables()); !errors.Is(err, errCall) || tried.Load() > 8 {
		t.Errorf("Sweep = %v after %d removals, want %v after 8", err, tried.Load(), errCall)
	}
}

// Reading the manifests after ctx has ended takes 10 seconds at most.
func TestSweepEndsAfterCtx(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newChangingStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		s.removes = func(string) error { cancel(); return ctx.Err() }
		o := sweepTables()
		o.Keep = func(check context.Context) ([]*set.Manifest, error) {
			if ctx.Err() != nil {
				<-check.Done()
			}
			return nil, check.Err()
		}
		start := time.Now()
		if err := set.Sweep(ctx, s, o); !errors.Is(err, context.Canceled) || time.Since(start) != 10*time.Second {
			t.Errorf("Sweep = %v after %v, want an end after 10s", err, time.Since(start))
		}
	})
}

// An error of Found ends a DryRun.
func TestFoundEndsDryRun(t *testing.T) {
	t.Parallel()
	s, o := newChangingStore(t), sweepTables()
	s.files[tableNumber(3).Name] = s.files[tableNumber(2).Name]
	full, calls := errors.New("full"), 0
	o.DryRun, o.Found = true, func(set.File, bool) error { calls++; return full }
	if err := set.Sweep(t.Context(), s, o); !errors.Is(err, full) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// DryRun removes nothing. Found is called for the same files, and for young ones, but not for the tables that Keep
// returns.
func TestSweepFinds(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		s, o := newChangingStore(t), sweepTables()
		s.files[tableNumber(3).Name] = memoryFile{nil, time.Now().Add(time.Hour)}
		s.files[tableNumber(4).Name] = s.files[tableNumber(2).Name]
		o.Keep = func(context.Context) ([]*set.Manifest, error) {
			return []*set.Manifest{nil, manifestOf(tableNumber(4))}, nil
		}
		var found, young []string
		o.DryRun = dry
		o.Found = func(f set.File, isYoung bool) error {
			if isYoung {
				young = append(young, f.Name)
			} else {
				found = append(found, f.Name)
			}
			return nil
		}
		noError(t, set.Sweep(t.Context(), s, o))
		if !slices.Equal(found, []string{tableNumber(2).Name}) || !slices.Equal(young, []string{tableNumber(3).Name}) {
			t.Errorf("found %q, and %q that are young", found, young)
		}
		if want := map[bool][]int{true: {1, 2, 3}, false: {1, 3}}[dry]; !slices.Equal(s.left(), want) {
			t.Errorf("dry %t: tables %v, want %v", dry, s.left(), want)
		}
	}
}
