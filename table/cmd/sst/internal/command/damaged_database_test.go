package command

import (
	"encoding/json"
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
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// writeOverwritten has goleveldb write a database with several levels and a live log. Its keys are overwritten again
// and again, and many are deleted.
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

// Whatever part of a database is damaged, entries outside it are shown, and no older version takes the place of a
// lost one without a message.
func TestDamagedDatabases(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed, rng := range seeds(rounds(1, 5), 28) {
		dir := filepath.Join(t.TempDir(), "db")
		writeOverwritten(t, rng, dir)
		s, err := dbdamage.Read(sst, dir)
		noError(t, err)
		for _, err := range s.Try(rng, rounds(12, 100), t.TempDir) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// inPlaces replace a file by something else, which messages call by these names.
var inPlaces = map[string]func(name string) error{
	"a link to a file that does not exist": func(name string) error { return os.Symlink("nowhere", name) },
	"a directory, not a regular file":      func(name string) error { return os.Mkdir(name, 0o777) },
}

// If a table or a live log is a dangling link or a directory, it is lost. The rest of its database is read, with or
// without CURRENT.
func TestWhatIsInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	for what, put := range inPlaces {
		for file, rest := range map[string]string{"000002.ldb": "a\t1\nc\t3\n", "000003.log": "a\t1\nb\t2\n"} {
			for _, current := range []string{"CURRENT", "no CURRENT"} {
				d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
				d.table(t, 1, 1, []rawEntry{{"a", 1, internalkey.Set, "1"}}, nil)
				d.table(t, 1, 1, []rawEntry{{"b", 2, internalkey.Set, "2"}}, nil)
				d.log(t, []rawEntry{{"c", 3, internalkey.Set, "3"}})
				d.nameLog(versions.FieldLog, d.number)
				d.last = 2
				d.end(t)
				name := filepath.Join(d.dir, file)
				if err := errors.Join(os.Remove(name), put(name), os.Rename(filepath.Join(d.dir, "CURRENT"), filepath.Join(d.dir, current))); err != nil {
					t.Skip(err)
				}
				for _, args := range [][]string{{"verify", d.dir}, {"scan", d.dir}, {"get", d.dir, "b", "c"}, {"stats", d.dir}, {"report", d.dir, "-o", d.dir + ".html"}, {"repair", d.dir, "-o", d.dir + ".new"}} {
					status, out, stderr := sst(args...)
					if said := out + stderr; status != cli.ExitDamaged || !strings.Contains(said, what) || strings.Contains(said, "changed while") {
						t.Errorf("%v: status %d, want %d, and that %s is %s:\n%s", args, status, cli.ExitDamaged, file, what, said)
					}
				}
				checkPrints(t, rest, "scan", d.dir+".new")
			}
		}
	}
}

// If the newest versions of a key are in a corrupt data block, get shows the newest one after it, like scan.
func TestGetPastDamage(t *testing.T) {
	t.Parallel()
	d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
	file := d.table(t, 0, 1, []rawEntry{{"k", 5, internalkey.Set, "5"}, {"k", 4, internalkey.Set, "4"}}, nil)
	d.end(t)
	flipAt(t, file, 0)
	_, scanned, _ := sst("scan", d.dir)
	if status, got, stderr := sst("get", d.dir, "k"); status != cli.ExitDamaged || got != "4\n" || scanned != "k\t4\n" {
		t.Errorf("status %d, get shows %q, scan %q; %s", status, got, scanned, stderr)
	}
}

// Writes that are missing at the end of a log count as its damage, though only the next log shows that they are
// missing.
func TestVerifyCutLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "db")
	mustSST(t, "build", "--database", "-o", dir, tempFile(t, "lines", "a\t1\n"))
	for name, sequence := range map[string]byte{"000007.log": 1, "000008.log": 3} {
		writeFile(t, filepath.Join(dir, name), filetest.Log(t, filetest.Deletion(sequence)))
	}
	status, out, stderr := sst("verify", "--json", dir)
	verdicts := map[string]string{}
	for line := range strings.Lines(out) {
		var v struct{ File, Verdict string }
		noError(t, json.Unmarshal([]byte(line), &v))
		verdicts[filepath.Base(v.File)] = v.Verdict
	}
	if status != cli.ExitDamaged || verdicts["000007.log"] != "damaged" || verdicts["000008.log"] != "ok" {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
	if _, out, _ := sst("verify", dir); strings.Contains(out, "000007.log: ok") || !strings.Contains(out, "000008.log: ok\n") {
		t.Errorf("verify prints\n%s", out)
	}
}
