package work

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// A Figure is what a work took.
type Figure struct {
	Count
	CPU    time.Duration // of the user and the system, also by the garbage collector and by compactions
	Wall   time.Duration
	Allocs uint64
	Bytes  uint64 // allocated
	Err    string // "" if it was done
}

// Main is the program of an engine: its arguments are a directory for the database, the number of
// keys, and the bytes of the cache. It reads names of works from stdin, and writes a Figure for
// each to stdout.
func Main() {
	log.SetFlags(0)
	if err := serve(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func serve(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("work: %d arguments, want directory, keys and bytes of cache", len(args))
	}
	keys, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	cacheBytes, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	b, err := openBench(args[0], keys, cacheBytes)
	if err != nil {
		return err
	}
	defer b.db.Close()
	out := json.NewEncoder(os.Stdout)
	for {
		var name string
		if n, _ := fmt.Scanln(&name); n == 0 { // the end of stdin
			return b.db.Close()
		}
		if err := out.Encode(b.measure(name)); err != nil {
			return err
		}
	}
}

// measure does a work and says what it took.
func (b *bench) measure(name string) (f Figure) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, cpu := time.Now(), cpuTime()
	var err error
	f.Count, err = b.do(name)
	f.CPU, f.Wall = cpuTime()-cpu, time.Since(began)
	runtime.ReadMemStats(&after)
	f.Allocs, f.Bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	if err != nil {
		f.Err = err.Error()
	}
	return f
}

// cpuTime returns the time of the processor that this process has had so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
