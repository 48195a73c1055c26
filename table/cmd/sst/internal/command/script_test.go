package command

import (
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/internalkey"
)

// programs are the programs that the test binary runs under other names.
var programs = map[string]func(){"sst": runSST}

// runSST is the main function of sst.
func runSST() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// The scripts under testdata/script run the command as its users do. Besides
// testscript's own commands they have
//
//	table FILE [KEY=VALUE…]      writes a table
//	database FILE [KEY=VALUE…]   writes a table as a database has it, of sequence 1
//	opaque FILE [KEY=VALUE…]     writes a table whose filter holds something else
//	blocks FILE [KEY=VALUE…]     writes a table of one entry a block
//	unsorted FILE [KEY=VALUE…]   writes a table of the entries as they come, one a block
//	backwards DIR NAME [KEY[=VALUE]…]
//	                             has goleveldb write the entries to a database, and delete
//	                             keys without value, in the reverse of the bytewise order,
//	                             which the database calls NAME. They are in a table then.
//	zstd FILE [KEY=VALUE…]       writes a table with blocks of zstd, id 2
//	zlib FILE [KEY=VALUE…]       writes one with blocks of zlib, id 2 too
//	deflate FILE [KEY=VALUE…]    writes one with blocks of deflate, id 4
//	goleveldb DIR [KEY=VALUE…]   has goleveldb write to a database; KEY alone is deleted,
//	                             and ! has what is written by then put in tables; / closes
//	                             the database, which puts what is in its log in a table
//	damage FILE OFFSET           changes the byte there, from the end if negative
//	truncate FILE SIZE           leaves that many bytes
//	ending FILE HEX              changes the last bytes to those
//	status N COMMAND [ARG…]      is like exec, for a command that exits with N
//
// and the conditions [long], for long tests, and [race], if the race detector is on. The race detector itself is left
// out: to start the 1,500 processes with it takes as long as all other tests here, which run the same commands
// within one process.
func TestScripts(t *testing.T) {
	scripttest.OnUnix(t)
	long.NoRace(t)
	commands := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"table":     tableWriter("", table.WriterOptions{}),
		"database":  tableWriter("\x01\x01\x00\x00\x00\x00\x00\x00", table.WriterOptions{Comparer: table.InternalComparer(table.BytewiseComparer), FilterKey: internalkey.UserKey}),
		"opaque":    tableWriter("", table.WriterOptions{FilterKey: func([]byte) []byte { return []byte("something else") }}),
		"blocks":    tableWriter("", table.WriterOptions{BlockSize: 1}),
		"zstd":      tableWriter("", table.WriterOptions{Compression: codecs.Zstd}),
		"zlib":      tableWriter("", table.WriterOptions{Compression: codecs.Zlib}),
		"deflate":   tableWriter("", table.WriterOptions{Compression: codecs.Deflate}),
		"goleveldb": writeGoleveldb,
		"backwards": writeBackwards,
		"unsorted":  tableWriter("", table.WriterOptions{Comparer: table.AnyOrder, BlockSize: 1}),
		"ending":    changeEnding,
	}
	maps.Copy(commands, scripttest.Commands) // which the scripts of other programs have too
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *golden.Update,
		Condition:     scripttest.Condition,
		Cmds:          commands,
	})
}

// tableWriter returns a command that writes a table, with trailer appended to each key.
func tableWriter(trailer string, o table.WriterOptions) func(*testscript.TestScript, bool, []string) {
	o.FilterPolicy = filter.NewBloom(10)
	return func(ts *testscript.TestScript, _ bool, args []string) {
		w, err := table.Create(ts.MkAbs(args[0]), &o)
		ts.Check(err)
		defer w.Abort()
		for _, arg := range args[1:] {
			key, value, _ := strings.Cut(arg, "=")
			k, err := printable.Unescape(key)
			ts.Check(err)
			v, err := printable.Unescape(value)
			ts.Check(err)
			ts.Check(w.Append(append(k, trailer...), v))
		}
		ts.Check(w.Close())
	}
}

func writeBackwards(ts *testscript.TestScript, _ bool, args []string) {
	write(ts, &opt.Options{Comparer: tabletest.Reversed(args[1])}, args[0], append(args[2:], "/")...)
}

func changeEnding(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	contents, err := os.ReadFile(name)
	ts.Check(err)
	end, err := hex.DecodeString(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(name, append(contents[:len(contents)-len(end)], end...), 0o666))
}

func writeGoleveldb(ts *testscript.TestScript, _ bool, args []string) {
	write(ts, nil, args[0], args[1:]...)
}

// write has goleveldb write to a database, as the arguments of the command goleveldb say.
func write(ts *testscript.TestScript, o *opt.Options, name string, args ...string) {
	dir := ts.MkAbs(name)
	db, err := leveldb.OpenFile(dir, o)
	ts.Check(err)
	for _, arg := range args {
		key, value, set := strings.Cut(arg, "=")
		switch {
		case arg == "!":
			ts.Check(db.CompactRange(util.Range{}))
		case arg == "/":
			ts.Check(db.Close())
			db, err = leveldb.OpenFile(dir, o)
			ts.Check(err)
		case set:
			ts.Check(db.Put([]byte(key), []byte(value), nil))
		default:
			ts.Check(db.Delete([]byte(key), nil))
		}
	}
	awaitRemovals(ts, db, dir)
	ts.Check(db.Close())
}

// awaitRemovals waits until goleveldb has removed the tables that compactions have replaced. goleveldb removes them
// in a goroutine, and Close does not wait for that.
func awaitRemovals(ts *testscript.TestScript, db *leveldb.DB, dir string) {
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var stats leveldb.DBStats
		ts.Check(db.Stats(&stats))
		live := 0
		for _, n := range stats.LevelTablesCounts {
			live += n
		}
		tables, err := filepath.Glob(filepath.Join(dir, "*.ldb"))
		ts.Check(err)
		if len(tables) == live {
			return
		}
	}
	ts.Fatalf("%s has other tables than its database", dir)
}
