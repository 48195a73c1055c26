package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/e1/internal/work"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal("e1: ", err)
	}
}

// options are what the flags say.
type options struct {
	keys, rounds int
	caches       []int // MB
	dir          string
	profiles     string // directory; "" for none
}

// parse reads the flags.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("e1", flag.ExitOnError)
	flags.IntVar(&o.keys, "n", 1_000_000, "`keys` in the database")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each work that only reads is done")
	caches := flags.String("cache", "64,512", "`megabytes` of the block cache, or several numbers")
	flags.StringVar(&o.dir, "dir", "", "existing `directory` for databases and programs, which are removed (default a temporary one)")
	flags.StringVar(&o.profiles, "profile", "", "existing `directory` for CPU profiles of each work's last round")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.keys < 100 || o.rounds < 1 {
		return o, fmt.Errorf("-n is %d, -rounds %d, arguments %q: want -n 100 or more, -rounds 1 or more, and no arguments", o.keys, o.rounds, flags.Args())
	}
	for _, mb := range strings.Split(*caches, ",") {
		n, err := strconv.Atoi(mb)
		if err != nil || n < 1 || n > 1<<20 {
			return o, fmt.Errorf("-cache: %q, want a number of megabytes, 1 to %d", mb, 1<<20)
		}
		o.caches = append(o.caches, n)
	}
	return o, nil
}

// run builds the engines, measures them, and writes tables to out.
func run(args []string, out io.Writer) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "e1-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	theirs, err := build(filepath.Join(dir, "goleveldb"), false)
	if err != nil {
		return err
	}
	ours, err := build(filepath.Join(dir, "ours"), true)
	if err != nil {
		return err
	}
	for _, mb := range o.caches {
		log.Printf("a cache of %d MB", mb)
		rows, err := o.measure(dir, [2]string{theirs, ours}, mb)
		if err != nil {
			return err
		}
		if err := write(out, mb, rows); err != nil {
			return err
		}
	}
	return nil
}

// measure measures both programs with a cache of that size. The engines work in turns.
func (o *options) measure(dir string, programs [2]string, cacheMB int) (rows []row, err error) {
	var peers [2]*peer
	for i, program := range programs {
		db := filepath.Join(dir, fmt.Sprintf("db-%d-%d", cacheMB, i))
		defer func() { err = errors.Join(err, os.RemoveAll(db)) }()
		profiles := o.profiles
		if profiles != "" {
			profiles = filepath.Join(profiles, fmt.Sprintf("%s-%d-", []string{"goleveldb", "ours"}[i], cacheMB))
		}
		if peers[i], err = start(program, db, o.keys, cacheMB<<20, profiles); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, peers[i].end()) }()
	}
	once, repeated := work.Names()
	for _, name := range once {
		rows = append(rows, row{work: name})
		if err := rows[len(rows)-1].round(peers); err != nil {
			return nil, err
		}
	}
	for _, name := range repeated {
		log.Print(name)
		r := row{work: name}
		for range o.rounds {
			if err := r.round(peers); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// round has both engines do the row's work.
func (r *row) round(peers [2]*peer) error {
	a, err := peers[0].do(r.work)
	if err != nil {
		return fmt.Errorf("goleveldb's tables: %w", err)
	}
	b, err := peers[1].do(r.work)
	if err != nil {
		return fmt.Errorf("our tables: %w", err)
	}
	if a.Count != b.Count {
		return fmt.Errorf("%s: the engines have not done the same: %+v and %+v", r.work, a.Count, b.Count)
	}
	r.theirs, r.ours = append(r.theirs, a), append(r.ours, b)
	return nil
}
