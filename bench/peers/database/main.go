// Command database measures what the command sst does with a large database of C++
// LevelDB's beside C++ programs that do the same, in one run and in turns. It needs C++
// LevelDB (Debian: apt-get install g++ libleveldb-dev). From the root:
//
//	go run ./bench/peers/database make /var/tmp/db       # 2.1 GB in some 1,000 tables
//	go run ./bench/peers/database measure /var/tmp/db
//
// Each figure is of a whole process, from its start to its end, with the files in the
// page cache. A C++ program opens a copy each time, since opening changes a database; that
// the copy is made is not measured. Its tables are hard links. What both print is compared.
//
// The peak of memory is the system's figure for the process (ru_maxrss). It is ≥ that of
// this program, which starts the process. It counts the pages of tables that C++ LevelDB
// maps.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal("database: ", err)
	}
}

const usage = "usage: database make [-entries n] DIR | measure [-rounds n] [-scans n] [-sst file] DIR"

// run makes or measures a database, as the arguments say, and prints the figures to out.
func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	entries := flags.Int("entries", 5_400_000, "keys that the database is, or was, made of")
	var o options
	flags.IntVar(&o.rounds, "rounds", 20, "processes of each short work, of which the median counts")
	flags.IntVar(&o.scans, "scans", 3, "processes of each work that reads all of the database")
	flags.StringVar(&o.sst, "sst", "", "the command's `file` (default: it is built)")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() != 1 || *entries < 100 || o.rounds < 1 || o.scans < 1 {
		return errors.New(usage + ", with n ≥ 1, and -entries ≥ 100")
	}
	o.dir, o.entries = filepath.Clean(flags.Arg(0)), *entries
	tmp, err := os.MkdirTemp("", "database")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	db, err := leveldb.BuildDatabase(tmp)
	if err != nil {
		return err
	}
	switch args[0] {
	case "make":
		return succeed(db.Make(o.dir, o.entries))
	case "measure":
		return o.measure(db, tmp, out)
	}
	return errors.New(usage)
}

// succeed runs a command that must succeed.
func succeed(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// measure builds the command, measures, and prints the figures.
func (o options) measure(db *leveldb.Database, tmp string, out io.Writer) error {
	if o.sst == "" {
		o.sst = filepath.Join(tmp, "sst")
		if err := succeed(exec.Command("go", "build", "-o", o.sst, "github.com/sievetable/sievetable/table/cmd/sst")); err != nil {
			return err
		}
	}
	s, err := newStand(o, db)
	if err != nil {
		return err
	}
	err = s.measureAll()
	return errors.Join(err, s.print(out), s.close())
}
