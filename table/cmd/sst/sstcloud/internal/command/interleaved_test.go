package command

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// writeSets writes sets whose tables have one key each.
func writeSets(t *testing.T, all ...string) map[string]string {
	t.Helper()
	sets := map[string]string{}
	for _, keys := range all {
		sets[keys] = t.TempDir()
		_, err := writeDir(sets[keys], slices.Chunk(strings.Split(keys, ""), 1), withBlocks)
		noError(t, err)
	}
	return sets
}

// An interleaving is a program, and other programs that run before one of its requests.
type interleaving struct {
	name  string
	outer func(*world) *program
	inner []func(*world) *program
}

func put(keys string, manifest ...string) func(*world) *program {
	return func(w *world) *program { return w.put(keys, manifest...) }
}

type those = []func(*world) *program

var interleavings = []interleaving{
	{"put, put", put("ac"), those{put("bd")}},
	{"put, sweep", put("ac"), those{(*world).sweep}},
	{"put, put and sweep", put("ac"), those{put("bd"), (*world).sweep}},
	{"put, sweep and put", put("ac"), those{(*world).sweep, put("bd")}},
	{"put, put and sweep and the old put", put("ac"), those{put("bd"), (*world).sweep, put("ab")}},
	{"put of the same", put("ab"), those{put("bd"), (*world).sweep}},
	{"put to another manifest", put("ac", "day.jsonl"), those{put("bd"), (*world).sweep}},
	{"put, put of the same", put("ac"), those{put("ac"), (*world).sweep}},
	{"sweep, put", (*world).sweep, those{put("ac")}},
	{"sweep, puts", (*world).sweep, those{put("cd"), put("ab")}},
	{"sweep, put and sweep", (*world).sweep, those{put("ac"), (*world).sweep}},
}

// Whichever programs run between two requests of a program, no manifest lists a deleted table unless a program
// reports that, and no put replaces a manifest that it has not read.
func TestInterleaved(t *testing.T) {
	long.Test(t)
	bucket, sets := openWorlds(t)
	worlds, puts := 0, map[int]bool{} // exit statuses of puts
	for _, tt := range interleavings {
		for request, more := 0, true; more && !t.Failed(); request++ {
			worlds++
			w := newWorld(t, bucket, worlds, sets)
			if more = tt.run(w, request); t.Failed() {
				t.Errorf("%s, before request %d: %v", tt.name, request, w.ended)
			}
			for _, p := range w.ended {
				puts[p.status] = puts[p.status] || p.keys != ""
			}
		}
	}
	if !puts[cli.ExitOK] || !puts[cli.ExitUsage] || !puts[cli.ExitDamaged] {
		t.Errorf("exit statuses of puts: %v, want 0, 2 and 3", puts)
	}
}

// openWorlds opens the test's bucket, and writes the sets to put.
func openWorlds(t *testing.T) (*blob.Bucket, map[string]string) {
	t.Helper()
	s3test.SetCredentials(t.Setenv)
	return s3test.Open(t, s3test.Server()), writeSets(t, "ab", "ac", "bd", "cd")
}

// run runs the inner programs before a request of the outer one. It returns false if the outer one has fewer
// requests.
func (i interleaving) run(w *world, request int) (more bool) {
	outer := i.outer(w)
	var mu sync.Mutex // a sweep sends several requests at a time
	n := 0
	outer.step = func() func() {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == request+1 {
			for _, inner := range i.inner {
				inner(w).run().checkEnd()
			}
		}
		return func() {}
	}
	outer.run().checkEnd()
	w.checkEnds()
	return n > request
}

// An event is a request that waits for its turn, a request that was answered, or the end of a program.
type event struct {
	p     *program
	turn  chan<- struct{} // nil: the request was answered
	ended bool
}

// The guarantees of TestInterleaved hold for any order of requests of concurrent puts and sweeps.
func TestRandomOrders(t *testing.T) {
	bucket, sets := openWorlds(t)
	all := []string{"ab", "ac", "bd", "cd"}
	for seed := range long.Rounds(5, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 12))
		w := newWorld(t, bucket, seed, sets)
		var ps []*program
		for range 2 + r.IntN(3) {
			ps = append(ps, w.put(all[r.IntN(len(all))]))
		}
		for range 1 + r.IntN(2) {
			ps = append(ps, w.sweep())
		}
		runInOrder(r, ps)
		if w.checkEnds(); t.Failed() {
			t.Fatalf("seed %d: %v", seed, w.ended)
		}
	}
}

// runInOrder runs programs concurrently, and answers their requests one at a time, in random order.
func runInOrder(r *rand.Rand, ps []*program) {
	events := make(chan event)
	waiting, live, answering := map[*program][]chan<- struct{}{}, 0, 0
	for len(ps)+live > 0 {
		if i := r.IntN(len(ps) + live); i < len(ps) {
			p := ps[i]
			ps = slices.Delete(ps, i, i+1)
			p.step = func() func() {
				turn := make(chan struct{})
				events <- event{p: p, turn: turn}
				<-turn
				return func() { events <- event{p: p} }
			}
			waiting[p] = nil
			live++
			go func() {
				p.run()
				events <- event{p: p, ended: true}
			}()
		} else {
			p := order(waiting)[i-len(ps)]
			turns := waiting[p]
			waiting[p] = turns[1:]
			answering++
			close(turns[0])
		}
		for answering > 0 || slices.ContainsFunc(order(waiting), func(p *program) bool { return len(waiting[p]) == 0 }) {
			switch e := <-events; {
			case e.ended:
				delete(waiting, e.p)
				live--
				e.p.checkEnd()
			case e.turn != nil:
				waiting[e.p] = append(waiting[e.p], e.turn)
			default:
				answering--
			}
		}
	}
}

// order returns the programs in order of creation.
func order(waiting map[*program][]chan<- struct{}) []*program {
	return slices.SortedFunc(maps.Keys(waiting), func(a, b *program) int { return a.number - b.number })
}
