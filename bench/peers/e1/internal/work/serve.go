package work

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/pprof"
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
// keys, the bytes of the cache, and a prefix of names of CPU profiles, or "" for none. It reads names
// of works from stdin, and writes a Figure for each to stdout.
func Main() {
	log.SetFlags(0)
	if err := serve(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func serve(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("work: %d arguments, want directory, keys, bytes of cache and profiles", len(args))
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
		if err := out.Encode(b.profiled(args[3], name)); err != nil {
			return err
		}
	}
}

// profiled measures a work, and writes a CPU profile of it if prefix is not "".
func (b *bench) profiled(prefix, name string) Figure {
	if prefix == "" {
		return b.measure(name)
	}
	f, err := os.Create(prefix + name + ".pprof")
	if err != nil {
		return Figure{Err: err.Error()}
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return Figure{Err: err.Error()}
	}
	defer pprof.StopCPUProfile()
	return b.measure(name)
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
