package day

import (
	"context"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/table/set"
)

// A fault is a temporary failure of an object.
type fault struct {
	kind  string
	ended chan struct{}
}

// kinds are the kinds of faults.
var kinds = []string{"lost", "500", "hangs up", "slow", "stalls", "half", "cut", "other", "bit"}

// faults are the current faults of objects, by the names that objectOf returns.
type faults struct {
	bucket *blob.Bucket // bypasses the faults

	mu      sync.Mutex
	rng     *rand.Rand
	now     map[string]fault
	victims []map[string]bool // objects that may have faults, by step
	others  []string          // objects that may be sent instead of the requested one
	stop    func()
}

// manifest and list are the names of objects other than tables: the set's manifest, and the list of all objects.
const (
	manifest = "set"
	list     = "list"
)

// objectOf returns the name of the requested object: the SHA-256 of a table, manifest, or list.
func objectOf(urlPath string) string {
	switch name := path.Base(urlPath); {
	case name == set.ManifestName:
		return manifest
	case len(name) > 64:
		return name[:64]
	}
	return list
}

// begin begins a step, in which some of the tables, the manifest and the list may get faults.
func (f *faults) begin(tables []set.Table) {
	f.mu.Lock()
	f.victims = append(f.victims, map[string]bool{manifest: true, list: true})
	f.mu.Unlock()
	f.add(tables)
	ctx, cancel := context.WithCancel(context.Background())
	var changes sync.WaitGroup
	changes.Go(func() {
		for ctx.Err() == nil {
			f.change()
			time.Sleep(5 * time.Millisecond)
		}
	})
	f.stop = func() { cancel(); changes.Wait() }
}

// add allows faults for some more tables.
func (f *faults) add(tables []set.Table) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range tables {
		f.others = append(f.others, t.SHA256+".ldb")
		if f.rng.IntN(3) == 0 {
			f.victims[len(f.victims)-1][t.SHA256] = true
		}
	}
}

// change starts or ends an object's fault.
func (f *faults) change() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for name := range f.victims[len(f.victims)-1] {
		names = append(names, name)
	}
	slices.Sort(names)
	name, kind := names[f.rng.IntN(len(names))], ""
	if f.rng.IntN(3) == 0 {
		kind = kinds[f.rng.IntN(len(kinds))]
	}
	if kind == "bit" && (name == manifest || name == list) { // they have no checksums
		kind = "cut"
	}
	f.set(name, kind)
	if f.rng.IntN(50) == 0 {
		f.spoil(name)
	}
}

// set gives an object a fault. The caller holds mu.
func (f *faults) set(name, kind string) {
	if old, ok := f.now[name]; ok {
		close(old.ended)
		delete(f.now, name)
	}
	if kind != "" {
		f.now[name] = fault{kind, make(chan struct{})}
	}
}

// spoil deletes or truncates a table in the store, until it is put again.
func (f *faults) spoil(name string) {
	key, ctx := name+".ldb", context.Background()
	contents, err := f.bucket.ReadAll(ctx, key)
	switch {
	case err != nil || len(contents) == 0: // missing, or not a table
	case f.rng.IntN(2) == 0:
		f.bucket.Delete(ctx, key)
	default:
		f.bucket.WriteAll(ctx, key, contents[:f.rng.IntN(len(contents))], nil)
	}
}

// end ends all faults of the step.
func (f *faults) end() {
	f.stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.now {
		f.set(name, "")
	}
}

// calm begins a step without faults. Lookups that begin in it must have answers.
func (f *faults) calm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.victims = append(f.victims, nil)
}

// step returns the number of the step.
func (f *faults) step() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.victims) - 1
}

// wereIn reports whether one of the tables may have had a fault since the step.
func (f *faults) wereIn(step int, sums []string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, victims := range f.victims[step:] {
		if slices.ContainsFunc(sums, func(sum string) bool { return victims[sum] }) {
			return true
		}
	}
	return false
}

// of returns the fault of an object, and a random number for it.
func (f *faults) of(name string) (fault, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now[name], f.rng.Int()
}

// another returns the key of a random table, to be sent instead of another object.
func (f *faults) another() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.others[f.rng.IntN(len(f.others))]
}

// newFaults returns the faults for objects of a bucket.
func newFaults(t *testing.T, bucket *blob.Bucket, seed uint64) *faults {
	f := &faults{bucket: bucket, rng: rand.New(rand.NewPCG(seed, 2)), now: map[string]fault{}, stop: func() {}}
	f.calm()
	t.Cleanup(f.end) // before the proxy is closed, which waits for its requests
	return f
}
