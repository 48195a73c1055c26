package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// A spending is the resources that a process used.
type spending struct {
	cpu           time.Duration // of all threads
	read, written int64         // bytes, from and to the disk
}

func spendingOf(u *syscall.Rusage) spending {
	const block = 512 // the system's unit
	return spending{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Inblock * block, u.Oublock * block}
}

// spent returns the resources that this process has used.
func spent() spending {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the kernel supports RUSAGE_SELF
	}
	return spendingOf(&u)
}

// runProcess runs a command, and returns its used resources and its output.
func runProcess(cmd *exec.Cmd) (spending, []byte, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return spending{}, nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return spendingOf(cmd.ProcessState.SysUsage().(*syscall.Rusage)), out, nil
}

// A memory is the memory use of a process, in bytes.
type memory struct {
	Anon   int64 // resident anonymous memory: RssAnon
	Mapped int64 // resident pages of files: RssFile
}

// memoryNow returns the memory of this process, without what the garbage collector can free.
func memoryNow() (m memory, err error) {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return m, fmt.Errorf("%w: memory is measured on Linux only", err)
	}
	for name, to := range map[string]*int64{"RssAnon:": &m.Anon, "RssFile:": &m.Mapped} {
		_, text, _ := strings.Cut(string(status), name)
		var kib int64
		if _, err := fmt.Sscan(text, &kib); err != nil {
			return m, fmt.Errorf("/proc/self/status has no %s %w", name, err)
		}
		*to = kib << 10
	}
	return m, nil
}

// since returns the growth since before.
func (m memory) since(before memory) memory {
	return memory{max(0, m.Anon-before.Anon), max(0, m.Mapped-before.Mapped)}
}

// eachFile calls do for each file in a directory and its subdirectories.
func eachFile(dir string, do func(name string, d fs.DirEntry) error) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return do(name, d)
	})
}

// sizeOf returns the total size of the files in a directory.
func sizeOf(dir string) (size int64, err error) {
	err = eachFile(dir, func(_ string, d fs.DirEntry) error {
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// dropAll drops the files in a directory from the page cache.
func dropAll(dir string) error {
	return eachFile(dir, func(name string, _ fs.DirEntry) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), drop(f), f.Close())
	})
}
