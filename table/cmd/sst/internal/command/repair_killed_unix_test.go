//go:build unix

package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// If sst repair or sst merge --database is killed, it leaves the old database unchanged, byte for byte, and no new
// one or a complete one. It may leave temporary files.
func TestKilledDatabaseCopies(t *testing.T) {
	t.Parallel()
	kills := rounds(4, 50)
	for _, name := range []string{"repair", "merge --database"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(53, 1))
			c := newKilledCopy(t, rng, name)
			for n := range kills {
				c.kill(t, rng, filepath.Join(c.parent, fmt.Sprint("new", n)))
			}
			t.Logf("%d kills left %d new databases", kills, c.whole)
		})
	}
}

// A killedCopy is a command that copies a database, and the contents of both databases.
type killedCopy struct {
	program, name, dir, parent string
	files                      map[string]string // of dir
	pairs                      string            // of a new database
	takes                      time.Duration     // about how long the command takes
	whole                      int               // number of new databases found
}

// newKilledCopy writes a database, damages a table of it for sst repair, and copies it once.
func newKilledCopy(t *testing.T, rng *rand.Rand, name string) *killedCopy {
	t.Helper()
	c := &killedCopy{program: scripttest.Link(t, "sst"), name: name, dir: filepath.Join(t.TempDir(), "db"), parent: t.TempDir()}
	writeOverwritten(t, rng, c.dir)
	if name == "repair" {
		tables, err := filepath.Glob(filepath.Join(c.dir, "*.ldb"))
		if err != nil || len(tables) == 0 {
			t.Fatalf("%v, %v; want tables", tables, err)
		}
		if _, _, err := dbdamage.Apply(rng, tables[0], dbdamage.Flipped); err != nil {
			t.Fatal(err)
		}
	}
	c.files = filesOf(t, c.dir)
	to, start := filepath.Join(c.parent, "first"), time.Now()
	if out, err := exec.Command(c.program, append(strings.Fields(name), c.dir, "-o", to)...).CombinedOutput(); err != nil && name != "repair" {
		t.Fatalf("%v, %s", err, out)
	}
	c.takes, c.pairs = time.Since(start), mustSST(t, "scan", to)
	return c
}

// kill runs the command, and kills it at a random time, usually before it ends.
func (c *killedCopy) kill(t *testing.T, rng *rand.Rand, to string) {
	t.Helper()
	cmd := exec.Command(c.program, append(strings.Fields(c.name), c.dir, "-o", to, "--table-size", "16KiB")...)
	noError(t, cmd.Start())
	time.Sleep(time.Duration(rng.Int64N(int64(c.takes * 3 / 2))))
	cmd.Process.Kill() // fails if it has ended
	cmd.Wait()         // it was killed, or says that the database is damaged
	c.checkLeft(t, to)
}

// checkLeft checks the files that a killed command has left.
func (c *killedCopy) checkLeft(t *testing.T, to string) {
	t.Helper()
	if diff := cmp.Diff(c.files, filesOf(t, c.dir)); diff != "" {
		t.Fatalf("the old database (-before +after):\n%.2000s", diff)
	}
	entries, err := os.ReadDir(c.parent)
	noError(t, err)
	for _, e := range entries {
		path := filepath.Join(c.parent, e.Name())
		switch name := e.Name(); {
		case strings.HasPrefix(name, "sievetable-") && strings.HasSuffix(name, ".tmp"):
			noError(t, os.RemoveAll(path))
		case path == to:
			c.whole++
			c.check(t, to)
		}
	}
}

// check checks that a new database is complete.
func (c *killedCopy) check(t *testing.T, dir string) {
	t.Helper()
	mustSST(t, "verify", "--quiet", dir)
	checkPrints(t, c.pairs, "scan", dir)
}
