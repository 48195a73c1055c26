package database_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// killedEnv makes the test binary write databases until it is killed, instead of running tests. Its value is the
// name of a writer, a colon and a directory.
const killedEnv = "SIEVETABLE_TEST_WRITE_DATABASES"

// writers write databases, and print when they are ready to be killed.
var writers = map[string]func(parent string) error{"": writeForEver, "whole": writeAnother, "half": writeHalf}

func init() {
	if name, parent, ok := strings.Cut(os.Getenv(killedEnv), ":"); ok {
		fmt.Println(writers[name](parent))
		os.Exit(1)
	}
}

// writeAnother writes a database before it gets ready.
func writeAnother(parent string) error {
	return errors.Join(writeKeys(filepath.Join(parent, "first"), 1000), writeForEver(parent))
}

// writeHalf gets ready in the middle of a database, and stays there.
func writeHalf(parent string) error {
	w, err := database.Create(filepath.Join(parent, "half"), nil)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.Append([]byte("key"), nil); err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

// writeForEver writes databases of many sizes, forever.
func writeForEver(parent string) error {
	fmt.Println("ready")
	for i, n := 0, 1; ; i, n = i+1, n*3%1000+1 {
		if err := writeKeys(filepath.Join(parent, fmt.Sprint(i)), n); err != nil {
			return err
		}
	}
}

// writeKeys writes a database of n keys. The last key contains n.
func writeKeys(dir string, n int) error {
	w, err := database.Create(dir, &database.WriterOptions{TableSize: 2000})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	for i := range n {
		if err := w.Append(fmt.Appendf(nil, "%06d", i), make([]byte, 20)); err != nil {
			return err
		}
	}
	return errors.Join(w.Append([]byte("end"), fmt.Append(nil, n)), w.Close())
}

// A process that is killed at any point between Create and Close leaves no database under the name, or a complete
// one. Anything else that it leaves has the name that Create documents.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	runs := 20
	if long.Enabled() && !testing.Short() {
		runs = 300
	}
	rng := rand.New(rand.NewPCG(1, 1))
	whole, left := 0, 0
	for run := range runs {
		parent, writer := t.TempDir(), ""
		if run < 2 { // on a slow machine, perhaps only these runs do it
			writer = []string{"whole", "half"}[run]
		}
		cmd := tabletest.Self(t, killedEnv+"="+writer+":"+parent)
		tabletest.Kill(t, cmd, time.Duration(rng.IntN(20_000))*time.Microsecond)
		entries, err := os.ReadDir(parent)
		noError(t, err)
		for _, e := range entries {
			if name := e.Name(); strings.HasPrefix(name, "sievetable-") && strings.HasSuffix(name, ".tmp") {
				left++
				continue
			}
			checkWhole(t, filepath.Join(parent, e.Name()))
			whole++
		}
	}
	t.Logf("%d runs: %d whole databases, %d temporary directories left", runs, whole, left)
	if whole == 0 || left == 0 || left > runs {
		t.Errorf("%d whole databases and %d temporary directories after %d runs, want some, and at most one of these for each", whole, left, runs)
	}
}

// checkWhole checks that a database has as many keys as its last key says.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	entries, _ := read(t, dir, table.BytewiseComparer)
	if n := len(entries) - 1; n < 1 || string(entries[n].Value) != fmt.Sprint(n) {
		t.Errorf("a database of %d keys, want a last one that says so", n)
	}
}
