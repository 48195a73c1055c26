// Command repair damages databases of goleveldb and C++ LevelDB, and has each repaired by sst repair, by C++
// LevelDB's RepairDB and by goleveldb's RecoverFile. It prints the table of RESULTS.md, which compares the repaired
// databases. It needs C++ LevelDB (Debian: apt-get install g++ libleveldb-dev). From the root:
//
//	go run ./bench/peers/repair
//
// The databases have overwritten and deleted keys, several levels, and live logs. Half of them also contain files
// that the MANIFEST no longer lists, as if the engine was killed before it removed them. Both engines open each
// database that sst repair writes, with all checks, write to it, compact it and read it again. The figures vary a
// little from run to run, since goleveldb compacts in the background.
package main

import (
	"errors"
	"flag"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/bench/peers/internal/cxxtool"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal("repair: ", err)
	}
}

// run damages and repairs databases, as the arguments say, and prints the table to out. If a result breaks the
// rules of check, run returns an error.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("repair", flag.ContinueOnError)
	n := flags.Int("n", 200, "`number` of databases to damage")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp): // Parse has printed it
		return nil
	case err != nil:
		return err
	}
	if flags.NArg() != 0 || *n < 1 {
		return errors.New("usage: repair [-n number], with a number ≥ 1")
	}
	return try(*n, out)
}

// try damages and repairs n databases.
func try(n int, out io.Writer) error {
	tmp, err := os.MkdirTemp("", "repair")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	s, err := newStand(tmp)
	if err != nil {
		return err
	}
	var p page
	for i := range n {
		r, failed := s.try(i)
		if failed == nil {
			p.add(r)
			failed = r.check()
		}
		err = errors.Join(err, failed)
	}
	p.print(out)
	return err
}

// newRepairers builds the programs in a directory.
func newRepairers(dir string) (r repairers, err error) {
	if r.cxx, err = leveldb.BuildDatabase(dir); err != nil {
		return r, err
	}
	r.sst = filepath.Join(dir, "sst")
	_, err = cxxtool.Run("go", nil, "build", "-o", r.sst, "github.com/sievetable/sievetable/table/cmd/sst")
	return r, err
}
