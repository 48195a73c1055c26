package day

import (
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// A day is the life of a set: it is built, uploaded, served, changed by layers, folded, and swept.
type day struct {
	*programs
	*checker
	t          *testing.T
	dir, store string // directory where the set is built, and URL to which it is uploaded
	sst        string
	perTable   string
	present    []bool // the current list
}

// The service never gives a wrong answer while a set changes, its builds, puts, services and sweeps are killed, and
// its store fails. A lookup has no answer only while one of the key's tables has a fault.
func TestDay(t *testing.T) {
	n, layers, perTable := 10_000, 3, "1000"
	if long.Enabled() {
		n, layers, perTable = 1_000_000, 10, "50000"
	}
	const seed = 1
	d := newDay(t, n, seed)
	d.perTable = perTable
	rng := rand.New(rand.NewPCG(seed, 3))
	lines := filepath.Join(t.TempDir(), "base")
	d.present = writeBase(t, rng, n, lines)
	d.must(d.sst, "build", "--input-format", "raw-keys", "--entries-per-table", perTable, "-o", d.dir, lines)
	d.must("sstcloud", "put", d.dir, d.store)
	d.model.add(t, d.present, d.dir)
	d.service.start(d.programs)
	t.Cleanup(d.service.end)
	stop := d.lookUpUntil(rng.Uint64())
	for range layers {
		d.change(rng, d.addLayer)
	}
	d.change(rng, d.fold)
	d.sweep(rng)
	stop()
	d.lookUpAll()
	t.Logf("%d wrong answers; 200: %d, 404: %d, 503: %d, none during a restart: %d; %d programs killed while they ran",
		d.wrong.Load(), d.answers[200].Load(), d.answers[404].Load(), d.answers[503].Load(), d.answers[0].Load(), d.cuts)
}

// newDay starts the store and the proxy in front of it, and builds the programs.
func newDay(t *testing.T, n int, seed uint64) *day {
	t.Helper()
	s3test.SetCredentials(t.Setenv)
	t.Setenv("AWS_MAX_ATTEMPTS", "1") // no retry hides a fault
	proxy := s3test.NewProxy(t)
	f := newFaults(t, s3test.Open(t, s3test.Server()), seed)
	proxy.Spoil(f.answer)
	store := s3test.BucketURL(t, proxy.URL)
	bin := build(t)
	s := &service{t: t, args: []string{filepath.Join(bin, "service"), "-url", store, "-address", "127.0.0.1:0", "-timeout", "5m"}} // longer than any stall
	return &day{
		programs: &programs{t: t, rng: rand.New(rand.NewPCG(seed, 1)), took: map[string]time.Duration{}},
		checker: &checker{
			t: t, n: n, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
			service: s, model: new(model), faults: f,
		},
		t: t, dir: filepath.Join(t.TempDir(), "set"), store: store, sst: filepath.Join(bin, "sst"),
	}
}

// lookUpUntil looks up random keys until stop is called or the test ends.
func (d *day) lookUpUntil(seed uint64) (stop func()) {
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, i))
		all.Go(func() {
			for {
				select {
				case <-ended:
					return
				case <-time.After(5 * time.Millisecond):
					d.lookUp(rng.IntN(d.n))
				}
			}
		})
	}
	stop = sync.OnceFunc(func() { close(ended); all.Wait() })
	d.t.Cleanup(stop)
	return stop
}

// lookUpAll looks up all keys.
func (d *day) lookUpAll() {
	const atATime = 4
	var all sync.WaitGroup
	for first := range atATime {
		all.Go(func() {
			for i := first; i < d.n; i += atATime {
				d.lookUp(i)
			}
		})
	}
	all.Wait()
}

// change builds and uploads a new version, and makes the service load it, while the store fails. Each of these is
// killed once.
func (d *day) change(rng *rand.Rand, build func(rng *rand.Rand)) {
	d.t.Helper()
	d.faults.begin(d.model.newest().tables)
	build(rng)
	d.faults.add(d.model.add(d.t, d.present, d.dir).tables)
	put := []string{"sstcloud", "put", d.dir, d.store}
	d.kill(put...)
	d.until(func() (string, error) { return d.run(put...) })
	var reload sync.WaitGroup
	reload.Go(func() { d.reload() })
	d.sleep("reload")
	d.service.restart(d.programs)
	reload.Wait()
	d.until(func() (string, error) {
		began := time.Now()
		out, err := d.reload()
		if d.took["reload"] = time.Since(began); err != nil && rng.IntN(4) == 0 {
			d.run(put...) // restores lost tables
		}
		return out, err
	})
	d.model.swapped()
	d.settle(rng)
}

// settle ends the faults. From then on all lookups have answers.
func (d *day) settle(rng *rand.Rand) {
	d.t.Helper()
	d.faults.end()
	d.must("sstcloud", "put", d.dir, d.store) // restores lost tables
	if out, err := d.health(); err != nil {
		d.t.Errorf("after the faults: %v: %s", err, out)
	}
	d.faults.calm()
	for range 50 {
		d.lookUp(rng.IntN(d.n))
	}
}

// addLayer adds a layer to the set. If the killed build has already added it, the set has it twice.
func (d *day) addLayer(rng *rand.Rand) {
	d.t.Helper()
	added, removed := filepath.Join(d.t.TempDir(), "added"), filepath.Join(d.t.TempDir(), "removed")
	d.present = writeChanges(d.t, rng, d.present, added, removed)
	d.killOnce(d.sst, "build", "--layer-of", d.dir, "--input-format", "raw-keys", "--delete", removed, added)
}

// fold writes the set again without layers.
func (d *day) fold(*rand.Rand) {
	d.t.Helper()
	folded := d.dir + "-folded"
	d.killOnce(d.sst, "merge", "--force", d.dir, "-o", folded+string(filepath.Separator), "--entries-per-table", d.perTable)
	d.dir = folded
}

// killOnce runs a program, kills it, and runs it again.
func (d *day) killOnce(args ...string) {
	d.t.Helper()
	d.kill(args...)
	d.must(args...)
}

// sweep deletes tables that the set no longer has, while the store fails. It is killed once.
func (d *day) sweep(rng *rand.Rand) {
	d.t.Helper()
	d.faults.begin(d.model.newest().tables)
	versions := d.model.since(0)
	d.faults.add(versions[len(versions)-2].tables) // the tables to be deleted
	sweep := []string{"sstcloud", "sweep", "--delete", "--age", "0s", d.store}
	d.kill(sweep...)
	d.until(func() (string, error) { return d.run(sweep...) })
	d.settle(rng)
	d.must(sweep...)
	want := map[string]bool{set.ManifestName: true}
	for _, t := range d.model.newest().tables {
		want[t.SHA256+".ldb"] = true
	}
	if diff := cmp.Diff(want, d.objects()); diff != "" {
		d.t.Errorf("objects after the sweep (-want +got):\n%s", diff)
	}
	d.must("sstcloud", "verify", d.store)
}

// objects returns the keys of all objects in the store.
func (d *day) objects() map[string]bool {
	d.t.Helper()
	keys := map[string]bool{}
	for list := d.faults.bucket.List(nil); ; {
		o, err := list.Next(d.t.Context())
		if err == io.EOF {
			return keys
		}
		noError(d.t, err)
		keys[o.Key] = true
	}
}
