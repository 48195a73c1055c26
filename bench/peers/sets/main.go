// Command sets compares sets of tables with Pebble, goleveldb and bbolt databases of the same keys: URLs of 64
// bytes, without values. It writes the figures to results.json, the tables of RESULTS.md beside it, and the table of
// table/set/README.md. From the root, on Linux:
//
//	go run ./bench/peers/sets -n 1e6,1e7,1e8
//	go run ./bench/peers/sets -draw                # measures nothing, only writes the tables
//
// Each step is a process of its own: building, querying, updating. All engines read the same files. Times are CPU time,
// user and system, of all threads. Before a database is opened, its files are dropped from the page cache, so that its
// reads can be counted. One goroutine looks up each key twice, and the second time counts: all data is then in memory or
// in the page cache.
//
// 10⁸ keys take 30 GB of disk, and 4 GB of memory besides the page cache.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
)

const (
	resultsFile = "bench/peers/sets/results.json"
	resultsPage = "bench/peers/sets/RESULTS.md"
	readmeFile  = "table/set/README.md"
)

// pages maps the files with tables to the functions that format these.
var pages = map[string]func(*results) string{resultsPage: (*results).tables, readmeFile: (*results).choice}

func main() {
	log.SetFlags(0)
	log.SetPrefix("sets: ")
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

const usage = "usage: sets [-n numbers] [-dir directory] | sets -draw"

// run performs what the arguments say. The working directory must be the root of the repository.
func run(args []string) error {
	if len(args) > 0 && args[0] == childArg {
		return runChild(args[1:], os.Stdout)
	}
	flags := flag.NewFlagSet("sets", flag.ContinueOnError)
	list := flags.String("n", "1e6,1e7,1e8", "`numbers` of keys, ascending, with commas between them")
	dir := flags.String("dir", "", "`directory` for the keys and the sets, on a disk (default: the system's temporary directory)")
	draw := flags.Bool("draw", false, "only write the tables of the existing results")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp): // Parse has printed it
		return nil
	case err != nil:
		return err
	}
	numbers, err := parseNumbers(*list)
	if err != nil || flags.NArg() > 0 {
		return errors.Join(err, errors.New(usage))
	}
	if _, err := os.Stat(readmeFile); err != nil {
		return fmt.Errorf("%w: run this in the root of the repository", err)
	}
	if *draw {
		return drawPages(resultsFile)
	}
	r, err := measure(*dir, numbers)
	if err != nil {
		return err
	}
	r.Command = "go run ./bench/peers/sets -n " + *list
	return errors.Join(r.save(resultsFile), drawPages(resultsFile))
}

// parseNumbers parses numbers of keys such as 1e6,1e7.
func parseNumbers(list string) (numbers []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n != float64(int(n)) || n < 1000 || n > 1e9 {
			return nil, fmt.Errorf("-n %s: %q is not a whole number from 1000 to 1e9", list, text)
		}
		if len(numbers) > 0 && int(n) <= numbers[len(numbers)-1] {
			return nil, fmt.Errorf("-n %s: the numbers do not ascend", list)
		}
		numbers = append(numbers, int(n))
	}
	return numbers, nil
}
