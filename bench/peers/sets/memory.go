package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// A memory is what a process has, in bytes.
type memory struct {
	Anon   int64 // resident and of no file: RssAnon
	Mapped int64 // resident pages of files: RssFile
	Heap   int64 // what Go's heap has in use
	Peak   int64 // the most that was resident: VmHWM
}

// memoryNow returns the memory of this process, without what the garbage collector can free.
func memoryNow() (m memory, err error) {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.Heap = int64(stats.HeapAlloc)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m, fmt.Errorf("%w: memory is measured on Linux only", err)
	}
	for name, to := range map[string]*int64{"RssAnon:": &m.Anon, "RssFile:": &m.Mapped, "VmHWM:": &m.Peak} {
		_, text, _ := strings.Cut(string(status), name)
		var kib int64
		if _, err := fmt.Sscan(text, &kib); err != nil {
			return m, fmt.Errorf("/proc/self/status has no %s %w", name, err)
		}
		*to = kib << 10
	}
	return m, nil
}

// since returns how much more it is than before. The peak stays.
func (m memory) since(before memory) memory {
	return memory{max(0, m.Anon-before.Anon), max(0, m.Mapped-before.Mapped), max(0, m.Heap-before.Heap), m.Peak}
}
