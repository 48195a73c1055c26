package set_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table/set"
)

// A memoryStore is a Store in memory. It has no lock.
type memoryStore struct {
	mu       sync.Mutex
	files    map[string]memoryFile
	calls    int // of all methods
	failAt   int // the number of the call that fails; 0 means none
	killed   bool
	kills    bool // all later calls fail too
	late     bool // the call that fails changes the files, as if its response was lost
	namesAll bool // List returns sizes and times
	timeless bool // Stat returns no times
}

type memoryFile struct {
	content  []byte
	modified time.Time
}

var errCall = errors.New("the call fails")

func newMemoryStore() *memoryStore {
	return &memoryStore{files: map[string]memoryFile{}, namesAll: true}
}

// call counts a call, and locks the files unless the call fails.
func (s *memoryStore) call() error {
	s.mu.Lock()
	s.calls++
	if s.calls == s.failAt || s.killed {
		s.killed = s.kills
		s.mu.Unlock()
		return errCall
	}
	return nil
}

func (s *memoryStore) Path(name string) string { return "memory/" + name }

func (s *memoryStore) List(context.Context) ([]set.File, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var all []set.File
	for name, f := range s.files {
		if s.namesAll {
			all = append(all, set.File{Name: name, Size: int64(len(f.content)), Modified: f.modified})
		} else {
			all = append(all, set.File{Name: name, Size: -1})
		}
	}
	return all, nil
}

func (s *memoryStore) Stat(_ context.Context, name string) (set.File, error) {
	if err := s.call(); err != nil {
		return set.File{}, err
	}
	defer s.mu.Unlock()
	f, ok := s.files[name]
	if !ok {
		return set.File{}, fs.ErrNotExist
	}
	if s.timeless {
		f.modified = time.Time{}
	}
	return set.File{Name: name, Size: int64(len(f.content)), Modified: f.modified}, nil
}

func (s *memoryStore) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	f, ok := s.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(f.content)), nil
}

func (s *memoryStore) Put(_ context.Context, name string, content []byte) error {
	return s.change(func() { s.files[name] = memoryFile{bytes.Clone(content), time.Now()} })
}

func (s *memoryStore) Remove(_ context.Context, name string) error {
	return s.change(func() { delete(s.files, name) })
}

