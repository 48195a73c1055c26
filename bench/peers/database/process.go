package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A spending is what a process took.
type spending struct {
	wall time.Duration
	cpu  time.Duration // of all threads
	peak int64         // bytes of memory
}

// runProcess runs a command to its end. It may say no, by the status 1.
func runProcess(cmd *exec.Cmd, stdout io.Writer) (s spending, err error) {
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	start := time.Now()
	err = cmd.Run()
	s.wall = time.Since(start)
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return s, fmt.Errorf("%v: %w: %s", cmd.Args, err, &stderr)
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return s, nil
}

// median returns the spending of the median time, with the most memory of any.
func median(all []spending) spending {
	byWall := slices.SortedFunc(slices.Values(all), func(a, b spending) int { return int(a.wall - b.wall) })
	m := byWall[len(byWall)/2]
	for _, s := range all {
		m.peak = max(m.peak, s.peak)
	}
	return m
}

// digest is a writer that keeps no more of what it is given than tells it from others.
type digest struct {
	hash.Hash
	size int64
}

func newDigest() *digest { return &digest{Hash: sha256.New()} }

func (d *digest) Write(p []byte) (int, error) {
	d.size += int64(len(p))
	return d.Hash.Write(p)
}

func (d *digest) String() string { return fmt.Sprintf("%d bytes, SHA-256 %.8x…", d.size, d.Sum(nil)) }
