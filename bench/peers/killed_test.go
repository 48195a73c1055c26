package main

import (
	"bufio"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
)

// kills returns the number of databases of each engine to kill: SIEVETABLE_KILLS, or a few if that is not set.
func kills(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("SIEVETABLE_KILLS")
	if !ok {
		return 3
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SIEVETABLE_KILLS is %q, want a number ≥ 1", text)
	}
	return n
}

// After an engine is killed while it holds snapshots and compacts, the command reads the same pairs from its
// database as the engine that recovers a copy.
func TestKilledDatabases(t *testing.T) {
	long.Test(t)
	t.Parallel()
	sst, n := buildSST(t), kills(t)
	eachRecoverer(t, func(t *testing.T, e recoverer) {
		l := lives{engine: e, sst: sst}
		for seed := range n {
			if seed%5 == 0 || l.broken {
				l.begin(t, seed)
			}
			l.killAndCompare(t, seed)
		}
		t.Logf("%d kills: %d answers differ, %d databases the engine could not recover", n, l.different, l.unrecovered)
		if l.unrecovered > n/5 {
			t.Error("the engine failed to recover more than a fifth of its databases")
		}
	})
}

// lives is a series of databases, each of which is opened and killed a few times.
type lives struct {
	engine recoverer
	sst    sstCommand

	dir                    string
	fresh                  bool // there is no database in dir yet
	broken                 bool // the engine cannot recover the database in dir
	different, unrecovered int
}

func (l *lives) begin(t *testing.T, seed int) {
	l.dir, l.fresh, l.broken = filepath.Join(t.TempDir(), strconv.Itoa(seed)), true, false
}

func (l *lives) killAndCompare(t *testing.T, seed int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 14))
	l.kill(t, rng)
	l.checkRepair(t, seed)
	difference, err := l.engine.compare(t, l.sst, l.dir)
	if err != nil {
		t.Logf("seed %d: %s cannot recover its database: %v", seed, l.engine.name, err)
		l.unrecovered, l.broken = l.unrecovered+1, true
	}
	if difference == "" {
		return
	}
	t.Errorf("seed %d: %s", seed, difference)
	if l.different++; l.different == 1 {
		l.keep(t)
	}
}

// checkRepair checks that sst repair loses nothing of a killed database.
func (l *lives) checkRepair(t *testing.T, seed int) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "repaired")
	status, out, stderr := l.sst.call("repair", l.dir, "-o", to)
	_, want, _ := l.sst.call("scan", l.dir)
	if _, got, _ := l.sst.call("scan", to); status != 0 || got != want {
		t.Errorf("seed %d: sst repair has status %d and %d bytes of pairs, want 0 and %d: %s%s", seed, status, len(got), len(want), out, stderr)
	}
	if strings.Contains(out, "may be outdated") {
		t.Logf("seed %d: %s%s", seed, out, stderr)
	}
}

// keep copies the database, since its seed does not reproduce it.
func (l *lives) keep(t *testing.T) {
	t.Helper()
	kept, err := os.MkdirTemp("", "killed-")
	if err == nil {
		err = os.CopyFS(kept, os.DirFS(l.dir))
	}
	t.Logf("the database is kept in %s (%v)", kept, err)
}

// kill has the engine work on the database, and kills it at a random moment: usually after it has opened the
// database, sometimes while it recovers.
func (l *lives) kill(t *testing.T, rng *rand.Rand) {
	t.Helper()
	cmd := l.engine.churn(l.dir, rng.IntN(2) == 0)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	noError(t, err)
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	after := time.Duration(rng.IntN(int(30 * time.Millisecond)))
	go writeOps(in, churn(rand.New(rand.NewPCG(rng.Uint64(), 14))))
	if rng.IntN(5) > 0 || l.fresh {
		after = time.Duration(rng.IntN(int(600 * time.Millisecond)))
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Fatalf("%s says %q, %v", l.engine.name, line, err)
		}
	}
	time.Sleep(after)
	noError(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("%s ended by itself: %v", l.engine.name, err)
	}
	l.fresh = false
}