// change counts a call that changes the files.
func (s *memoryStore) change(change func()) error {
	err := s.call()
	if err != nil && !s.late {
		return err
	}
	if err != nil {
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	change()
	return err
}

func (s *memoryStore) Begin(context.Context) (set.Pending, error) {
	if err := s.call(); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return &memoryTables{s: s}, nil
}

// memoryTables are the Pending of a memoryStore.
type memoryTables struct {
	s      *memoryStore
	tables []*bytes.Buffer
}

type memoryTable struct {
	*bytes.Buffer
	s *memoryStore
}

func (t memoryTable) Close() error {
	if err := t.s.call(); err != nil {
		return err
	}
	t.s.mu.Unlock()
	return nil
}

func (p *memoryTables) Create(context.Context) (io.WriteCloser, error) {
	if err := p.s.call(); err != nil {
		return nil, err
	}
	defer p.s.mu.Unlock()
	p.tables = append(p.tables, new(bytes.Buffer))
	return memoryTable{p.tables[len(p.tables)-1], p.s}, nil
}

// Publish counts as a call for each table.
func (p *memoryTables) Publish(ctx context.Context, tables []set.Table) error {
	if len(tables) != len(p.tables) {
		return fmt.Errorf("Publish of %d tables, of %d that were created", len(tables), len(p.tables))
	}
	for i, t := range tables {
		if err := p.s.Put(ctx, t.Name, p.tables[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (p *memoryTables) Abort() error { return p.s.change(func() {}) }

// A replacingStore has conditional writes.
type replacingStore struct{ *memoryStore }

func (s replacingStore) Replace(_ context.Context, name string, old, content []byte) error {
	if err := s.call(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if f, ok := s.files[name]; ok != (old != nil) || !bytes.Equal(f.content, old) {
		return set.ErrChanged
	}
	s.files[name] = memoryFile{bytes.Clone(content), time.Now()}
	return nil
}

// checkWhole checks that the store contains all tables of its manifest. It returns the manifest and the names of all
// files.
func (s *memoryStore) checkWhole(t *testing.T) (*set.Manifest, []string) {
	t.Helper()
	m, err := set.ReadManifest(bytes.NewReader(s.files[set.ManifestName].content))
	noError(t, err)
	for table := range m.All() {
		sum := sha256.Sum256(s.files[table.Name].content)
		if hex.EncodeToString(sum[:]) != table.SHA256 {
			t.Errorf("%s is not the table of the manifest", table.Name)
		}
	}
	return m, slices.Sorted(maps.Keys(s.files))
}

// buildSmall writes a set of n keys with that value in small tables or, with Layer, a layer that also removes some
// keys.
func buildSmall(t *testing.T, s set.Store, o set.BuilderOptions, n int, value string) error {
	o.EntriesPerTable = 3
	removed := 0
	if o.Layer {
		removed = n
	}
	return buildIn(t.Context(), s, o, n, removed, value, true)
}

// Whichever call of a Store fails or ends the process, all tables of the manifest exist. Without an error, the
// manifest is the new one, and a Sweep leaves only the set. With an error, it is the old one, unless the error says that
// it was or may have been written.
func TestStoreFailsAtEachCall(t *testing.T) {
	t.Parallel()
	for _, o := range []set.BuilderOptions{{}, {Layer: true}, {Lease: set.NewLease()}} {
		for mode := range 4 {
			for failAt := 1; ; failAt++ {
				s := newMemoryStore()
				s.namesAll = failAt%2 == 0
				noError(t, buildSmall(t, s, set.BuilderOptions{}, 20, "old"))
				old := string(s.files[set.ManifestName].content)
				s.calls, s.failAt, s.kills, s.late = 0, failAt, mode%2 == 1, mode >= 2
				err := buildSmall(t, s, o, 20, "new")
				s.failAt, s.killed = 0, false
				s.checkWhole(t)
				isNew := string(s.files[set.ManifestName].content) != old
				if err == nil && !isNew || err != nil && isNew && !strings.Contains(err.Error(), "written") {
					t.Errorf("%+v, call %d: %v; the manifest is new: %t", o, failAt, err, isNew)
				}
				checkSwept(t, s)
				if s.calls < failAt {
					break // no call has failed
				}
				if !errors.Is(err, errCall) {
					t.Errorf("%+v, call %d: %v, want an error", o, failAt, err)
				}
			}
		}
	}
}

// checkSwept sweeps the store after leases have expired, and checks that only the set remains.
func checkSwept(t *testing.T, s *memoryStore) {
	t.Helper()
	calls := s.calls
	for name, f := range s.files {
		if strings.HasSuffix(name, ".lease") {
			checkError(t, "Sweep beside "+name, set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}), set.ErrBuilding, "")
			s.files[name] = memoryFile{f.content, time.Now().Add(-25 * time.Hour)}
		}
	}
	noError(t, set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}))
	m, names := s.checkWhole(t)
	if n := len(slices.Collect(m.All())); len(names) != n+1 {
		t.Errorf("files %q after Sweep, want a manifest of %d tables", names, n)
	}
	s.calls = calls
}

// With conditional writes, no layer is lost, even without a lock.
func TestManyLayersWithoutLock(t *testing.T) {
	t.Parallel()
	for range rounds(5, 100) {
		s := newMemoryStore()
		noError(t, buildSmall(t, replacingStore{s}, set.BuilderOptions{}, 5, "v"))
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := buildSmall(t, replacingStore{s}, set.BuilderOptions{Layer: true}, 1+i, fmt.Sprint(i%2)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if m, _ := s.checkWhole(t); len(m.Layers) != 8 {
			t.Errorf("%d layers, want 8", len(m.Layers))
		}
		checkSwept(t, s)
	}
}

// A set that another program has written meanwhile is not replaced.
func TestSetThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := replacingStore{newMemoryStore()}
	other := false
	o := set.BuilderOptions{Check: func(*set.Manifest) error {
		if other { // after Commit has read the manifest
			s.files[set.ManifestName] = memoryFile{[]byte("{}"), time.Now()}
		}
		other = true
		return nil
	}}
	checkError(t, "Commit", buildSmall(t, s, o, 5, "v"), set.ErrChanged, "")
	if got := string(s.files[set.ManifestName].content); got != "{}" {
		t.Errorf("the manifest is %s, want the other program's", got)
	}
}

// A lease lasts a day. If its time is unknown, it does not expire.
func TestLeaseLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, lease := newMemoryStore(), set.NewLease()
		noError(t, buildIn(t.Context(), s, set.BuilderOptions{Lease: lease}, 0, 0, "", false))
		time.Sleep(24*time.Hour - time.Second)
		for _, unknown := range []bool{false, true} {
			s.namesAll, s.timeless = !unknown, unknown
			checkError(t, "Sweep", set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}), set.ErrBuilding, lease)
			time.Sleep(time.Second)
		}
		s.namesAll = true
		if err := set.Sweep(t.Context(), s, &set.SweepOptions{AnyAge: true}); err != nil || len(s.files) > 0 {
			t.Errorf("Sweep after a day: %v, files %v", err, s.files)
		}
	})
}
