package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// writeOverwritten has goleveldb write a database of several levels and a live log: keys that are
// written again and again, of which many are deleted.
func writeOverwritten(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	o := &opt.Options{WriteBuffer: 16<<10 + rng.IntN(64<<10), CompactionTableSize: 8<<10 + rng.IntN(16<<10), BlockSize: 1 << 10, Filter: filter.NewBloomFilter(10)}
	writeTo(t, dir, o, func(db *leveldb.DB) (err error) {
		for i := range 6000 + rng.IntN(3000) {
			batch := new(leveldb.Batch)
			for range 1 + rng.IntN(3) {
				key := fmt.Appendf(nil, "key%04d", rng.IntN(2500))
				if rng.IntN(4) == 0 {
					batch.Delete(key)
				} else {
					batch.Put(key, fmt.Appendf(nil, "value %d %0*d", i, rng.IntN(100), 1))
				}
			}
			err = errors.Join(err, db.Write(batch, nil))
		}
		return err
	})
}

// Whatever is damaged of a database, what lies outside is shown, and nothing older in the place of
// what is lost without a message.
func TestDamagedDatabases(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range rounds(1, 5) {
		rng := rand.New(rand.NewPCG(uint64(seed), 28))
		dir := filepath.Join(t.TempDir(), "db")
		writeOverwritten(t, rng, dir)
		s, err := dbdamage.Read(sst, dir)
		noError(t, err)
		for _, err := range s.Try(rng, rounds(12, 100), t.TempDir) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// A table whose name is a link that leads nowhere is lost, and the rest of its database is read.
func TestTableIsADanglingLink(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	mustSST(t, "build", "--database", "--table-size", "1B", "-o", dir, tempFile(t, "lines", "a\t1\nb\t2\nc\t3\n"))
	name := filepath.Join(dir, "000003.ldb") // which has b
	if err := errors.Join(os.Remove(name), os.Symlink("nowhere", name)); err != nil {
		t.Skip(err)
	}
	const what = "a link to a file that does not exist"
	for _, args := range [][]string{{"verify", dir}, {"scan", dir}, {"get", dir, "b"}, {"repair", dir, "-o", dir + ".new"}} {
		status, out, stderr := sst(args...)
		if said := out + stderr; status != cli.ExitDamaged || !strings.Contains(said, what) || strings.Contains(said, "changed while") {
			t.Errorf("%v: status %d, want %d, and that it is %s:\n%s", args, status, cli.ExitDamaged, what, said)
		}
	}
	if got := mustSST(t, "scan", dir+".new"); got != "a\t1\nc\t3\n" {
		t.Errorf("the new database has %q", got)
	}
}

// A CURRENT that is cut within the name of the MANIFEST is at fault itself, and not the MANIFEST of the shorter name,
// which never was. It is said once.
func TestCutCurrent(t *testing.T) {
	t.Parallel()
	sound := writeSmall(t)
	current := readFile(t, filepath.Join(sound, "CURRENT"))
	for n := len("MANIFEST-0"); n < len(strings.TrimSpace(string(current))); n++ {
		dir := copyOf(t, sound)
		noError(t, os.Truncate(filepath.Join(dir, "CURRENT"), int64(n)))
		for _, command := range databaseCommands {
			checkMessages(t, sound, dir, "CURRENT", "truncated", command)
		}
	}
}

// With --strict, damage of the state of a database ends a command before it prints anything.
func TestStrictStates(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"CURRENT", "MANIFEST-*"} {
		dir := writeSmall(t)
		name := onlyFile(t, filepath.Join(dir, file))
		noError(t, os.Remove(name))
		for _, args := range [][]string{{"get", "--strict", dir, "a0007"}, {"scan", "--strict", dir}, {"diff", "--strict", dir, dir}} {
			if status, stdout, stderr := sst(args...); status != cli.ExitDamaged || stdout != "" || !strings.Contains(stderr, filepath.Base(name)) {
				t.Errorf("without %s: %v: status %d, %q, %q", file, args, status, stdout, stderr)
			}
		}
	}
}
